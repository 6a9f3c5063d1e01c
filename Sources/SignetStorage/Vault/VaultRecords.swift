import SignetCore

/// Reads sealed records and returns them opened.
struct SealedReader: RecordReader {
    let records: any RecordReader
    let vault: Vault
    /// The epoch of the header before the transaction began; nil in a transaction that writes.
    var epoch: UInt64?
    /// The verification before the first record that no index proves; nil when it was made.
    var verification: DueVerification?

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        let hidden = vault.keys.hiddenName(key)
        let found = try records.record(hidden)
        try verification?.verify(before: found, hidden, in: records)
        guard let sealed = found else { return nil }
        return try vault.open(sealed, hidden, vault.keys(for: sealed))
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try verification?.verify(in: records)
        return try records.records(kind, after: name, limit: limit).map { record in
            guard kind != .quarantined, case .success(let sealed) = record.content else { return record }
            let hidden = RecordKey(kind, name: record.name)
            let keys = vault.keys(for: sealed)
            return StoredRecord(name: record.name) { [vault] () throws(StoreError) in try vault.open(sealed, hidden, keys) }
        }
    }
}

/// Seals records with one key and writes them.
final class SealedWriter: RecordWriter {
    private let records: DigestedWriter
    private let reader: SealedReader
    private let header: VaultHeader
    private let keys: VaultKeys
    /// True when the transaction has changed the store.
    private(set) var hasChanges = false
    /// The number of records that were sealed.
    private(set) var seals: UInt64 = 0
    /// The beginnings of the records that were sealed, by their hidden names.
    private(set) var sealed: [RecordKey: KnownRecord] = [:]
    private var changesAccounts = false
    private var isSuspect = false

    init(records: any RecordWriter, vault: Vault, header: VaultHeader, keys: VaultKeys) {
        self.records = DigestedWriter(records: records, keys: keys)
        (self.header, self.keys) = (header, keys)
        reader = SealedReader(records: records, vault: vault)
    }

    /// The changes of the transaction on which the header depends.
    var changes: VaultChanges {
        VaultChanges(
            digest: records.change, sealed: sealed, changesAccounts: changesAccounts, isSuspect: isSuspect)
    }

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? { try reader.record(key) }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try reader.records(kind, after: name, limit: limit)
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        let hidden = keys.hiddenName(key)
        let old = try records.record(hidden)
        let known = sealed[hidden] ?? reader.vault.knownRecord(hidden)
        if let old, !isSound(old, hidden, known), (try? keys.open(old, hidden)) == nil {
            // Its digest may no longer be the one that the header counts.
            isSuspect = true
            try Quarantine.keep(old, of: hidden, in: records)
        }
        let new = try keys.seal(bytes, hidden)
        hasChanges = true
        seals += 1
        recordChange(key, changesSet: old == nil)
        let digest = try records.put(new, hidden, over: old, known)
        sealed[hidden] = KnownRecord(beginning: new.prefix(VaultKeys.coveredLength), digest: digest, isSealed: true)
    }

    /// Returns true when this process sealed the stored record and has not found it damaged since.
    ///
    /// Such a record need not be checked again. A record in its place that another process cannot have written makes the
    /// transaction suspect. So does a mechanism that this process has neither sealed nor verified: it may be an older one, the
    /// codes of whose counter were used.
    private func isSound(_ stored: [UInt8], _ hidden: RecordKey, _ known: KnownRecord?) -> Bool {
        guard let known else {
            if hidden.kind == .mechanism { isSuspect = true }
            return false
        }
        if !known.isBeginning(of: stored) { isSuspect = true }
        return known.isSealed && !isSuspect
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        let hidden = keys.hiddenName(key)
        let old = try records.record(hidden)
        hasChanges = true
        recordChange(key, changesSet: old != nil)
        sealed[hidden] = nil
        try records.remove(hidden, old)
    }

    func setAside(_ key: RecordKey) throws(StoreError) {
        let hidden = keys.hiddenName(key)
        guard let old = try records.record(hidden) else { return }
        hasChanges = true
        recordChange(key, changesSet: true)
        sealed[hidden] = nil
        try Quarantine.keep(old, of: hidden, in: records)
        try records.remove(hidden, old)
    }

    /// Records a change of an account, or of the set of mechanisms.
    private func recordChange(_ key: RecordKey, changesSet: Bool) {
        if key.kind == .account || key.kind == .mechanism && changesSet { changesAccounts = true }
    }
}

extension SealedWriter: LookupWriter {
    func accountsState() throws(StoreError) -> AccountsState? { header.records.map { AccountsState(header, $0) } }

    func nextAccountsState() throws(StoreError) -> AccountsState {
        changesAccounts = true
        return AccountsState(version: (header.records?.accountsVersion ?? 0) + 1, keyID: header.keyID)
    }

    func mark(of key: RecordKey) throws(StoreError) -> [UInt8]? {
        let hidden = keys.hiddenName(key)
        if let known = sealed[hidden] { return Array(VaultKeys.nonce(of: known.beginning)) }
        return try records.record(hidden).map { Array(VaultKeys.nonce(of: $0)) }
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
    func open(_ sealed: [UInt8], _ hidden: RecordKey, _ keys: VaultKeys) throws(StoreError) -> [UInt8] {
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

    /// Returns the format of a sealed record; nil for bytes that are not one.
    static func format(of sealed: [UInt8]) -> Int? {
        sealed.count > 2 && sealed.starts(with: mark) ? Int(sealed[2]) : nil
    }
}
