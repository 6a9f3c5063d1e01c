package import SignetCore
package import SignetStorage

/// The index of the mechanisms of each account: one record `{"mechanisms": [uid, …]}` for each account.
///
/// Readers ignore entries whose mechanism belongs to another account. An entry whose mechanism does not exist shows that its
/// record was lost (`AccountReader.damagedRecords()`). Removing that mechanism removes the entry.
struct MechanismIndex {
    let records: any RecordWriter
    let reader: any RecordBackedReader

    /// Returns the ids in the index record; nil when the record is missing or cannot be read.
    static func uids(of account: AccountID, in reader: any RecordReader) throws(StoreError) -> [String]? {
        let bytes = try RecordLookup { () throws(StoreError) in try reader.record(.mechanismIndex(account)) }.value
        guard let bytes, let elements = (try? JSON.value(of: bytes))?["mechanisms"]?.array else { return nil }
        let uids = elements.compactMap(\.string)
        return uids.count == elements.count ? uids : nil
    }

    /// Returns the ids from the index, or from a scan of all mechanisms when the index cannot be read.
    func uids(of account: AccountID) throws(StoreError) -> [String] {
        if let uids = try Self.uids(of: account, in: records) { return uids }
        return try reader.mechanisms(of: account).map(\.uid)
    }

    /// Creates the empty index of a new account.
    func begin(_ account: AccountID) throws(StoreError) {
        if try Self.uids(of: account, in: records) == nil { try put([], account) }
    }

    /// Adds a mechanism to the index of its account.
    ///
    /// Returns false when it was there.
    func add(_ uid: String, to account: AccountID) throws(StoreError) -> Bool {
        let indexed = try Self.uids(of: account, in: records)
        if let indexed, indexed.contains(uid) { return false }
        let known = if let indexed { indexed } else { try reader.mechanisms(of: account).map(\.uid) }
        try put(known.contains(uid) ? known : known + [uid], account)
        return true
    }

    func remove(_ uid: String, from account: AccountID) throws(StoreError) {
        try put(uids(of: account).filter { $0 != uid }, account)
    }

    func end(_ account: AccountID) throws(StoreError) { try records.remove(.mechanismIndex(account)) }

    private func put(_ uids: [String], _ account: AccountID) throws(StoreError) {
        try records.put(JSON.encode(.object(["mechanisms": .array(uids.map { .string($0) })])), .mechanismIndex(account))
    }
}

extension AccountReader {
    /// Returns the ids in the index of an account's mechanisms; nil when the index is missing or cannot be read.
    package func indexedMechanisms(of account: AccountID) throws(StoreError) -> [String]? {
        guard let records = self as? any RecordBackedReader else { return nil }
        return try MechanismIndex.uids(of: account, in: records.reader)
    }
}
