import SignetCore

/// A vault of which as much was opened as can be read.
public struct SalvagedVault: Sendable {
    /// The vault.
    ///
    /// When its file is damaged, it has the records that can be read from the file, in memory, and cannot be written to.
    public let vault: Vault
    /// The damage; nil for a vault that is whole and whose records were verified.
    public let damage: StoreError?
    /// The number of records that cannot be read from the file.
    public let lostCount: Int
}

extension VaultDirectory {
    /// Opens the vault in this directory to save what can be read of it, for example in a backup.
    ///
    /// ``openVault(protectors:acceptingRollback:timeout:)`` refuses a damaged vault, because its records cannot be verified: some
    /// are missing, and the others may be from an older copy. This call opens it and reports the damage. The file is left as it is.
    /// - Parameters:
    ///   - protectors: The key protectors to try, in this order. The key file, if it exists, is tried last.
    ///   - timeout: The timeout for another process that writes, in seconds.
    /// - Returns: The vault and its damage.
    /// - Throws: The errors of ``openVault(protectors:acceptingRollback:timeout:)``, among them ``StoreError/Code/rolledBack``;
    ///   ``StoreError/Code/corrupt`` only when not even the header can be read.
    public func salvageVault(
        protectors: [any KeyProtector] = [], timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> SalvagedVault {
        let protectors = protectors + [KeyFile(path: keyPath)]
        guard let damage = try fileDamage(timeout: timeout) else {
            let vault = try Vault.openUnverified(openRecords(timeout: timeout), protectors: protectors)
            do throws(StoreError) {
                try vault.verifyDigest()
            } catch {
                guard error.code == .corrupt else { throw error }
                return SalvagedVault(vault: vault, damage: error, lostCount: 0)
            }
            return SalvagedVault(vault: vault, damage: nil, lostCount: 0)
        }
        let (records, lostCount) = try readableRecords(timeout: timeout)
        let vault = try Vault.openUnverified(SalvagedRecords(records), protectors: protectors)
        return SalvagedVault(vault: vault, damage: damage, lostCount: lostCount)
    }

    /// The path at which ``replaceDamagedRecords(protectors:timeout:)`` keeps the damaged file.
    public var damagedPath: String { recordsPath + ".damaged" }

    /// Replaces a damaged file with a new one that has the records that can be read from it.
    ///
    /// The vault keeps its ID, its key and its slots. The damaged file is kept at ``damagedPath``. The records are accepted as those
    /// of the vault, as with `acceptingRollback` in ``openVault(protectors:acceptingRollback:timeout:)``. An interruption leaves
    /// either file, whole.
    /// - Parameters:
    ///   - protectors: The key protectors to try, in this order. The key file, if it exists, is tried last.
    ///   - timeout: The timeout for another process, in seconds.
    /// - Returns: The vault in the new file, and the damage of the old one.
    /// - Throws: ``StoreError/Code/invalid`` when the file is not damaged; ``StoreError/Code/exists`` when an earlier damaged file
    ///   is at ``damagedPath``; ``StoreError/Code/busy`` when another process has the vault open; the errors of
    ///   ``salvageVault(protectors:timeout:)``. Nothing is replaced then.
    public func replaceDamagedRecords(
        protectors: [any KeyProtector] = [], timeout: Double = SQLiteStore.defaultTimeout
    ) throws(StoreError) -> SalvagedVault {
        try checkDirectory()
        let lock = try DirectoryLock(path, timeout: timeout)
        defer { lock.release() }
        guard let damage = try fileDamage(timeout: timeout) else {
            throw StoreError(.invalid, "replace \(recordsPath)", "the file is not damaged; nothing was changed")
        }
        let (records, lostCount) = try readableRecords(timeout: timeout)
        // A process that still writes to the old file would write its log beside the new one.
        guard !PrivateFile.exists(recordsPath + "-wal") else {
            throw StoreError(.busy, "replace \(recordsPath)", "another process is using the vault; end it first")
        }
        let unfinished = recordsPath + ".new"
        PrivateFile.removeDatabase(unfinished)
        do throws(StoreError) {
            let store = try SQLiteStore(path: unfinished, creating: true)
            try store.put(records)
            let vault = try Vault.open(store, protectors: protectors + [KeyFile(path: keyPath)], acceptingRollback: true)
            try store.checkpoint()
            try store.close()
            try keepDamaged(replacedBy: unfinished)
            return SalvagedVault(
                vault: vault.moved(to: try openRecords(timeout: timeout)), damage: damage, lostCount: lostCount)
        } catch {
            PrivateFile.removeDatabase(unfinished)
            throw error
        }
    }

    /// Gives the damaged file its second name, and its first name to the new file.
    private func keepDamaged(replacedBy unfinished: String) throws(StoreError) {
        try PrivateFile.link(recordsPath, as: damagedPath)
        do throws(StoreError) {
            try PrivateFile.move(unfinished, to: recordsPath)
        } catch {
            // A file with two names is refused.
            if error.code != .outcomeUnknown { PrivateFile.remove(damagedPath) }
            throw error
        }
    }

    /// Returns the damage that SQLite or the order of the rows shows; nil without damage.
    private func fileDamage(timeout: Double) throws(StoreError) -> StoreError? {
        do throws(StoreError) {
            let store = try openRecords(checking: false, timeout: timeout)
            try store.checkIntegrity()
            try store.read { (records: any RecordReader) throws(StoreError) in try records.forEachCovered { _, _ in } }
            return nil
        } catch {
            guard error.code == .corrupt else { throw error }
            return error
        }
    }

    /// Returns the records that can be read from the pages of the file, among them the header, and the number of those that cannot.
    private func readableRecords(timeout: Double) throws(StoreError) -> (records: [RecordKey: [UInt8]], lostCount: Int) {
        let records = try SQLitePages(bytesOfRecords(timeout: timeout)).records()
        guard let header = records[.vaultHeader] else {
            throw StoreError(.corrupt, "open vault", "the file is damaged, and the header with the wrapped key cannot be read")
        }
        let expected = Int(clamping: try Vault.header(from: header).records?.count ?? 0)
        return (records, max(0, expected - (records.count - 1)))
    }

    private func bytesOfRecords(timeout: Double) throws(StoreError) -> [UInt8] {
        do throws(StoreError) {
            return try openRecords(checking: false, timeout: timeout).serialized()
        } catch {
            // SQLite cannot read the first page, which describes the file.
            guard error.code == .corrupt else { throw error }
            guard !SQLiteIntegrity.hasLog(recordsPath) else {
                throw StoreError(
                    .corrupt, error.operation, "the file is damaged, and its last changes, in \(recordsPath)-wal, cannot be read")
            }
            let size = FileStatus(at: recordsPath)?.size ?? 0
            return try PrivateFile.contents(of: recordsPath, limit: size)
        }
    }
}

extension RecordStore {
    /// Writes records in one transaction.
    fileprivate func put(_ found: [RecordKey: [UInt8]]) throws(StoreError) {
        try write { (records: any RecordWriter) throws(StoreError) in
            for (key, bytes) in found { try records.put(bytes, key) }
        }
    }
}

/// The records that were read from a damaged file.
///
/// They cannot be changed, because the changes would be lost.
private struct SalvagedRecords: RecordStore {
    private let records = MemoryStore()

    init(_ found: [RecordKey: [UInt8]]) throws(StoreError) {
        try records.put(found)
    }

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R { try records.read(body) }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        throw StoreError(.denied, "write", "the vault is damaged and can only be read")
    }
}
