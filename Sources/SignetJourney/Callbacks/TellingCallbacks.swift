public import SignetCore

/// Tells something. There is nothing to fill in.
public struct TextOutputCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "TextOutputCallback"
    /// The callback.
    public let callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// The text, in the person's language; for ``MessageType/script`` no text for people.
    public var message: String { callback.text("message") }
    /// How to show it.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
}

/// Tells that the journey goes on elsewhere: at a link that was sent by e-mail, with ``Journey/resume(_:options:)``.
public struct SuspendedTextOutputCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "SuspendedTextOutputCallback"
    /// The callback.
    public let callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// The text, in the person's language.
    public var message: String { callback.text("message") }
    /// How to show it.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
}

/// Carries a value that people do not see: for a script, or to a script.
public struct HiddenValueCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "HiddenValueCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// What the value is, for example `webAuthnOutcome`. OpenAM says it in the input only.
    public var id: String { callback.optionalText("id") ?? callback.value()?.string ?? "" }

    /// The value that came.
    public var sentValue: String { callback.text("value") }

    /// The value that goes back. Servers fill the id in beforehand.
    public var value: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks to come back after a while: ``Journey/waitAndGoOn(_:longest:clock:of:options:)`` does.
public struct PollingWaitCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "PollingWaitCallback"
    /// The callback.
    public let callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// How long to wait; zero when the server says nothing that can be read.
    public var waitTime: Duration { .milliseconds(max(0, callback.output("waitTime")?.wholeNumber ?? 0)) }
    /// What to show meanwhile, in the person's language; may be empty.
    public var message: String { callback.text("message") }
}

/// Carries data for the app. Where the data is a request for a passkey or for PingOne Protect, `WebAuthnRequest` and
/// `JourneyStep.protectRequest` read it.
public struct MetadataCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "MetadataCallback"
    /// The callback.
    public let callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// The data, whatever it is.
    public var data: JSONValue { callback.output("data") ?? .null }
}

/// Asks for consent to hand data on.
public struct ConsentMappingCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "ConsentMappingCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The mapping's name.
    public var name: String { callback.text("name") }
    /// Who gets the data, for people.
    public var displayName: String { callback.text("displayName") }
    /// The address or the name of a picture.
    public var icon: String { callback.text("icon") }
    /// How much is handed on, for example `Actual Profile`.
    public var accessLevel: String { callback.text("accessLevel") }
    /// Whether there is no way on without consent.
    public var isRequired: Bool { callback.truth("isRequired") }
    /// What to ask, in the person's language.
    public var message: String { callback.text("message") }
    /// What is handed on.
    public var fields: [String] { callback.texts("fields") }

    /// Whether the person agrees.
    public var isAccepted: Bool {
        get { callback.value()?.truth ?? false }
        set { callback.set(.bool(newValue)) }
    }
}

/// Asks to agree to terms.
public struct TermsAndConditionsCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "TermsAndConditionsCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The version of the terms.
    public var version: String { callback.text("version") }
    /// The terms.
    public var terms: String { callback.text("terms") }
    /// When this version was made, as the server writes it (ISO 8601).
    public var createDate: String { callback.text("createDate") }

    /// Whether the person agrees.
    public var isAccepted: Bool {
        get { callback.value()?.truth ?? false }
        set { callback.set(.bool(newValue)) }
    }
}
