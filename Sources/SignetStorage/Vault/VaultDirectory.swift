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

    /// Makes a vault sealed by a key file beside it. A vault that is there is never touched.
    ///
    /// The records appear under their name only when they are complete: whoever is interrupted can begin again.
    public func createVault(patience: Double = SQLiteStore.defaultPatience) throws(StoreError) -> Vault {
        _ = try PrivateFile.createDirectory(path)
        try PrivateFile.checkDirectory(path)
        let lock = try DirectoryLock(path, patience: patience)
        defer { lock.release() }
        guard !holdsVault else {
            throw StoreError(.exists, "create vault", "there is a vault in \(path) already; nothing was changed")
        }
        // Who was interrupted before the key was written has sealed nothing with it.
        if PrivateFile.isEmpty(keyPath) { PrivateFile.remove(keyPath) }
        let madeKey = !PrivateFile.exists(keyPath)
        let key = madeKey ? try KeyFile.create(path: keyPath) : KeyFile(path: keyPath)
        let unfinished = recordsPath + ".new"
        PrivateFile.removeDatabase(unfinished)
        do {
            let store = try SQLiteStore(path: unfinished, creating: true)
            _ = try Vault.create(in: store, custodian: key)
            // Closing moves the log into the file too, but says nothing when it cannot.
            try store.checkpoint()
            try store.close()
            try PrivateFile.move(unfinished, to: recordsPath)
        } catch {
            PrivateFile.removeDatabase(unfinished)
            // Once the records have their name, the key is theirs, whatever failed afterwards.
            if madeKey, !holdsVault { PrivateFile.remove(keyPath) }
            throw error
        }
        return try openVault(patience: patience)
    }

    /// Opens the vault here.
    /// - Throws: ``StoreError/Code/noVault`` when there is none; nothing is created.
    public func openVault(patience: Double = SQLiteStore.defaultPatience) throws(StoreError) -> Vault {
        guard PrivateFile.exists(path) else { throw StoreError(.noVault, "open vault", "\(path) does not exist") }
        try PrivateFile.checkDirectory(path)
        guard holdsVault else { throw StoreError(.noVault, "open vault", "there is no vault in \(path)") }
        return try Vault.open(SQLiteStore(path: recordsPath, patience: patience), custodians: [KeyFile(path: keyPath)])
    }
}
