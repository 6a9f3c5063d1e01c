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

    /// Returns the key in the file.
    ///
    /// If the file does not exist, creates the key with `make`: only once, even if several processes ask at the same time.
    func key(_ make: () throws(StoreError) -> TPMKey) throws(StoreError) -> TPMKey {
        if let key = try stored() { return key }
        return try locked { () throws(StoreError) in
            if let key = try stored() { return key }
            return try store(make())
        }
    }

    /// Replaces the key in the file, or creates the file, with a key of `make`.
    func replace(_ make: () throws(StoreError) -> TPMKey) throws(StoreError) -> TPMKey {
        try locked { () throws(StoreError) in try store(make()) }
    }

    /// Runs `body` while no other process changes the file.
    private func locked(_ body: () throws(StoreError) -> TPMKey) throws(StoreError) -> TPMKey {
        try PrivateFile.createDirectory(directory.path)
        try PrivateFile.checkDirectory(directory.path)
        let lock = try DirectoryLock(directory.path, timeout: Self.timeout)
        defer { lock.release() }
        return try body()
    }

    /// Writes the file with `key`, in one step.
    private func store(_ key: TPMKey) throws(StoreError) -> TPMKey {
        // This process holds the lock, so an unfinished file was left by an interrupted process.
        PrivateFile.remove(unfinishedPath)
        try PrivateFile.create(unfinishedPath, containing: TPMFormat.keyFile.preamble + key.bytes)
        try PrivateFile.move(unfinishedPath, to: path)
        return key
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
