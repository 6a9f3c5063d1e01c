public import SignetCore

/// A callback that asks for a description of the device and its location.
public struct DeviceProfileCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "DeviceProfileCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// True when the server requests a description of the device.
    public var wantsMetadata: Bool { callback.bool("metadata") }
    /// True when the server requests the device's location.
    public var wantsLocation: Bool { callback.bool("location") }
    /// The message to show while the app collects the data.
    public var message: String { callback.text("message") }

    /// Enters a device profile.
    ///
    /// Omits the parts that the server didn't request.
    public mutating func fill(_ profile: DeviceProfile) {
        callback.set(.string(JSON.text(of: profile.json(metadata: wantsMetadata, location: wantsLocation))))
    }
}

/// The user authentication that protects a device key.
public enum DeviceAuthenticationType: String, Sendable, Hashable, CaseIterable {
    /// The user's fingerprint or face, without a fallback.
    case biometricOnly = "BIOMETRIC_ONLY"
    /// The user's fingerprint or face, or the credential that unlocks the device.
    case biometricAllowFallback = "BIOMETRIC_ALLOW_FALLBACK"
    /// A PIN of the app.
    case applicationPIN = "APPLICATION_PIN"
    /// No user authentication. Possession of the device is sufficient.
    case none = "NONE"
}

/// The error that a device reports to the server, with its name in the protocol.
public struct DeviceClientError: Error, ErrorCode {
    /// The operation timed out.
    public static let timeout = DeviceClientError(rawValue: "Timeout")
    /// The user or the app canceled the operation.
    public static let abort = DeviceClientError(rawValue: "Abort")
    /// The device doesn't support the operation.
    public static let unsupported = DeviceClientError(rawValue: "Unsupported")
    /// The device has no key to sign with.
    public static let clientNotRegistered = DeviceClientError(rawValue: "ClientNotRegistered")
    /// The device failed to perform the operation.
    public static let clientDeviceErrors = DeviceClientError(rawValue: "ClientDeviceErrors")

    /// All errors of this version.
    public static let allCases: [DeviceClientError] = [.timeout, .abort, .unsupported, .clientNotRegistered, .clientDeviceErrors]

    /// The name in the protocol.
    public let rawValue: String

    /// Creates an error from its name in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A callback that asks for a signature with a device key.
public protocol DeviceKeyCallback: TypedCallback {
    /// The underlying callback, including the values that were filled in.
    var callback: JourneyCallback { get set }
}

extension DeviceKeyCallback {
    /// The challenge that the signed data must contain.
    public var challenge: String { callback.text("challenge") }
    /// The title of the prompt for user authentication.
    public var title: String { callback.text("title") }
    /// The subtitle, shown below the title.
    public var subtitle: String { callback.text("subtitle") }
    /// The description, shown below the subtitle.
    public var explanation: String { callback.text("description") }
    /// The time that the user has to respond.
    public var timeout: Duration { .seconds(max(1, callback.number("timeout") ?? 60)) }

    /// Enters the error that replaces the result.
    public mutating func fail(_ error: DeviceClientError) {
        callback.set("clientError", .string(error.rawValue))
    }
}

/// A callback that asks for a key that is bound to the device.
///
/// `DeviceBinding` answers it.
public struct DeviceBindingCallback: DeviceKeyCallback {
    /// The callback type in the protocol.
    public static let type = "DeviceBindingCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["jws"]
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The ID of the user that the key will belong to.
    public var userID: String { callback.text("userId") }
    /// The user's name, for display.
    public var username: String { callback.text("username") }
    /// The user authentication that protects the key; nil for a type that this version doesn't know.
    public var authenticationType: DeviceAuthenticationType? {
        DeviceAuthenticationType(rawValue: callback.text("authenticationType"))
    }
    /// True when the server requires a hardware attestation of the key.
    public var wantsAttestation: Bool { callback.bool("attestation") }

    /// Enters the signature, the device ID and the device name.
    public mutating func fill(jws: String, deviceID: String, deviceName: String) {
        callback.set("jws", .string(jws))
        callback.set("deviceId", .string(deviceID))
        callback.set("deviceName", .string(deviceName))
    }
}

/// A callback that asks for a signature with a key that was bound to the device before.
///
/// `DeviceBinding` answers it.
public struct DeviceSigningVerifierCallback: DeviceKeyCallback {
    /// The callback type in the protocol.
    public static let type = "DeviceSigningVerifierCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["jws"]
    /// The underlying callback, including the values that were filled in.
    public var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The ID of the user that the signing key belongs to; nil when any key of the device is acceptable.
    public var userID: String? { callback.optionalText("userId") }

