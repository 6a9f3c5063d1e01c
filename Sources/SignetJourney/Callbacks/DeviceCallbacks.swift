public import SignetCore

/// Asks what the device is and where.
public struct DeviceProfileCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "DeviceProfileCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// Whether to say what the device is.
    public var wantsMetadata: Bool { callback.truth("metadata") }
    /// Whether to say where it is.
    public var wantsLocation: Bool { callback.truth("location") }
    /// What to show meanwhile.
    public var message: String { callback.text("message") }

    /// Enters a profile. What was not asked for is left out.
    public mutating func fill(_ profile: DeviceProfile) {
        callback.set(.string(JSON.text(of: profile.json(metadata: wantsMetadata, location: wantsLocation))))
    }
}

/// How a key of a device is to be protected.
public enum DeviceAuthenticationType: String, Sendable, Hashable, CaseIterable {
    /// By the person's finger or face, and nothing else.
    case biometricOnly = "BIOMETRIC_ONLY"
    /// By the person's finger or face, or by what unlocks the device.
    case biometricAllowFallback = "BIOMETRIC_ALLOW_FALLBACK"
    /// By a PIN of the app.
    case applicationPIN = "APPLICATION_PIN"
    /// By nothing but the device itself.
    case none = "NONE"
}

/// Why a device does not do what a server asks for, by the names on the wire.
public enum DeviceClientError: String, Error, Sendable, Hashable, CaseIterable {
    /// It took too long.
    case timeout = "Timeout"
    /// The person, or the app, gave up.
    case abort = "Abort"
    /// The device cannot.
    case unsupported = "Unsupported"
    /// There is no key to sign with.
    case clientNotRegistered = "ClientNotRegistered"
    /// The device failed.
    case clientDeviceErrors = "ClientDeviceErrors"
}

/// Asks for a key that is bound to the device; `DeviceBinding` answers.
public struct DeviceBindingCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "DeviceBindingCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "jws") else { return nil }
        self.callback = callback
    }

    /// Whose key it is going to be.
    public var userID: String { callback.text("userId") }
    /// The same person's name, to show.
    public var username: String { callback.text("username") }
    /// How the key is to be protected; nil for a way that this version does not know.
    public var authenticationType: DeviceAuthenticationType? {
        DeviceAuthenticationType(rawValue: callback.text("authenticationType"))
    }
    /// What the signature must contain.
    public var challenge: String { callback.text("challenge") }
    /// What to show when the person is asked.
    public var title: String { callback.text("title") }
    /// What to show below the title.
    public var subtitle: String { callback.text("subtitle") }
    /// What to show below that.
    public var explanation: String { callback.text("description") }
    /// How long the person has.
    public var timeout: Duration { .seconds(max(1, callback.number("timeout") ?? 60)) }
    /// Whether the server wants the hardware to vouch for the key.
    public var wantsAttestation: Bool { callback.truth("attestation") }

    /// Enters the signature and what the device is called.
    public mutating func fill(jws: String, deviceID: String, deviceName: String) {
        callback.set("jws", .string(jws))
        callback.set("deviceId", .string(deviceID))
        callback.set("deviceName", .string(deviceName))
    }

    /// Says why there is none.
    public mutating func fail(_ error: DeviceClientError) {
        callback.set("clientError", .string(error.rawValue))
    }
}

/// Asks for a signature by a key that was bound to the device before; `DeviceBinding` answers.
public struct DeviceSigningVerifierCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "DeviceSigningVerifierCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "jws") else { return nil }
        self.callback = callback
    }

    /// Whose key to sign with; nil when any key of the device will do.
    public var userID: String? { callback.optionalText("userId") }
    /// What the signature must contain.
    public var challenge: String { callback.text("challenge") }
    /// What to show when the person is asked.
    public var title: String { callback.text("title") }
    /// What to show below the title.
    public var subtitle: String { callback.text("subtitle") }
    /// What to show below that.
    public var explanation: String { callback.text("description") }
    /// How long the person has.
    public var timeout: Duration { .seconds(max(1, callback.number("timeout") ?? 60)) }

    /// Enters the signature.
    public mutating func fill(jws: String) {
        callback.set("jws", .string(jws))
    }

    /// Says why there is none.
    public mutating func fail(_ error: DeviceClientError) {
        callback.set("clientError", .string(error.rawValue))
    }
}

