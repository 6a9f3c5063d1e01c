public import SignetCore

/// The place that an app wants for a new signing key.
public enum SigningKeyRequirement: Sendable, Hashable {
    /// The hardware of this machine, or software where no hardware can be used; ``SigningKey/level`` tells which.
    case best
    /// The hardware of this machine only.
    case hardware
    /// Software only.
    case software
}

/// A factor of the user that releases a signing key for each signature.
///
/// The hardware checks it. Only a Secure Enclave has such keys.
public enum SigningKeyFactor: Sendable, Hashable, CaseIterable {
    /// A fingerprint or face that was enrolled when the key was created; the key is useless after a change of the enrolled set.
    case biometry
    /// A fingerprint or face, or else the passcode of the device.
    case biometryOrPasscode
}

/// Creates and opens signing keys: in the TPM on Linux, in the Secure Enclave on Apple's systems, and in software everywhere.
///
///     let provider = SigningKeyProvider()
///     let key = try provider.create(.best)
///     let bytes = key.reference.withUnsafeBytes { Array($0) }
///     try vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(bytes, record) }
///
/// The calls with hardware block, up to seconds with a real TPM. From async code, run them on a thread that may wait.
public struct SigningKeyProvider: Sendable {
    let hardware: HardwareKeys

    /// Creates a provider for the hardware of this machine.
    public init() { self.init(.default) }

    package init(_ hardware: HardwareKeys) { self.hardware = hardware }

    /// Returns the availability of keys in hardware, with the reason when it has no such keys.
    ///
    /// The call asks the hardware and creates no key.
    public func availability() -> KeyProtectorAvailability { hardware.availability() }

    /// Returns true when the hardware has keys that this factor releases.
    public func supports(_ factor: SigningKeyFactor) -> Bool { hardware.supports(factor) }

    /// Creates a key.
    ///
    /// It exists only as the returned value until its reference is stored.
    /// - Parameters:
    ///   - requirement: The place for the key. With ``SigningKeyRequirement/best``, a key in software is created only when
    ///     ``availability()`` says that the hardware cannot be used; an error of usable hardware is thrown.
    ///   - factor: The factor that releases the key for each signature; nil for a key that each program of the user can use. Software
    ///     never stands in for hardware that checks a factor.
    /// - Returns: The key.
    /// - Throws: ``StoreError/Code/keyUnavailable`` or ``StoreError/Code/denied`` when a key in hardware is required and the hardware
    ///   cannot be used; other errors of the hardware, for example ``StoreError/Code/busy``.
    public func create(
        _ requirement: SigningKeyRequirement = .best, releasedBy factor: SigningKeyFactor? = nil
    ) throws(StoreError) -> any SigningKey {
        if let factor {
            guard requirement != .software, supports(factor) else { throw HardwareKeys.noFactor }
            return try hardware.createSigningKey(releasedBy: factor)
        }
        switch requirement {
        case .hardware: return try hardware.createSigningKey(releasedBy: nil)
        case .software: return SoftwareSigningKey()
        case .best:
            guard availability().isUsable else { return SoftwareSigningKey() }
            return try hardware.createSigningKey(releasedBy: nil)
        }
    }

    /// Opens the key with this reference.
    ///
    /// A TPM loads the key, which proves that the key is the TPM's own.
    /// - Parameter reference: The value of ``SigningKey/reference``.
    /// - Returns: The key.
    /// - Throws: ``StoreError/Code/keyMismatch`` when the key belongs to another machine, or the TPM was cleared since;
    ///   ``StoreError/Code/keyUnavailable`` without the hardware; ``StoreError/Code/denied`` without the permission to use it;
    ///   ``StoreError/Code/corrupt`` or ``StoreError/Code/newerFormat`` for other bytes than a reference of this version.
    public func open(_ reference: Secret) throws(StoreError) -> any SigningKey {
        let content = try SigningKeyReference(reference)
        guard case .software(let scalar) = content else { return try hardware.openSigningKey(content) }
        return try SoftwareSigningKey(scalar)
    }

    /// Returns the private half in the reference of a key in software, 32 bytes; nil for a key in hardware.
    package static func privateHalf(of reference: Secret) -> Secret? {
        guard case .software(let scalar)? = try? SigningKeyReference(reference) else { return nil }
        return scalar
    }

    /// Returns the key in software with this private half, 32 bytes.
    /// - Throws: ``StoreError/Code/corrupt`` when it is not a scalar of P-256.
    package static func softwareKey(privateHalf: Secret) throws(StoreError) -> any SigningKey {
        try SoftwareSigningKey(privateHalf)
    }
}
