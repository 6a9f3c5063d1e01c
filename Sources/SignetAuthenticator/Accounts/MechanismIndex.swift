import SignetCore
import SignetStorage

/// Which mechanisms an account has: a record `{"mechanisms": [uid, …]}` for each account. What it names and is not there, or
/// is another account's, does not count.
struct MechanismIndex {
    let records: any RecordWriter
    let reader: any RecordBackedReader

    /// The ids; nil when there is no index that can be read.
    static func uids(of account: AccountID, in reader: any RecordReader) throws(StoreError) -> [String]? {
        let bytes = try unlessDamaged { () throws(StoreError) in try reader.record(.mechanismIndex(account)) }
        guard let bytes, let elements = (try? JSON.value(of: bytes))?["mechanisms"]?.array else { return nil }
        let uids = elements.compactMap(\.string)
        return uids.count == elements.count ? uids : nil
    }

    /// The ids, from the index, or from all mechanisms.
    func uids(of account: AccountID) throws(StoreError) -> [String] {
        if let uids = try Self.uids(of: account, in: records) { return uids }
        return try reader.mechanisms(of: account).map(\.uid)
    }

    /// Begins the index of an account that is new.
    func begin(_ account: AccountID) throws(StoreError) {
        if try Self.uids(of: account, in: records) == nil { try put([], account) }
    }

    func add(_ uid: String, to account: AccountID) throws(StoreError) {
        let indexed = try Self.uids(of: account, in: records)
        if let indexed, indexed.contains(uid) { return }
        var uids = try uids(of: account)
        if !uids.contains(uid) { uids.append(uid) }
        try put(uids, account)
    }

    func remove(_ uid: String, from account: AccountID) throws(StoreError) {
        try put(uids(of: account).filter { $0 != uid }, account)
    }

    func end(_ account: AccountID) throws(StoreError) { try records.remove(.mechanismIndex(account)) }

    private func put(_ uids: [String], _ account: AccountID) throws(StoreError) {
        try records.put(JSON.encode(.object(["mechanisms": .array(uids.map { .string($0) })])), .mechanismIndex(account))
    }
}