/// Asks a platform to vouch for the app: Apple's App Attest, or Android's Play Integrity.
public struct AppIntegrityCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "AppIntegrityCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "token") else { return nil }
        self.callback = callback
    }

    /// Apple: what to attest.
    public var challenge: String { callback.text("challenge") }
    /// Apple: what was attested before, `keyId::attestation`; empty for nothing.
    public var attestToken: String { callback.text("attestToken") }
    /// Android: `CLASSIC` or `STANDARD`; empty on Apple's systems.
    public var requestType: String { callback.text("requestType") }
    /// Android: the number of the cloud project.
    public var projectNumber: String { callback.text("projectNumber") }
    /// Android: what to attest.
    public var nonce: String { callback.text("nonce") }

    /// Enters a token.
    public mutating func fill(token: String) {
        callback.set("token", .string(token))
    }

    /// Enters what App Attest gives, as far as the server has inputs for it.
    public mutating func fill(token: String, attestToken: String, keyID: String, clientData: String) {
        callback.set("token", .string(token))
        callback.set("attestToken", .string(attestToken))
        callback.set("keyId", .string(keyID))
        callback.set("clientData", .string(clientData))
    }

    /// Says why there is none.
    public mutating func fail(_ error: DeviceClientError) {
        callback.set("clientError", .string(error.rawValue))
    }
}

/// Asks to start PingOne Protect.
public struct PingOneProtectInitializeCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "PingOneProtectInitializeCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "clientError") else { return nil }
        self.callback = callback
    }

    /// How to start it.
    public var settings: ProtectSettings {
        ProtectSettings(Dictionary(callback.output.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Says why it did not start.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}

/// Asks for what PingOne Protect has seen.
public struct PingOneProtectEvaluationCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "PingOneProtectEvaluationCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "signals") else { return nil }
        self.callback = callback
    }

    /// Whether to look away from now on.
    public var pausesBehavioralData: Bool { callback.truth("pauseBehavioralData") }

    /// Enters what it has seen.
    public mutating func fill(signals: String) {
        callback.set("signals", .string(signals))
    }

    /// Says why there is nothing.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}

/// How PingOne Protect is to be started.
public struct ProtectSettings: Sendable, Hashable {
    /// Every setting as it came, also those that have no property here.
    public let all: [String: JSONValue]

    init(_ all: [String: JSONValue]) { self.all = all }

    /// The environment at PingOne.
    public var environmentID: String { all["envId"]?.string ?? "" }
    /// Whether it logs to the console.
    public var logsToConsole: Bool { all["consoleLogEnabled"]?.truth ?? false }
    /// What not to look at.
    public var ignoredAttributes: [String] { all["deviceAttributesToIgnore"]?.array?.compactMap(\.string) ?? [] }
    /// The host to use in place of the usual one; empty for none.
    public var customHost: String { all["customHost"]?.string ?? "" }
    /// Whether to find out about the device only when asked.
    public var isLazy: Bool { all["lazyMetadata"]?.truth ?? false }
    /// Whether to look at how the person types and moves.
    public var collectsBehavioralData: Bool { all["behavioralDataCollection"]?.truth ?? true }
    /// How many days pass between two synchronisations of the device's key.
    public var keySyncDays: Int { all["deviceKeyRsyncIntervals"]?.wholeNumber.flatMap { Int(exactly: $0) } ?? 14 }
    /// Whether the device's key is used.
    public var usesTrust: Bool { all["enableTrust"]?.truth ?? false }
}

/// What a step asks PingOne Protect for, in a callback of its own or in metadata (protocol/journey.md section 2.7).
public enum ProtectRequest: Sendable, Hashable {
    /// To start.
    case initialize(ProtectSettings)
    /// To say what it has seen.
    case evaluate(pausesBehavioralData: Bool)
}
