import SignetCore

extension HardwareKeys {
    #if canImport(Security)
    /// Returns true when the device has a Secure Enclave, which checks all factors.
    func supports(_ factor: SigningKeyFactor) -> Bool { SecureEnclaveKey.isAvailable }

    /// Creates a key in the Secure Enclave.
    func createSigningKey(releasedBy factor: SigningKeyFactor?) throws(StoreError) -> any SigningKey {
        try SecureEnclaveSigningKey(releasedBy: factor)
    }

    /// Opens a key in the Secure Enclave.
    func openSigningKey(_ reference: SigningKeyReference) throws(StoreError) -> any SigningKey {
        guard case .secureEnclave(let bytes) = reference else { throw Self.keyOfAnotherMachine }
        return try SecureEnclaveSigningKey(bytes)
    }
    #elseif os(Linux)
    /// Returns false, because no service here binds fingerprints to keys.
    func supports(_ factor: SigningKeyFactor) -> Bool { false }

    /// Creates a key in the TPM.
    func createSigningKey(releasedBy factor: SigningKeyFactor?) throws(StoreError) -> any SigningKey {
        guard factor == nil else { throw Self.noFactor }
        return try TPMSigningKey(tcti: tcti)
    }

    /// Opens a key in the TPM.
    func openSigningKey(_ reference: SigningKeyReference) throws(StoreError) -> any SigningKey {
        guard case .tpm(let key) = reference else { throw Self.keyOfAnotherMachine }
        return try TPMSigningKey(key, tcti: tcti)
    }
    #else
    /// Returns false, because keys in hardware are not supported on this system.
    func supports(_ factor: SigningKeyFactor) -> Bool { false }

    /// Throws ``StoreError/Code/keyUnavailable``, because keys in hardware are not supported on this system.
    func createSigningKey(releasedBy factor: SigningKeyFactor?) throws(StoreError) -> any SigningKey {
        throw StoreError(.keyUnavailable, "create a signing key", availability().reason ?? "")
    }

    /// Throws ``StoreError/Code/keyMismatch``, because this system cannot have made the key.
    func openSigningKey(_ reference: SigningKeyReference) throws(StoreError) -> any SigningKey { throw Self.keyOfAnotherMachine }
    #endif

    private static var keyOfAnotherMachine: StoreError {
        StoreError(.keyMismatch, "open a signing key", "it is in the hardware of another machine; create a new key here")
    }

    /// The error for a key that a factor is to release on a machine whose hardware checks none.
    static var noFactor: StoreError {
        StoreError(.keyUnavailable, "create a signing key", "no hardware here checks fingerprints, faces or passcodes")
    }
}
