public import SignetCore
public import SignetJourney

/// Asks what the device is and where.
public final class DeviceProfileCallback: SingleValueCallback {
    /// Whether to say what the device is.
    public var metadataRequired: Bool { wire.output("metadata")?.bool ?? false }
    /// Whether to say where it is.
    public var locationRequired: Bool { wire.output("location")?.bool ?? false }
    /// What to show meanwhile.
    public var message: String { text("message") }

    /// Enters a profile, as `DeviceProfileCollector` makes one. What was not asked for is left out.
    public func setProfile(_ profile: DeviceProfile) {
        guard var view = SignetJourney.DeviceProfileCallback(wire) else { return }
        view.fill(profile)
        wire = view.callback
    }
}

/// How a key of a device is to be protected.
public enum DeviceBindingAuthenticationType: String, Sendable, CaseIterable {
    /// By the person's finger or face, and nothing else.
    case biometricOnly = "BIOMETRIC_ONLY"
    /// By the person's finger or face, or by what unlocks the device.
    case biometricAllowFallback = "BIOMETRIC_ALLOW_FALLBACK"
    /// By a PIN of the app.
    case applicationPin = "APPLICATION_PIN"
    /// By nothing but the device itself.
    case none = "NONE"
}

/// What the two callbacks about a device's key have in common.
public class DeviceKeyCallback: MultipleValuesCallback {
    /// What the signature must contain.
    public final var challenge: String { text("challenge") }
    /// What to show when the person is asked.
    public final var title: String { text("title") }
    /// What to show below the title.
    public final var subtitle: String { text("subtitle") }
    /// What to show below that.
    public final var promptDescription: String { text("description") }
    /// How many seconds the person has.
    public final var timeout: Int { wire.output("timeout")?.wholeNumber.flatMap { Int(exactly: $0) } ?? 60 }

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it has no room for a signature.
    public required init(_ callback: JourneyCallback) throws {
        try super.init(callback)
        guard callback.inputIndex("jws") != nil else { throw Self.invalid(callback) }
    }

    /// Enters the signature, in compact form.
    public final func setJws(_ jws: String) { set("jws", jws) }
    /// Says why there is none: `Timeout`, `Abort`, `Unsupported`, `ClientNotRegistered`.
    public final func setClientError(_ error: String) { set("clientError", error) }
}

/// Asks for a key that is bound to the device. ``Node/answer(_:)`` has `DeviceBinding` make one.
public final class DeviceBindingCallback: DeviceKeyCallback {
    /// Whose key it is going to be.
    public var userId: String { text("userId") }
    /// The same person's name, to show.
    public var userName: String { text("username") }
    /// How the key is to be protected; nil for a way that this version does not know.
    public var deviceBindingAuthenticationType: DeviceBindingAuthenticationType? {
        DeviceBindingAuthenticationType(rawValue: text("authenticationType"))
    }

    /// Enters what the device is called.
    public func setDeviceName(_ name: String) { set("deviceName", name) }
    /// Enters what the device is known by.
    public func setDeviceId(_ identifier: String) { set("deviceId", identifier) }
}

/// Asks for a signature by a key that was bound to the device before. ``Node/answer(_:)`` has `DeviceBinding` sign.
public final class DeviceSigningVerifierCallback: DeviceKeyCallback {
    /// Whose key to sign with; nil when any key of the device will do.
    public var userId: String? { wire.output("userId")?.string.flatMap { $0.isEmpty ? nil : $0 } }
}

/// Asks Apple's system to vouch for the app.
public final class FRAppIntegrityCallback: MultipleValuesCallback {
    /// What to attest.
    public var challenge: String { text("challenge") }
    /// What was attested before, `keyId::attestation`; empty for nothing.
    public var attestToken: String { text("attestToken") }

    /// Enters the attestation.
    public func setAttestation(_ attestation: String) { set("attestToken", attestation) }
    /// Enters the assertion.
    public func setAssertion(_ assertion: String) { set("token", assertion) }
    /// Enters what the assertion is of.
    public func setClientData(_ clientData: String) { set("clientData", clientData) }
    /// Enters what the key is known by.
    public func setKeyId(_ identifier: String) { set("keyId", identifier) }
    /// Says why there is none: `Timeout`, `Abort`, `Unsupported`, `ClientDeviceErrors`.
    public func setClientError(_ error: String) { set("clientError", error) }
}
