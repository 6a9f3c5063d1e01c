/// The directory of a vault on this machine, with mode 0700.
///
/// It contains the records and, if the vault uses a key file, the key.
public struct VaultDirectory: Sendable, Hashable {
    /// The path of the directory.
    public let path: String

    /// Creates a value for the directory at `path`, without accessing it.
    ///
    /// Trailing slashes are dropped, because with them a link would be followed.
    public init(path: String) {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = String(path)
    }

    /// Finds the default directory from environment variables.
    ///
    /// They are read in this order:
    ///
    /// 1. `$SIGNET_HOME`.
    /// 2. `$STATE_DIRECTORY/signet`, for a service to which systemd gives a directory (`StateDirectory=`, systemd.exec(5)). If
    ///    there are several, the first one is used. This directory may be open to other users; the `signet` directory in it never
    ///    is.
    /// 3. `$XDG_DATA_HOME/signet` (XDG Base Directory).
    /// 4. `$HOME/.local/share/signet`.
    ///
    /// Relative values of `STATE_DIRECTORY` and `XDG_DATA_HOME` are ignored, as their specifications require. Returns nil when
    /// not even `HOME` is set.
    public init?(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let home = value("SIGNET_HOME") {
            self.init(path: home)
        } else if let state = value("STATE_DIRECTORY")?.split(separator: ":").first, state.hasPrefix("/") {
            self.init(path: state + "/signet")
        } else if let data = value("XDG_DATA_HOME"), data.hasPrefix("/") {
            self.init(path: data + "/signet")
        } else if let home = value("HOME") {
            self.init(path: home + "/.local/share/signet")
        } else {
            return nil
        }
    }

    /// The path of the file with the records.
    public var recordsPath: String { path + "/vault.sqlite" }
    /// The path of the key file, for a vault that is sealed by one.
    public var keyPath: String { path + "/vault.key" }
    /// True when the directory holds a vault.
    ///
    /// Opening it may still fail.
    public var holdsVault: Bool { PrivateFile.exists(recordsPath) }

    /// The protection of the key of a new vault.
    public enum Seal: Sendable {
        /// A key file of mode 0600 beside the records. It protects only copies of the records that do not include the key file.
        case keyFile
        /// A key protector.
        case protector(any KeyProtector)
    }

