import SignetCore

/// A file of mode 0600 with a key that only one TPM can use: docs/reference/tpm-formats.md, section "Key file".
struct TPMKeyFile {
    let directory: VaultDirectory
    let tag: String
    /// True for the file of the key that a PIN releases.
    var needsPin = false

    private static let operation = "open the secured key"
    private static let limit = 8192
    /// The timeout for another process that creates the key, in seconds.
    ///
    /// A real TPM needs one or two.
    private static let timeout = 30.0

    var path: String { "\(directory.path)/\(name)" }

    private var name: String { "secured-\(needsPin ? "pin-" : "")key-\(tag)" }

    /// The path of the file while it is written.
    ///
    /// A tag can end with any suffix, so a suffix could make it the name of another tag's file. A prefix cannot: the files of all keys
    /// begin with `secured-`.
    private var unfinishedPath: String { "\(directory.path)/unfinished-\(name)" }

    /// Loads the key in the file.
    ///
    /// If the file does not exist, creates the key with `make`: only once, even if several processes ask at the same time. A new key is
    /// stored only after `load` has accepted it, so that an error before leaves the file, and the key in it, as it was.
    /// - Parameters:
    ///   - isNew: True to replace the key in the file by a new one.
    ///   - make: Creates a key.
    ///   - load: Loads a key into the TPM and returns its public half.
    /// - Returns: The key and its public half.
    /// - Throws: The errors of `make`, `load` and the file. After ``StoreError/Code/outcomeUnknown`` the file has the new key, but a
    ///   crash of the machine can bring the earlier file back: the next load finds one of the two keys.
    func key(
        isNew: Bool = false, make: () throws(StoreError) -> TPMKey, load: (TPMKey) throws(StoreError) -> [UInt8]
    ) throws(StoreError) -> (key: TPMKey, publicKey: [UInt8]) {
        if !isNew, let key = try stored() { return (key, try load(key)) }
        return try locked { () throws(StoreError) in
            if !isNew, let key = try stored() { return (key, try load(key)) }
            let key = try make()
            let publicKey = try load(key)
            try store(key)
            return (key, publicKey)
        }
    }

    /// Runs `body` while no other process changes the file.
    private func locked<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try PrivateFile.createDirectory(directory.path)
        try PrivateFile.checkDirectory(directory.path)
        let lock = try DirectoryLock(directory.path, timeout: Self.timeout)
        defer { lock.release() }
        return try body()
    }

    /// Writes the file with `key`, in one step.
    private func store(_ key: TPMKey) throws(StoreError) {
        // This process holds the lock, so an unfinished file was left by an interrupted process.
        PrivateFile.remove(unfinishedPath)
        try PrivateFile.create(unfinishedPath, containing: TPMFormat.keyFile.preamble + key.bytes)
        try PrivateFile.move(unfinishedPath, to: path)
    }

    /// Returns the key in the file; nil only when the file does not exist.
    private func stored() throws(StoreError) -> TPMKey? {
        let bytes: [UInt8]
        do throws(StoreError) {
            bytes = try PrivateFile.contents(of: path, limit: Self.limit)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        try PrivateFile.checkDirectory(directory.path)
        var reader = try TPMFormat.keyFile.reader(bytes, Self.operation)
        guard let key = TPMKey(&reader), reader.rest.isEmpty else { throw TPMFormat.keyFile.damaged(Self.operation) }
        return key
    }
}
