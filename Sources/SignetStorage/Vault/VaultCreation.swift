extension VaultDirectory {
    /// Creates a vault.
    ///
    /// Never changes an existing vault.
    ///
    /// The records file gets its final name only when it is complete, so an interrupted call can be repeated.
    /// - Parameters:
    ///   - seal: The protection of the key.
    ///   - timeout: The timeout for other processes, in seconds.
    /// - Returns: The new vault, which is open.
    /// - Throws: ``StoreError/Code/exists`` when the directory already holds a vault.
    public func createVault(
        _ seal: Seal, timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> Vault {
        try whileCreating(timeout: timeout) { () throws(StoreError) in
            try requireNoVault()
            return try create(seal, containing: [], timeout: timeout)
        }
    }

    /// Creates a vault with the first key protector that works here, or with the key file if none does.
    ///
    /// Never changes an existing vault.
    /// - Parameters:
    ///   - protectors: The key protectors in order of preference, without the key file.
    ///   - level: The weakest level that is permitted.
    ///   - timeout: The timeout for other processes, in seconds.
    /// - Returns: The new vault.
    /// - Throws: ``StoreError/Code/exists`` when the directory already holds a vault; ``StoreError/Code/protectionTooWeak`` when
    ///   no key protector of that level works here, with the reason of each; ``StoreError/Code/cancelled`` when the user cancels.
    package func createVault(
        strongestOf protectors: [any KeyProtector], requiring level: ProtectionLevel,
        timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> NewVault {
        try whileCreating(timeout: timeout) { () throws(StoreError) in
            try requireNoVault()
            return try create(strongestOf: protectors, requiring: level, containing: [], timeout: timeout)
        }
    }

    /// Runs `body` while no other process creates or resets a vault in the directory.
    ///
    /// Creates missing directories first, and removes them again if they are still empty afterwards.
    func whileCreating<R>(timeout: Double, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        while true {
            let missing = PrivateFile.missingDirectories(path)
            try PrivateFile.createDirectory(path)
            guard let lock = try lock(timeout: timeout) else { continue }
            defer {
                for directory in missing { PrivateFile.removeIfEmpty(directory) }
                lock.release()
            }
            return try body()
        }
    }

    /// Returns the lock on the directory; nil when another process removed the directory, which was empty, meanwhile.
    private func lock(timeout: Double) throws(StoreError) -> DirectoryLock? {
        do throws(StoreError) {
            try PrivateFile.checkDirectory(path)
            let lock = try DirectoryLock(path, timeout: timeout)
            if lock.isHeld(at: path) { return lock }
            lock.release()
            return nil
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// The path of the records file until it is complete.
    private var unfinishedPath: String { recordsPath + ".new" }

    /// Checks that the directory does not hold the rest of a vault whose records file is missing.
    ///
    /// Only an explicit ``createVault(_:timeout:)`` replaces such a vault.
    func requireNoRemains() throws(StoreError) {
        let remains = [keyPath, recordsPath + "-wal"].filter { PrivateFile.exists($0) && !PrivateFile.isEmpty($0) }
        // Another process may complete the vault at this moment: a records file that is no longer unfinished has its final name.
        guard let rest = remains.first, !PrivateFile.exists(unfinishedPath), !holdsVault else { return }
        throw StoreError(
            .noVault, "open vault", "\(rest) exists without \(recordsPath): restore that file, or move \(rest) away")
    }

    private func requireNoVault() throws(StoreError) {
        guard !holdsVault else {
            throw StoreError(.exists, "create vault", "there is a vault in \(path) already; nothing was changed")
        }
    }
}

/// A vault that was created with the strongest key protector that works.
package struct NewVault {
    /// The vault.
    package let vault: Vault
    /// The stronger key protectors that do not work here, each with its reason.
    package let refusals: [String]
}

// MARK: Steps

extension VaultDirectory {
    /// Creates a vault with the first key protector that works here; see ``createVault(strongestOf:requiring:timeout:)``.
    ///
    /// The caller has the lock, and the directory holds no vault.
    func create(
        strongestOf protectors: [any KeyProtector], requiring level: ProtectionLevel, containing records: [NamedRecord],
        timeout: Double
    ) throws(StoreError) -> NewVault {
        try requireNoRemains()
        var refusals: [String] = []
        for protector in protectors where ProtectionLevel(protector: protector.name) >= level {
            if let reason = protector.availability().reason {
                refusals.append("\(protector.name): \(reason)")
                continue
            }
            do throws(StoreError) {
                return NewVault(
                    vault: try create(.protector(protector), containing: records, timeout: timeout), refusals: refusals)
            } catch {
                // After these errors another key protector may work. All others, and a vault that is there now, end the attempt.
                guard [.keyUnavailable, .denied, .full].contains(error.code), !holdsVault else { throw error }
                refusals.append("\(protector.name): \(error.reason)")
            }
        }
        guard level == .keyFile else { throw .tooWeak(level, refusals, "create vault") }
        return NewVault(vault: try create(.keyFile, containing: records, timeout: timeout), refusals: refusals)
    }

    /// Creates a vault that contains `records` as soon as other processes see it.
    ///
    /// The caller has the lock, and the directory holds no vault.
    private func create(_ seal: Seal, containing records: [NamedRecord], timeout: Double) throws(StoreError) -> Vault {
        let vault =
            switch seal {
            case .protector(let protector): try createRecords(records) { () throws(StoreError) in protector }
            case .keyFile: try createRecordsAndKey(records)
            }
        // The vault is not opened again, because that would ask the user for the same passphrase twice.
        return vault.moved(to: try openRecords(timeout: timeout))
    }

    private func createRecordsAndKey(_ records: [NamedRecord]) throws(StoreError) -> Vault {
        // An empty key file is left from an interrupted call. Nothing is sealed with it.
        if PrivateFile.isEmpty(keyPath) { PrivateFile.remove(keyPath) }
        var madeKey = false
        do {
            return try createRecords(records) { () throws(StoreError) in
                if PrivateFile.exists(keyPath) { return KeyFile(path: keyPath) }
                let key = try KeyFile.create(path: keyPath)
                madeKey = true
                return key
            }
        } catch {
            // Once the records file has its final name, the key file belongs to it, whatever failed afterwards.
            if madeKey, !holdsVault { PrivateFile.remove(keyPath) }
            throw error
        }
    }

    /// Creates the records file and, after it, the key.
    ///
    /// A key file without an unfinished records file therefore belongs to a vault whose records were lost.
    private func createRecords(
        _ records: [NamedRecord], _ makeProtector: () throws(StoreError) -> any KeyProtector
    ) throws(StoreError) -> Vault {
        let unfinished = unfinishedPath
        PrivateFile.removeDatabase(unfinished)
        do {
            let store = try SQLiteStore(path: unfinished, creating: true)
            let vault = try Vault.create(in: store, protector: makeProtector())
            if !records.isEmpty {
                try vault.write { (writer: any RecordWriter) throws(StoreError) in
                    for record in records { try writer.put(record.bytes, record.key) }
                }
            }
            // Closing also moves the log into the file, but does not report an error when that fails.
            try store.checkpoint()
            try store.close()
            try PrivateFile.move(unfinished, to: recordsPath)
            return vault
        } catch {
            PrivateFile.removeDatabase(unfinished)
            throw error
        }
    }
}

/// A record with its key.
struct NamedRecord {
    let key: RecordKey
    let bytes: [UInt8]
}

extension StoreError {
    /// Returns the error for a machine on which no key protector of the required level works.
    static func tooWeak(_ level: ProtectionLevel, _ refusals: [String], _ operation: String) -> StoreError {
        let reasons = refusals.isEmpty ? "there is no such key protector on this system" : refusals.joined(separator: ". ")
        return StoreError(
            .protectionTooWeak, operation,
            "\(level.requirement) is required, and none works here; nothing was created. \(reasons)")
    }
}
