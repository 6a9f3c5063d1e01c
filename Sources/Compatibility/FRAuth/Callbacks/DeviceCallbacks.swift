public import SignetCore
public import SignetJourney

/// Asks for the device's profile: its metadata and its location.
public final class DeviceProfileCallback: SingleValueCallback {
    /// True when the server asks for the device's metadata.
    public var metadataRequired: Bool { wire.output("metadata")?.bool ?? false }
    /// True when the server asks for the device's location.
    public var locationRequired: Bool { wire.output("location")?.bool ?? false }
    /// The message to show while the app collects the profile.
    public var message: String { text("message") }

    /// Enters a profile, which `DeviceProfileCollector` creates. Parts that the server did not ask for are left out.
    public func setProfile(_ profile: DeviceProfile) {
        guard var view = SignetJourney.DeviceProfileCallback(wire) else { return }
        view.fill(profile)
        wire = view.callback
    }
}

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
public class DeviceKeyCallback: MultipleValuesCallback {
    /// The challenge that the signature must contain.
    public final var challenge: String { text("challenge") }
    /// The title of the prompt that asks the user.
    public final var title: String { text("title") }
    /// The text below the title.
    public final var subtitle: String { text("subtitle") }
    /// The text below the subtitle.
    public final var promptDescription: String { text("description") }
    /// The number of seconds that the user has; 60 when the server does not say.
    public final var timeout: Int { wire.output("timeout")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 60 }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no input for a signature.
    public required init(_ callback: JourneyCallback) throws {
        try super.init(callback)
        guard callback.inputIndex("jws") != nil else { throw Self.invalid(callback) }
    }

    /// Enters the signature, a JWS in compact serialization.
    public final func setJws(_ jws: String) { set("jws", jws) }
    /// Enters the reason for a missing signature: `Timeout`, `Abort`, `Unsupported` or `ClientNotRegistered`.
    public final func setClientError(_ error: String) { set("clientError", error) }
}

/// Asks for a new key that is bound to the device. `DeviceBinding` creates the key inside ``Node/answer(_:)``.
public final class DeviceBindingCallback: DeviceKeyCallback {
    /// The identifier of the user that the key is for.
    public var userId: String { text("userId") }
    /// The name of the user, to show.
    public var userName: String { text("username") }
    /// The protection that the server asks for; nil for a kind that this version does not know.
    public var deviceBindingAuthenticationType: DeviceBindingAuthenticationType? {
        DeviceBindingAuthenticationType(rawValue: text("authenticationType"))
    }

    /// Enters the device's name.
    public func setDeviceName(_ name: String) { set("deviceName", name) }
    /// Enters the device's identifier.
    public func setDeviceId(_ identifier: String) { set("deviceId", identifier) }
}

/// Asks for a signature with a key that was bound to the device before. `DeviceBinding` signs inside ``Node/answer(_:)``.
public final class DeviceSigningVerifierCallback: DeviceKeyCallback {
    /// The identifier of the user with the key to sign with; nil when any key of the device may sign.
    public var userId: String? { wire.output("userId")?.string.flatMap { $0.isEmpty ? nil : $0 } }
}

/// Asks for an attestation or an assertion from Apple's App Attest.
public final class FRAppIntegrityCallback: MultipleValuesCallback {
    /// The challenge to attest.
    public var challenge: String { text("challenge") }
    /// The earlier attestation as `keyId::attestation`; empty before the first attestation.
    public var attestToken: String { text("attestToken") }

    /// Enters the attestation.
    public func setAttestation(_ attestation: String) { set("attestToken", attestation) }
    /// Enters the assertion.
    public func setAssertion(_ assertion: String) { set("token", assertion) }
    /// Enters the client data that the assertion covers.
    public func setClientData(_ clientData: String) { set("clientData", clientData) }
    /// Enters the identifier of the key.
    public func setKeyId(_ identifier: String) { set("keyId", identifier) }
    /// Enters the reason for a missing attestation: `Timeout`, `Abort`, `Unsupported` or `ClientDeviceErrors`.
    public func setClientError(_ error: String) { set("clientError", error) }
}
