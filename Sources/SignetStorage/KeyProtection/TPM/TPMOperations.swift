import SignetCore

/// The operations of a TPM that Signet uses, over one connection.
///
/// The calls block, for up to several seconds with a real TPM.
protocol TPMOperations: AnyObject {
    /// Checks that the TPM has what Signet needs: P-256, and a storage key or the right to create one.
    func checkFitness() throws(StoreError)
    /// Creates a P-256 key whose private half never leaves the TPM unencrypted. The TPM does not keep the key, so the caller must
    /// store the result.
    func makeKey(releasedBy pin: TPMPin?) throws(StoreError) -> TPMKey
    /// Loads `key` until the connection ends, and returns its public half (X9.63). The PIN is presented at each use of the private half, and this call
    /// does not check it.
    func load(_ key: TPMKey, releasedBy pin: TPMPin?) throws(StoreError) -> [UInt8]
    /// Returns the x coordinate of the shared point of the loaded key and `point` (X9.63). This is the only operation with the
    /// private half.
    func agree(with point: [UInt8]) throws(StoreError) -> Secret
    /// Creates a P-256 key that signs, like ``makeKey(releasedBy:)``.
    func makeSigningKey() throws(StoreError) -> TPMKey
    /// Loads a key that signs until the connection ends, and returns its public half (X9.63).
    func loadSigningKey(_ key: TPMKey) throws(StoreError) -> [UInt8]
    /// Returns the ECDSA signature of a SHA-256 digest by the loaded key: the numbers r and s, 32 bytes each.
    func sign(_ digest: [UInt8]) throws(StoreError) -> [UInt8]
    /// Returns the statement of the TPM's attestation key that the loaded key, which is `key`, is in the TPM.
    func certify(_ key: TPMKey, nonce: [UInt8]) throws(StoreError) -> KeyAttestation
    /// Returns the epoch of a vault; nil when this TPM has not stored one.
    func epoch(ofVault id: String) throws(StoreError) -> UInt64?
    /// Stores an epoch.
    /// - Throws: ``StoreError/Code/rolledBack`` when it is lower than the stored one.
    func remember(epoch: UInt64, ofVault id: String) throws(StoreError)
    /// Removes the epoch of a vault and frees its NV memory.
    func forgetEpoch(ofVault id: String) throws(StoreError)
    /// Removes the objects that this connection created in the TPM, and closes it. It cannot be used afterwards.
    func close()
}

extension TPMOperations {
    /// Creates a key that needs no PIN.
    func makeKey() throws(StoreError) -> TPMKey { try makeKey(releasedBy: nil) }
    /// Loads a key that needs no PIN.
    func load(_ key: TPMKey) throws(StoreError) -> [UInt8] { try load(key, releasedBy: nil) }
}

/// The connections to TPMs.
enum TPMAccess {
    /// Connects to the TPM at `tcti`.
    static func connect(_ tcti: String) throws(StoreError) -> any TPMOperations {
        // With an empty name, tpm2-tss searches for a TPM and finally tries a TCP port of this machine, on which any process may
        // listen.
        guard let name = tcti.split(separator: ":", omittingEmptySubsequences: false).first, !name.isEmpty, !tcti.contains("\0")
        else {
            throw StoreError(
                .keyUnavailable, "open the TPM",
                "name the TPM's interface (TCTI), for example \(TPMProtector.defaultTCTI): Signet does not search for one")
        }
        #if canImport(CTSS2) && canImport(Glibc)
        return try TPMConnection(tcti)
        #else
        throw StoreError(
            .keyUnavailable, "open the TPM",
            "this program can ask a TPM only on Linux with glibc, and was built for another system")
        #endif
    }

    /// Connects, runs `body`, and always closes the connection.
    static func with<R>(_ tcti: String, _ body: (any TPMOperations) throws(StoreError) -> R) throws(StoreError) -> R {
        let connection = try connect(tcti)
        defer { connection.close() }
        return try body(connection)
    }
}