    /// Opens the vault in this directory.
    /// - Parameters:
    ///   - protectors: The key protectors to try, in this order. The key file, if it exists, is tried last.
    ///   - acceptingRollback: See ``Vault/open(_:protectors:acceptingRollback:)``.
    ///   - timeout: The timeout for another process that writes, in seconds.
    /// - Returns: The open vault. Its ``Vault/openedBy`` is the slot that opened it.
    /// - Throws: ``StoreError/Code/noVault`` when the directory holds no vault, in which case nothing is created; and the errors
    ///   of ``Vault/open(_:protectors:acceptingRollback:)``.
    public func openVault(
        protectors: [any KeyProtector] = [], acceptingRollback: Bool = false, timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> Vault {
        try Vault.open(
            openRecords(timeout: timeout), protectors: protectors + [KeyFile(path: keyPath)],
            acceptingRollback: acceptingRollback)
    }

    /// Opens the vault like ``openVault(protectors:acceptingRollback:timeout:)``, on a thread of its own.
    public func unlockVault(
        protectors: [any KeyProtector] = [], acceptingRollback: Bool = false, timeout: Double = SQLiteStore.defaultTimeout
    ) async throws(StoreError) -> Vault {
        try await Blocking.run { () throws(StoreError) in
            try openVault(protectors: protectors, acceptingRollback: acceptingRollback, timeout: timeout)
        }
    }

    /// Opens the vault like ``openVault(protectors:acceptingRollback:timeout:)``, for a process that finds an account through an
    /// index and ends.
    ///
    /// The verification of a vault with more than 1,024 records, and the check of a file with more than 256 pages, are postponed to
    /// the first read of a record that no index proves, the first list or the first write, which then fail with the errors that
    /// opening has. Until then ``Vault/isVerificationDue`` is true.
    /// - Parameters:
    ///   - protectors: The key protectors to try, in this order. The key file, if it exists, is tried last.
    ///   - timeout: The timeout for another process that writes, in seconds.
    /// - Returns: The open vault.
    /// - Throws: The errors of ``openVault(protectors:acceptingRollback:timeout:)``.
    package func openVaultForLookup(
        protectors: [any KeyProtector] = [], timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> Vault {
        let store = try openRecords(timeout: timeout, pagesCheckedAtOpen: SQLiteIntegrity.pagesCheckedAtLookup)
        return try Vault.openForLookup(store, protectors: protectors + [KeyFile(path: keyPath)])
    }

    /// Returns the header of the vault without opening the vault.
    ///
    /// The header is not authenticated. It is also read from a damaged file, if its page can be read.
    public func header() throws(StoreError) -> VaultHeader {
        try Vault.header(of: openRecords(checking: false))
    }

    /// Checks that the file of the vault is not damaged, without opening the vault.
    ///
    /// It finds changed and cut pages, but not a record that was changed with SQLite's means: ``Vault/verifyRecords()`` does.
    /// - Throws: ``StoreError/Code/corrupt`` when the file is damaged; ``StoreError/Code/noVault`` without a vault.
    public func checkRecords() throws(StoreError) {
        try openRecords(checking: false).checkIntegrity()
    }

    /// Returns the problems of the directory and its files: each one that other users can access, that belongs to another user,
    /// or that is a link.
    ///
    /// The check does not open the vault.
    public func permissionProblems() -> [StoreError] {
        guard PrivateFile.exists(path) else { return [] }
        let directory = Result { () throws(StoreError) in try PrivateFile.checkDirectory(path) }
        let files = [recordsPath, recordsPath + "-wal", recordsPath + "-shm", keyPath].filter(PrivateFile.exists)
            .map { file in Result { () throws(StoreError) in try PrivateFile.check(file) } }
        return ([directory] + files).compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }

    /// Removes the vault and everything in it, even if it cannot be opened or its file is damaged.
    ///
    /// This cannot be undone.
    /// - Parameter id: The ID of the vault; see ``Vault/reset(_:confirming:)``.
    /// - Throws: ``StoreError/Code/noVault`` when the directory holds no vault; ``StoreError/Code/busy`` when another process
    ///   uses it; ``StoreError/Code/failed`` when `id` is not the ID of the vault. Nothing is removed then.
    public func reset(confirming id: String?) throws(StoreError) {
        try checkDirectory()
        let lock = try DirectoryLock(path, timeout: SQLiteStore.defaultTimeout)
        defer { lock.release() }
        do throws(StoreError) {
            let store = try openRecords(checking: false)
            try Vault.reset(store, confirming: id)
            try store.close()
        } catch {
            // Records of a damaged page cannot be removed one by one. Only a vault whose header can be read has an ID to confirm.
            guard error.code == .corrupt, (try? header().id) == id else { throw error }
        }
        PrivateFile.removeDatabase(recordsPath)
        PrivateFile.remove(keyPath)
    }

    /// Opens the file of the records.
    /// - Parameters:
    ///   - checking: False to open a damaged file too, to salvage or to replace it.
    ///   - timeout: The timeout for another process, in seconds.
    ///   - pagesCheckedAtOpen: The number of pages up to which the file is checked at once. The check of a larger file that is at
    ///     most as large as one that is usually checked at once is postponed (``PostponingReader``).
    /// - Returns: The open store.
    /// - Throws: ``StoreError/Code/noVault`` without a vault; the errors of ``SQLiteStore``.
    func openRecords(
        checking: Bool = true, timeout: Double = SQLiteStore.defaultTimeout,
        pagesCheckedAtOpen: Int = SQLiteIntegrity.pagesCheckedAtOpen
    ) throws(StoreError) -> SQLiteStore {
        try checkDirectory()
        guard holdsVault else { throw StoreError(.noVault, "open vault", "there is no vault in \(path)") }
        return try SQLiteStore(
            path: recordsPath, checking: checking, timeout: timeout, pagesCheckedAtOpen: pagesCheckedAtOpen)
    }

    /// Checks that the directory is there and private.
    func checkDirectory() throws(StoreError) {
        do throws(StoreError) {
            try PrivateFile.checkDirectory(path)
        } catch {
            // Other errors, such as missing access to the directory, do not mean that the vault is missing.
            throw error.code == .notFound ? StoreError(.noVault, "open vault", "\(path) does not exist") : error
        }
    }
}