    /// Enters the signature.
    public mutating func fill(jws: String) {
        callback.set("jws", .string(jws))
    }
}

/// A callback that asks for an attestation of the app by its platform: App Attest by Apple or Play Integrity by Android.
public struct AppIntegrityCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "AppIntegrityCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["token"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// Apple: The challenge to attest.
    public var challenge: String { callback.text("challenge") }
    /// Apple: The earlier attestation, in the form `keyId::attestation`; empty when the app has none.
    public var attestToken: String { callback.text("attestToken") }
    /// Android: `CLASSIC` or `STANDARD`; empty for Apple platforms.
    public var requestType: String { callback.text("requestType") }
    /// Android: The number of the cloud project.
    public var projectNumber: String { callback.text("projectNumber") }
    /// Android: The nonce to attest.
    public var nonce: String { callback.text("nonce") }

    /// Enters a token.
    public mutating func fill(token: String) {
        callback.set("token", .string(token))
    }

    /// Enters the results of App Attest.
    ///
    /// Skips a result for which the callback has no input.
    public mutating func fill(token: String, attestToken: String, keyID: String, clientData: String) {
        callback.set("token", .string(token))
        callback.set("attestToken", .string(attestToken))
        callback.set("keyId", .string(keyID))
        callback.set("clientData", .string(clientData))
    }

    /// Enters the error that replaces the result.
    public mutating func fail(_ error: DeviceClientError) {
        callback.set("clientError", .string(error.rawValue))
    }
}

/// A callback that asks the app to start PingOne Protect.
public struct PingOneProtectInitializeCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "PingOneProtectInitializeCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["clientError"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The settings for PingOne Protect.
    public var settings: ProtectSettings {
        ProtectSettings(Dictionary(callback.output.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Enters the error that prevented the start.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}

/// A callback that asks for the signals that PingOne Protect collected.
public struct PingOneProtectEvaluationCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "PingOneProtectEvaluationCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["signals"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// True when PingOne Protect must pause the collection of behavioral data from now on.
    public var pausesBehavioralData: Bool { callback.bool("pauseBehavioralData") }

    /// Enters the collected signals.
    public mutating func fill(signals: String) {
        callback.set("signals", .string(signals))
    }

    /// Enters the error that replaces the signals.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}

/// The settings for the start of PingOne Protect.
public struct ProtectSettings: Sendable, Hashable {
    /// All settings as the server sent them, including those without a property here.
    public let all: [String: JSONValue]

    package init(_ all: [String: JSONValue]) { self.all = all }

    /// The ID of the PingOne environment.
    public var environmentID: String { all["envId"]?.string ?? "" }
    /// True when PingOne Protect logs to the console.
    public var logsToConsole: Bool { all["consoleLogEnabled"]?.lenientBool ?? false }
    /// The device attributes that PingOne Protect must not collect.
    public var ignoredAttributes: [String] { all["deviceAttributesToIgnore"]?.array?.compactMap(\.string) ?? [] }
    /// The host that replaces the default host; empty for the default host.
    public var customHost: String { all["customHost"]?.string ?? "" }
    /// True when PingOne Protect collects device metadata only on request.
    public var isLazy: Bool { all["lazyMetadata"]?.lenientBool ?? false }
    /// True when PingOne Protect collects data about the user's typing and movements.
    ///
    /// The default is true.
    public var collectsBehavioralData: Bool { all["behavioralDataCollection"]?.lenientBool ?? true }
    /// The number of days between two synchronizations of the device key.
    ///
    /// The default is 14.
    public var keySyncDays: Int { all["deviceKeyRsyncIntervals"]?.lenientInteger.flatMap { Int(exactly: $0) } ?? 14 }
    /// True when PingOne Protect uses the device key.
    public var usesTrust: Bool { all["enableTrust"]?.lenientBool ?? false }
}

/// A request of a step to PingOne Protect, from a dedicated callback or from metadata (protocol/journey.md section 2.7).
public enum ProtectRequest: Sendable, Hashable {
    /// A request to start PingOne Protect.
    case initialize(ProtectSettings)
    /// A request for the signals that PingOne Protect collected.
    case evaluate(pausesBehavioralData: Bool)
}
