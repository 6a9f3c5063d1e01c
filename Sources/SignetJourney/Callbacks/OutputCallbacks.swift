public import SignetCore

/// A callback that shows a message to the user.
///
/// It has no input.
public struct TextOutputCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "TextOutputCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback.
    public let callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The message, in the user's language.
    ///
    /// For ``MessageType/script``, a script that must not be shown.
    public var message: String { callback.text("message") }
    /// The kind of the message.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
}

/// A callback that announces the suspension of the journey.
///
/// The user continues with a link from an email, which the app passes to ``Journey/resume(_:options:)``.
public struct SuspendedTextOutputCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "SuspendedTextOutputCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback.
    public let callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The message, in the user's language.
    public var message: String { callback.text("message") }
    /// The kind of the message.
    public var messageType: MessageType { MessageType(number: callback.number("messageType")) }
}

/// A callback that carries a value that isn't shown to the user.
///
/// Scripts produce or consume it.
public struct HiddenValueCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "HiddenValueCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The ID that identifies the value, for example `webAuthnOutcome`.
    ///
    /// OpenAM sends it only as the value of the input.
    public var id: String { callback.optionalText("id") ?? callback.value()?.string ?? "" }

    /// The value that the server sent.
    public var sentValue: String { callback.text("value") }

    /// The value to send.
    ///
    /// Servers fill in the ID as the initial value.
    public var value: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks the client to wait and send the step again, as ``Journey/waitAndContinue(_:maxDelay:clock:of:options:)``
/// does.
public struct PollingWaitCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "PollingWaitCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback.
    public let callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The time to wait; zero when the server sends no valid number.
    public var waitTime: Duration { .milliseconds(max(0, callback.output("waitTime")?.lenientInteger ?? 0)) }
    /// The message to show during the wait, in the user's language; may be empty.
    public var message: String { callback.text("message") }
}

/// A callback that carries data for the app.
///
/// `WebAuthnRequest` and `JourneyStep.protectRequest` read the data of passkey and PingOne Protect requests.
public struct MetadataCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "MetadataCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback.
    public let callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The data, in any JSON form.
    public var data: JSONValue { callback.output("data") ?? .null }
}

/// A callback that asks the user for consent to share data.
public struct ConsentMappingCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "ConsentMappingCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The name of the mapping.
    public var name: String { callback.text("name") }
    /// The name of the recipient of the data, for display.
    public var displayName: String { callback.text("displayName") }
    /// The address or the name of an image.
    public var icon: String { callback.text("icon") }
    /// The extent of the shared data, for example `Actual Profile`.
    public var accessLevel: String { callback.text("accessLevel") }
    /// True when the journey can't continue without consent.
    public var isRequired: Bool { callback.bool("isRequired") }
    /// The prompt, in the user's language.
    public var message: String { callback.text("message") }
    /// The names of the shared fields.
    public var fields: [String] { callback.texts("fields") }

    /// True when the user agrees.
    public var isAccepted: Bool {
        get { callback.value()?.lenientBool ?? false }
        set { callback.set(.bool(newValue)) }
    }
}

/// A callback that asks the user to accept terms and conditions.
public struct TermsAndConditionsCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "TermsAndConditionsCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The version of the terms.
    public var version: String { callback.text("version") }
    /// The terms.
    public var terms: String { callback.text("terms") }
    /// The creation date of this version, as the server writes it (ISO 8601).
    public var createDate: String { callback.text("createDate") }

    /// True when the user agrees.
    public var isAccepted: Bool {
        get { callback.value()?.lenientBool ?? false }
        set { callback.set(.bool(newValue)) }
    }
}
