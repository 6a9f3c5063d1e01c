import SignetCore

/// Reads sealed records and returns them opened.
struct SealedReader: RecordReader {
    let records: any RecordReader
    let vault: Vault

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        let hidden = vault.keys.hiddenName(key)
        guard let sealed = try records.record(hidden) else { return nil }
        return try vault.open(sealed, hidden, vault.keys(for: sealed))
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try records.records(kind, after: name, limit: limit).map { record in
            guard kind != .quarantined, case .success(let sealed) = record.content else { return record }
            let hidden = RecordKey(kind, name: record.name)
            let keys = vault.keys(for: sealed)
            return StoredRecord(name: record.name) { [vault] () throws(StoreError) in try vault.open(sealed, hidden, keys) }
        }
    }
}

/// Seals records with one key and writes them.
final class SealedWriter: RecordWriter {
    private let records: any RecordWriter
    private let reader: SealedReader
    private let keys: VaultKeys
    /// True when the transaction has changed the store.
    private(set) var hasChanges = false
    /// The number of records that were sealed.
    private(set) var seals: UInt64 = 0
    /// The hidden names of the records that were sealed.
    private(set) var sealed: Set<RecordKey> = []

    init(records: any RecordWriter, vault: Vault, keys: VaultKeys) {
        self.records = records
        self.keys = keys
        reader = SealedReader(records: records, vault: vault)
    }

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? { try reader.record(key) }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try reader.records(kind, after: name, limit: limit)
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        let hidden = keys.hiddenName(key)
        // A record that this process sealed itself, and has not found damaged since, need not be checked again.
        if !reader.vault.hasSealed(hidden), !sealed.contains(hidden), let old = try records.record(hidden),
            (try? keys.open(old, hidden)) == nil
        {
            try Quarantine.keep(old, of: hidden, in: records)
        }
        hasChanges = true
        seals += 1
        sealed.insert(hidden)
        try records.put(keys.seal(bytes, hidden), hidden)
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        hasChanges = true
        try records.remove(keys.hiddenName(key))
    }

    func setAside(_ key: RecordKey) throws(StoreError) {
        let hidden = keys.hiddenName(key)
        guard let old = try records.record(hidden) else { return }
        hasChanges = true
        try Quarantine.keep(old, of: hidden, in: records)
        try records.remove(hidden)
    }
}

/// Records that did not open and were moved away from their names.
enum Quarantine {
    /// Keeps bytes under a new name, which consists of their old kind and name and a random part.
    static func keep(_ bytes: [UInt8], of hidden: RecordKey, in records: any RecordWriter) throws(StoreError) {
        let encodedKey = LengthPrefixed.bytes(hidden.kind.rawValue.utf8) + LengthPrefixed.bytes(hidden.name)
        try records.put(bytes, RecordKey(.quarantined, name: encodedKey + Secret.random(byteCount: 8).bytes))
    }
}

extension Vault {
    /// Opens a record.
    ///
    /// Marks a record that does not open.
    fileprivate func open(_ sealed: [UInt8], _ hidden: RecordKey, _ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        do {
            return try keys.open(sealed, hidden)
        } catch {
            markDamaged(hidden)
            throw error
        }
    }
}

extension VaultKeys {
    /// Returns the ID of the key that sealed a record, as the record contains it.
    static func id(of sealed: [UInt8]) -> ArraySlice<UInt8> { sealed.dropFirst(4).prefix(idLength) }
}
