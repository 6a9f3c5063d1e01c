import SignetCore
public import SignetJourney

/// Asks for the device's profile: its metadata and its location.
public final class DeviceProfileCallback: TypedValueCallback<SignetJourney.DeviceProfileCallback> {
    /// True when the server asks for the device's metadata.
    public var metadataRequired: Bool { view.wantsMetadata }
    /// True when the server asks for the device's location.
    public var locationRequired: Bool { view.wantsLocation }
    /// The message to show while the app collects the profile.
    public var message: String { view.message }

    /// Enters a profile, which `DeviceProfileCollector` creates.
    ///
    /// Parts that the server did not ask for are left out.
    public func setProfile(_ profile: DeviceProfile) {
        var view = view
        view.fill(profile)
        callback = view.callback
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
public class DeviceKeyCallback<View: SignetJourney.DeviceKeyCallback>: TypedValuesCallback<View> {
    /// The challenge that the signature must contain.
    public final var challenge: String { view.challenge }
    /// The title of the prompt that asks the user.
    public final var title: String { view.title }
    /// The text below the title.
    public final var subtitle: String { view.subtitle }
    /// The text below the subtitle.
    public final var promptDescription: String { view.explanation }
    /// The number of seconds that the user has; 60 when the server does not say.
    public final var timeout: Int { callback.number("timeout") ?? 60 }

    /// Enters the signature, a JWS in compact serialization.
    public final func setJws(_ jws: String) { set("jws", jws) }
    /// Enters the reason for a missing signature: `Timeout`, `Abort`, `Unsupported` or `ClientNotRegistered`.
    public final func setClientError(_ error: String) { set("clientError", error) }
}

/// Asks for a new key that is bound to the device.
///
/// `DeviceBinding` creates the key inside ``Node/answer(_:)``.
public final class DeviceBindingCallback: DeviceKeyCallback<SignetJourney.DeviceBindingCallback> {
    /// The identifier of the user that the key is for.
    public var userId: String { view.userID }
    /// The name of the user, to show.
    public var userName: String { view.username }
    /// The protection that the server asks for; nil for a kind that this version does not know.
    public var deviceBindingAuthenticationType: DeviceBindingAuthenticationType? {
        DeviceBindingAuthenticationType(rawValue: callback.text("authenticationType"))
    }

    /// Enters the device's name.
    public func setDeviceName(_ name: String) { set("deviceName", name) }
    /// Enters the device's identifier.
    public func setDeviceId(_ identifier: String) { set("deviceId", identifier) }
}

/// Asks for a signature with a key that was bound to the device before.
///
/// `DeviceBinding` signs inside ``Node/answer(_:)``.
public final class DeviceSigningVerifierCallback: DeviceKeyCallback<SignetJourney.DeviceSigningVerifierCallback> {
    /// The identifier of the user with the key to sign with; nil when any key of the device may sign.
    public var userId: String? { view.userID }
}

/// Asks for an attestation or an assertion from Apple's App Attest.
public final class FRAppIntegrityCallback: MultipleValuesCallback {
    /// The challenge to attest.
    public var challenge: String { callback.text("challenge") }
    /// The earlier attestation as `keyId::attestation`; empty before the first attestation.
    public var attestToken: String { callback.text("attestToken") }

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
