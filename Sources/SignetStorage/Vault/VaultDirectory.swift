/// The place of a vault on this machine: a directory of mode 0700 with the records and, for a key file, the key.
public struct VaultDirectory: Sendable, Hashable {
    /// The directory.
    public let path: String

    /// The directory at `path`. A slash at the end is dropped: with it, a link would be followed.
    public init(path: String) {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = String(path)
    }

    /// The usual place: `$SIGNET_HOME`; for a service `$STATE_DIRECTORY/signet`, where systemd gives it a directory
    /// (`StateDirectory=`, systemd.exec(5); the first, if there are several); else `$XDG_DATA_HOME/signet` or
    /// `~/.local/share/signet` (XDG Base Directory). The service's directory may be open to others, the one in it never is.
    /// Relative values of the two are ignored, as the specifications ask. Nil when not even a home is known.
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

    /// The file with the records.
    public var recordsPath: String { path + "/vault.sqlite" }
    /// The file with the key, when the vault is sealed by a key file.
    public var keyPath: String { path + "/vault.key" }
    /// Whether there is a vault here; it may still not open.
    public var holdsVault: Bool { PrivateFile.exists(recordsPath) }

    /// Who is to keep the key of a new vault.
    public enum Seal: Sendable {
        /// A file of mode 0600 beside the records. It protects what is copied without it, and nothing else.
        case keyFile
        /// A key protector.
        case protector(any KeyProtector)
    }

    /// Makes a vault. A vault that is there is never touched.
    ///
    /// The records appear under their name only when they are complete: whoever is interrupted can begin again.
    public func createVault(
        _ seal: Seal, patience: Double = SQLiteStore.defaultPatience
    ) throws(StoreError) -> Vault {
        _ = try PrivateFile.createDirectory(path)
        try PrivateFile.checkDirectory(path)
        let lock = try DirectoryLock(path, patience: patience)
        defer { lock.release() }
        guard !holdsVault else {
            throw StoreError(.exists, "create vault", "there is a vault in \(path) already; nothing was changed")
        }
        let vault =
            switch seal {
            case .protector(let protector): try createRecords(protector)
            case .keyFile: try createRecordsAndKey()
            }
        // Not opened anew: a person would be asked for the same passphrase twice.
        return vault.moved(to: try openRecords(patience: patience))
    }

    private func createRecordsAndKey() throws(StoreError) -> Vault {
        // Who was interrupted before the key was written has sealed nothing with it.
        if PrivateFile.isEmpty(keyPath) { PrivateFile.remove(keyPath) }
        let madeKey = !PrivateFile.exists(keyPath)
        let key = madeKey ? try KeyFile.create(path: keyPath) : KeyFile(path: keyPath)
        do {
            return try createRecords(key)
        } catch {
            // Once the records have their name, the key is theirs, whatever failed afterwards.
            if madeKey, !holdsVault { PrivateFile.remove(keyPath) }
            throw error
        }
    }

    private func createRecords(_ protector: any KeyProtector) throws(StoreError) -> Vault {
        let unfinished = recordsPath + ".new"
        PrivateFile.removeDatabase(unfinished)
        do {
            let store = try SQLiteStore(path: unfinished, creating: true)
            let vault = try Vault.create(in: store, protector: protector)
            // Closing moves the log into the file too, but says nothing when it cannot.
            try store.checkpoint()
            try store.close()
            try PrivateFile.move(unfinished, to: recordsPath)
            return vault
        } catch {
            PrivateFile.removeDatabase(unfinished)
            throw error
        }
    }

    /// Opens the vault here.
    /// - Parameters:
    ///   - key protectors: Who can be asked for the key, in this order; the key file, where there is one, comes last.
    ///   - acceptingRollback: See ``Vault/open(_:key protectors:acceptingRollback:)``.
    ///   - patience: How many seconds to wait for another process that writes.
    /// - Throws: ``StoreError/Code/noVault`` when there is none; nothing is created. And what opening a vault throws.
    public func openVault(
        protectors: [any KeyProtector] = [], acceptingRollback: Bool = false, patience: Double = SQLiteStore.defaultPatience
    ) throws(StoreError) -> Vault {
        try Vault.open(
            openRecords(patience: patience), protectors: protectors + [KeyFile(path: keyPath)],
            acceptingRollback: acceptingRollback)
    }

    /// As ``openVault(key protectors:acceptingRollback:patience:)``, on a thread of its own.
    public func unlockVault(
        protectors: [any KeyProtector] = [], acceptingRollback: Bool = false, patience: Double = SQLiteStore.defaultPatience
    ) async throws(StoreError) -> Vault {
        try await Blocking.run { () throws(StoreError) in
            try openVault(protectors: protectors, acceptingRollback: acceptingRollback, patience: patience)
        }
    }

    /// What the vault here says of itself, without opening it; unproved.
    public func header() throws(StoreError) -> VaultHeader {
        try Vault.header(of: openRecords(patience: SQLiteStore.defaultPatience))
    }

    /// What is wrong with the place: a directory or a file that others can reach, that belongs to somebody else, or is a link.
    /// Looking opens nothing.
    public func placeProblems() -> [StoreError] {
        guard PrivateFile.exists(path) else { return [] }
        let directory = Result { () throws(StoreError) in try PrivateFile.checkDirectory(path) }
        let files = [recordsPath, recordsPath + "-wal", recordsPath + "-shm", keyPath].filter(PrivateFile.exists)
            .map { file in Result { () throws(StoreError) in try PrivateFile.check(file) } }
        return ([directory] + files).compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }

    /// Removes the vault here and everything in it, openable or not. There is no way back.
    /// - Parameter id: The vault's id; see ``Vault/reset(_:confirming:)``.
    public func reset(confirming id: String?) throws(StoreError) {
        let lock = try DirectoryLock(path, patience: SQLiteStore.defaultPatience)
        defer { lock.release() }
        let store = try openRecords(patience: SQLiteStore.defaultPatience)
        try Vault.reset(store, confirming: id)
        try store.close()
        PrivateFile.removeDatabase(recordsPath)
        PrivateFile.remove(keyPath)
    }

    private func openRecords(patience: Double) throws(StoreError) -> SQLiteStore {
        do throws(StoreError) {
            try PrivateFile.checkDirectory(path)
        } catch {
            // That it cannot be looked at is not that it is absent.
            throw error.code == .noVault ? StoreError(.noVault, "open vault", "\(path) does not exist") : error
        }
        guard holdsVault else { throw StoreError(.noVault, "open vault", "there is no vault in \(path)") }
        return try SQLiteStore(path: recordsPath, patience: patience)
    }
}
