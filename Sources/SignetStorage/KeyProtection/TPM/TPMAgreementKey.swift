import SignetCore

/// A key that stays loaded in the TPM, together with its session, so that each agreement takes a single command.
final class TPMAgreementKey: AgreementKey {
    let publicKey: [UInt8]
    private let connection: TPMKeyConnection
    private let operations = Counter()

    /// Loads the key in `file`, or creates the key and the file if the file does not exist.
    ///
    /// Loading the key at once proves that the hardware is present and that the public half belongs to a key in it. A key with a PIN is
    /// used once: another process of the user can put a key with a PIN of its own into the file, and everything would be sealed to it.
    /// - Parameters:
    ///   - file: The file.
    ///   - pin: The user's PIN that releases the key for each use; nil for a key without a PIN.
    ///   - isNew: True to replace the file, and the key in it, by a new key.
    ///   - tcti: The way to the TPM.
    /// - Throws: ``StoreError/Code/denied`` when the PIN does not release the key; the errors of the TPM and of the file. The file has not
    ///   changed, except after ``StoreError/Code/outcomeUnknown``.
    init(file: TPMKeyFile, pin: TPMPin? = nil, isNew: Bool = false, tcti: String) throws(StoreError) {
        let open = try TPMAccess.connect(tcti)
        let key: TPMKey
        (key, publicKey) = try file.key(
            isNew: isNew, make: { () throws(StoreError) in try open.makeKey(releasedBy: pin) },
            load: { (key) throws(StoreError) in
                let publicKey = try open.load(key, releasedBy: pin)
                // Any point does, because the result is not used.
                if pin != nil { _ = try open.agree(with: publicKey) }
                return publicKey
            })
        connection = TPMKeyConnection(open, tcti: tcti) { (open) throws(StoreError) in _ = try open.load(key, releasedBy: pin) }
        if pin != nil { operations.add() }
    }

    /// The number of operations with the private half that were requested.
    var privateKeyOperations: Int { operations.count }

    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        try connection.use { (open) throws(StoreError) in
            operations.add()
            return try open.agree(with: ephemeral)
        }
    }
}
