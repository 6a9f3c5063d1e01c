import SignetCore

/// What is asked of a TPM, over one connection. The calls block, a real TPM for up to seconds.
protocol TPMOperations: AnyObject {
    /// Whether there is what Signet needs: P-256, and a storage key or the right to make one.
    func checkFitness() throws(StoreError)
    /// Makes a P-256 key that never leaves the TPM. It is not kept in there: the answer is all there is of it.
    func makeKey() throws(StoreError) -> TPMKey
    /// Loads `key` until the connection ends, and answers with its public half (X9.63).
    func load(_ key: TPMKey) throws(StoreError) -> [UInt8]
    /// The one operation with the private half of the loaded key: the shared x coordinate with a point (X9.63).
    func agree(with point: [UInt8]) throws(StoreError) -> Secret
    /// The epoch of a vault; nil when this TPM never heard of it.
    func epoch(ofVault id: String) throws(StoreError) -> UInt64?
    /// Remembers an epoch; a lower one is refused.
    func remember(epoch: UInt64, ofVault id: String) throws(StoreError)
    /// Gives the room back.
    func forgetEpoch(ofVault id: String) throws(StoreError)
    /// Takes out of the TPM what this connection put in, and ends it. Nothing can be asked afterwards.
    func close()
}

/// The ways to a TPM.
enum TPMAccess {
    /// Connects to the TPM at `tcti`.
    static func connect(_ tcti: String) throws(StoreError) -> any TPMOperations {
        // tpm2-tss takes an empty name for "search": in the end also on a port of this machine where anybody may listen.
        guard let name = tcti.split(separator: ":", omittingEmptySubsequences: false).first, !name.isEmpty, !tcti.contains("\0")
        else {
            throw StoreError(
                .keyUnavailable, "open the TPM",
                "name the way to it, for example \(TPMProtector.defaultTCTI): it is never searched")
        }
        #if TPM && os(Linux)
        return try TPMConnection(tcti)
        #else
        throw StoreError(
            .keyUnavailable, "open the TPM",
            "this program was built without the trait TPM, so it cannot ask a TPM; build it with it")
        #endif
    }

    /// Connects, lets `body` ask, and ends the connection whatever happens.
    static func with<R>(_ tcti: String, _ body: (any TPMOperations) throws(StoreError) -> R) throws(StoreError) -> R {
        let connection = try connect(tcti)
        defer { connection.close() }
        return try body(connection)
    }
}
