import Foundation
import SignetCore
import SignetJourney

/// The protection of a device's key.
public enum DeviceBindingAuthenticationType: String, Sendable, CaseIterable {
    /// The user's finger or face, without an alternative.
    case biometricOnly = "BIOMETRIC_ONLY"
    /// The user's finger or face, or the credential that unlocks the device.
    case biometricAllowFallback = "BIOMETRIC_ALLOW_FALLBACK"
    /// A PIN that belongs to the app.
    case applicationPin = "APPLICATION_PIN"
    /// No check of the user: possession of the device is enough.
    case none = "NONE"
}

/// The base class of the two callbacks for a device's key.
open class DeviceKeyCallback: MultipleValuesCallback {
    /// The challenge that the signature must contain.
    public final var challenge: String { received.text("challenge") }
    /// The title of the prompt that asks the user.
    public final var title: String { received.text("title") }
    /// The text below the title.
    public final var subtitle: String { received.text("subtitle") }
    /// The text below the subtitle.
    public final var promptDescription: String { received.text("description") }
    /// The number of seconds that the user has; nil when the server does not say.
    public final var timeout: Int? { received.number("timeout") }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no challenge or text for the prompt, or lacks an
    ///   input.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require(texts: ["challenge", "title", "subtitle", "description"], inputs: ["jws", "clientError"])
    }

    /// Enters the signature, a JWS in compact serialization.
    public final func setJws(_ jws: String) { fill("jws", with: jws) }
    /// Enters the reason for a missing signature: `Timeout`, `Abort`, `Unsupported` or `ClientNotRegistered`.
    public final func setClientError(_ clientError: String) { fill("clientError", with: clientError) }
}

/// Asks for a new key that is bound to the device.
///
/// `DeviceBinding` creates the key inside ``Node/answer(_:)``.
open class DeviceBindingCallback: DeviceKeyCallback {
    /// The identifier of the user that the key is for.
    public final var userId: String { received.text("userId") }
    /// The name of the user, to show.
    public final var userName: String { received.text("username") }
    /// The protection that the server asks for.
    public final let deviceBindingAuthenticationType: DeviceBindingAuthenticationType

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback names no user or no known protection, or lacks an input.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        deviceBindingAuthenticationType = try callback.required(
            DeviceBindingAuthenticationType(rawValue: callback.text("authenticationType")), "authenticationType")
        try super.init(json: json)
        try received.require(texts: ["userId", "username"], inputs: ["deviceName", "deviceId"])
    }

    /// Enters the device's name.
    public final func setDeviceName(_ deviceName: String) { fill("deviceName", with: deviceName) }
    /// Enters the device's identifier.
    public final func setDeviceId(_ deviceId: String) { fill("deviceId", with: deviceId) }
}

/// Asks for a signature with a key that was bound to the device before.
///
/// `DeviceBinding` signs inside ``Node/answer(_:)``.
open class DeviceSigningVerifierCallback: DeviceKeyCallback {
    /// The identifier of the user with the key to sign with; nil when any key of the device may sign.
    public final var userId: String? { received.optionalText("userId") }
}
