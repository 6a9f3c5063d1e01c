package import SignetCore
package import SignetStorage

extension RecordKey {
    /// The record with the ``NameIndex``.
    static let nameIndex = RecordKey(.index, "lookup")
}

extension AccountReader {
    /// Returns the accounts with a name, or a mechanism's ID, that differs from a text at most by case, without reading the others.
    ///
    /// In a vault whose verification is due, the records of these accounts are proved by the index. A counter is not: its record
    /// changes with each code, and reading it verifies the vault.
    /// - Parameter text: The text that the user typed.
    /// - Returns: The accounts with their mechanisms, in no order; nil when only a list of all accounts can tell: without an index,
    ///   with one that is out of date, when a record cannot be read, and for more than 16 accounts.
    /// - Throws: The errors of the store, for a vault also those of its verification.
    package func accounts(
        called text: String
    ) throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])]? {
        guard let reader = self as? any RecordBackedReader, let records = reader.reader as? any LookupReader else { return nil }
        return try NameLookup(records: records, reader: reader).accounts(called: text)
    }
}

/// A search in the index of names.
private struct NameLookup {
    let records: any LookupReader
    let reader: any RecordBackedReader

    private static let limit = 16

    func accounts(called text: String) throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])]? {
        guard let state = try records.accountsState(),
            let bytes = try RecordLookup({ () throws(StoreError) in try records.unverifiedRecord(.nameIndex) }).value,
            let index = NameIndex(bytes), index.state == state,
            let entries = index.entries(called: text, limit: Self.limit)
        else { return nil }
        var found: [(account: Account, mechanisms: [Mechanism])] = []
        for entry in entries {
            guard let account = try account(entry) else { return nil }
            found.append(account)
        }
        return found
    }

    private func account(_ entry: NameIndex.Entry) throws(StoreError) -> (account: Account, mechanisms: [Mechanism])? {
        let id = entry.names.id
        records.trust(.account(id), mark: entry.mark)
        for mechanism in entry.mechanisms {
            if let mark = mechanism.mark { records.trust(.mechanism(mechanism.uid), mark: mark) }
        }
        let account = try RecordLookup { () throws(StoreError) in try reader.account(id) }.value
        guard let account, AccountNames(account) == entry.names else { return nil }
        var mechanisms: [Mechanism] = []
        for named in entry.mechanisms {
            let found = try RecordLookup { () throws(StoreError) in try reader.mechanism(named.uid) }.value
            guard let found, found.account == id else { return nil }
            mechanisms.append(found)
        }
        return (account, mechanisms.sorted(by: Mechanism.isBefore))
    }
}

/// The change of the index of names at the end of a transaction.
struct NameIndexUpdate {
    let records: any LookupWriter
    let reader: any RecordBackedReader

    /// The number of accounts from which an index is made.
    ///
    /// Fewer accounts are listed as quickly as one is found.
    static let minimum = 64

    /// Brings the index up to date.
    ///
    /// A missing index, one that is out of date and one that cannot be read are made again from all accounts.
    /// - Parameter changed: The accounts that were written or removed, or whose mechanisms were.
    /// - Throws: The errors of the store.
    func apply(_ changed: Set<AccountID>) throws(StoreError) {
        switch try stored() {
        case .none: break
        case .outdated: try put(all(records.nextAccountsState()))
        case .current(let index):
            let state = try records.nextAccountsState()
            // An index that was sealed and is malformed was written by a version with a fault.
            guard let updated = index.replacing(try entries(of: changed), state: state) else { return try put(all(state)) }
            try put(updated)
        }
    }

    /// Makes the index again when it is out of date.
    func refresh() throws(StoreError) {
        if case .outdated = try stored() { try put(all(records.nextAccountsState())) }
    }

    private enum Stored {
        /// The vault has few accounts and no index.
        case none
        /// The index is missing, cannot be read, or is from before a change by a program that does not keep it.
        case outdated
        case current(NameIndex)
    }

    private func stored() throws(StoreError) -> Stored {
        let found = try RecordLookup { () throws(StoreError) in try records.record(.nameIndex) }
        if found.isAbsent, try records.records(.account, after: nil, limit: Self.minimum).count < Self.minimum { return .none }
        guard let index = found.value.flatMap(NameIndex.init), index.state == (try records.accountsState()) else {
            return .outdated
        }
        return .current(index)
    }

    private func put(_ index: NameIndex) throws(StoreError) {
        if index.isEmpty { try records.remove(.nameIndex) } else { try records.put(index.bytes, .nameIndex) }
    }

    private func all(_ state: AccountsState) throws(StoreError) -> NameIndex {
        let ids = Set(try reader.accounts().map(\.id))
        return NameIndex(try entries(of: ids).values.compactMap { $0 }, state: state)
    }

    private func entries(of accounts: Set<AccountID>) throws(StoreError) -> [AccountID: NameIndex.Entry?] {
        var entries: [AccountID: NameIndex.Entry?] = [:]
        for id in accounts { entries.updateValue(try entry(id), forKey: id) }
        return entries
    }

    /// Returns the entry of an account; nil when it has no record that can be read.
    private func entry(_ id: AccountID) throws(StoreError) -> NameIndex.Entry? {
        let account = try RecordLookup { () throws(StoreError) in try reader.account(id) }.value
        guard let account, let mark = try records.mark(of: .account(id)) else { return nil }
        let uids =
            if let uids = try MechanismIndex.uids(of: id, in: records) { uids } else { try reader.mechanisms(of: id).map(\.uid) }
        var mechanisms: [NameIndex.MechanismEntry] = []
        for uid in uids {
            switch try RecordLookup({ () throws(StoreError) in try reader.mechanism(uid) }) {
            case .absent: break
            case .found(let mechanism):
                guard mechanism.account == id else { break }
                mechanisms.append(
                    NameIndex.MechanismEntry(uid: uid, mark: mechanism.isCounter ? nil : try records.mark(of: .mechanism(uid))))
            case .unreadable: mechanisms.append(NameIndex.MechanismEntry(uid: uid, mark: nil))
            }
        }
        return NameIndex.Entry(names: AccountNames(account), mark: mark, mechanisms: mechanisms)
    }
}

/// The accounts that a transaction has changed.
final class ChangedAccounts {
    /// The accounts that were written or removed, or whose mechanisms were.
    private(set) var ids: Set<AccountID> = []

    /// Notes a change of an account.
    func insert(_ id: AccountID) { ids.insert(id) }
}

extension Mechanism {
    /// True for a mechanism whose record changes with each code.
    var isCounter: Bool { if case .counter = oath?.factor { true } else { false } }
}
