import SignetAuthenticator
package import SignetCore
package import SignetStorage

/// The record about a synchronization in the vault: the folder, the keys and the state of this machine.
package struct SyncSettings: Sendable, Hashable {
    /// The absolute path of the folder.
    package var folder: String
    /// The keys of the files.
    ///
    /// This machine writes with the first one; see ``add(_:)``.
    package private(set) var keys: [SyncKey]
    /// The state of this machine.
    package var state: SyncState
    /// The accounts that this version could not read at the last synchronization.
    package var held: Set<AccountID> = []
    /// True when this machine has found its file in the folder.
    package var hasWritten = false

    /// The maximum number of keys.
    private static let maxKeys = 16

    /// Creates the settings of a machine that begins.
    package init(folder: String, keys: [SyncKey], state: SyncState) {
        self.folder = folder
        self.keys = []
        self.state = state
        for key in keys { add(key) }
    }

    /// Adds a key, unless it is known.
    ///
    /// Several keys exist when two machines began in one empty folder before a file sync program had moved the first file. All of
    /// them then write with the key of the lowest salt.
    package mutating func add(_ key: SyncKey) {
        guard !keys.contains(where: { $0.salt == key.salt && $0.cost == key.cost }), keys.count < Self.maxKeys else { return }
        keys.append(key)
        keys.sort { $0.salt.lexicographicallyPrecedes($1.salt) }
    }

    // MARK: The record

    /// The key of the record.
    ///
    /// No item of a `KeychainStorage` has a name of two parts.
    static let record = RecordKey(.item, "signet", "sync")

    /// Reads the settings in a transaction; nil when the vault takes part in no synchronization.
    static func load(from records: any RecordReader) throws(StoreError) -> SyncSettings? {
        guard let bytes = try records.record(record) else { return nil }
        do {
            return try SyncSettings(stored: JSON.members(of: bytes))
        } catch {
            throw StoreError(
                .corrupt, "read the state of the synchronization",
                "it does not have the form that this version reads; 'signet sync leave' and then 'signet sync init' begin again")
        }
    }

    /// Reads the settings; nil when the vault takes part in no synchronization.
    package static func stored(in store: any RecordStore) throws(StoreError) -> SyncSettings? {
        try store.read { (records: any RecordReader) throws(StoreError) in try load(from: records) }
    }

    /// Writes the settings in a transaction.
    func save(in records: any RecordWriter) throws(StoreError) {
        try records.put(JSON.encode(.object(storedMembers)), Self.record)
    }
}

extension SyncSettings: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "folder": .string(folder), "keys": .array(keys.map { .object($0.storedMembers) }),
            "state": .object(state.storedMembers), "hasWritten": .bool(hasWritten),
        ]
        if !held.isEmpty { members["held"] = .array(held.map { .object($0.storedMembers) }) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        self.init(
            folder: try members.text("folder"), keys: try members.objects("keys").map { try SyncKey(stored: $0) },
            state: try SyncState(stored: members.object("state")))
        guard !keys.isEmpty else { throw UndecodableRecord() }
        hasWritten = try members.optionalBool("hasWritten") ?? false
        if members["held"] != nil { held = Set(try members.objects("held").map { try AccountID(stored: $0) }) }
    }
}
