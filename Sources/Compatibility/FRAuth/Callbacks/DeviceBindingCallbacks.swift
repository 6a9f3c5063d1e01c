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
    public final let challenge: String
    /// The title of the prompt that asks the user.
    public final let title: String
    /// The text below the title.
    public final let subtitle: String
    /// The text below the subtitle.
    public final let promptDescription: String
    /// The number of seconds that the user has; nil when the server does not say.
    public final let timeout: Int?
    private let inputs: (jws: String, clientError: String)

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no challenge or text for the prompt, or lacks an
    ///   input.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        challenge = try callback.requiredText("challenge")
        title = try callback.requiredText("title")
        subtitle = try callback.requiredText("subtitle")
        promptDescription = try callback.requiredText("description")
        timeout = callback.number("timeout")
        inputs = (try callback.inputName("jws"), try callback.inputName("clientError"))
        try super.init(json: json)
    }

    /// Enters the signature, a JWS in compact serialization.
    public final func setJws(_ jws: String) { inputValues[inputs.jws] = jws }
    /// Enters the reason for a missing signature: `Timeout`, `Abort`, `Unsupported` or `ClientNotRegistered`.
    public final func setClientError(_ clientError: String) { inputValues[inputs.clientError] = clientError }
}

/// Asks for a new key that is bound to the device.
///
/// `DeviceBinding` creates the key inside ``Node/answer(_:)``.
open class DeviceBindingCallback: DeviceKeyCallback {
    /// The identifier of the user that the key is for.
    public final let userId: String
    /// The name of the user, to show.
    public final let userName: String
    /// The protection that the server asks for.
    public final let deviceBindingAuthenticationType: DeviceBindingAuthenticationType
    private let inputs: (name: String, identifier: String)

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback names no user or no known protection, or lacks an input.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        userId = try callback.requiredText("userId")
        userName = try callback.requiredText("username")
        deviceBindingAuthenticationType = try callback.required(
            DeviceBindingAuthenticationType(rawValue: callback.text("authenticationType")), "authenticationType")
        inputs = (try callback.inputName("deviceName"), try callback.inputName("deviceId"))
        try super.init(json: json)
    }

    /// Enters the device's name.
    public final func setDeviceName(_ deviceName: String) { inputValues[inputs.name] = deviceName }
    /// Enters the device's identifier.
    public final func setDeviceId(_ deviceId: String) { inputValues[inputs.identifier] = deviceId }
}

/// Asks for a signature with a key that was bound to the device before.
///
/// `DeviceBinding` signs inside ``Node/answer(_:)``.
open class DeviceSigningVerifierCallback: DeviceKeyCallback {
    /// The identifier of the user with the key to sign with; nil when any key of the device may sign.
    public final let userId: String?

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)``, as in ``DeviceKeyCallback/init(json:)``.
    public required init(json: [String: Any]) throws {
        userId = try JourneyCallback(untyped: json).optionalText("userId")
        try super.init(json: json)
    }
}
