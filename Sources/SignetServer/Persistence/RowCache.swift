import Foundation
import SignetCore
import SignetStorage

/// The rows that the transactions of one batch have read and changed.
///
/// Tables are views of it. A row is read when it is first requested, remains here for the rest of the batch, and is written at
/// its end if it was changed.
///
/// A row that is absent or has expired is nil. A row that cannot be read is an error, so that no transaction decides as if it were
/// absent. A transaction that throws the error is rolled back.
///
/// When several rows are requested together, one that cannot be read does not affect the others: it is skipped and reported
/// (``UnreadableRows``). A row can be removed without being read.
final class RowCache {
    private struct Slot {
        /// The value; nil for a row that does not exist.
        var value: (any RowValue)?
        var group = ""
        var expiresAt = StoredRow.never
        var isChanged = false
    }

    /// A row that exists and has not expired.
    struct Present<Value: RowValue> {
        let value: Value
        let expiresAt: Int64
    }

    private let reader: any RowReader
    private let coder: RowCoder
    private var slots: [RowKey: Slot] = [:]
    /// The slots that the current transaction has replaced.
    private var past: [(key: RowKey, slot: Slot?)] = []
    private let isExclusive: Bool
    private let unreadableRows: UnreadableRows
    private let recentRows: RecentRows?
    private let sealsLater: Bool
    let passwords: PasswordMemory
    let grantTimes: RowFacts<GrantTimes>

    /// The time of the current transaction.
    ///
    /// Rows that have expired by then are absent.
    var now = Date.distantPast
    /// True when every row that cannot be read is skipped, even one that is requested by its name.
    ///
    /// It is for overviews, which change no rows.
    var skipsUnreadableRows = false
    /// True when the changes of the current transaction need not survive a failure of the power
    /// (``ServerTransaction/allowLossInPowerFailure()``).
    var mayBeLost = false

    /// Creates an empty cache.
    /// - Parameters:
    ///   - reader: The reader of the stored rows.
    ///   - coder: The coder of the rows.
    ///   - passwords: The cache of password checks.
    ///   - grantTimes: The expiries of tokens that were counted.
    ///   - unreadableRows: The list of rows that could not be read.
    ///   - recentRows: The values of rows that need not be read; nil when other processes also write rows.
    ///   - sealsLater: True when the store seals rows itself that the next request of a login replaces.
    ///   - isExclusive: True to run slow computations immediately, because other transactions do not wait behind this one.
    init(
        _ reader: any RowReader, _ coder: RowCoder, _ passwords: PasswordMemory,
        grantTimes: RowFacts<GrantTimes> = RowFacts(), unreadableRows: UnreadableRows = UnreadableRows(),
        recentRows: RecentRows? = nil, sealsLater: Bool = false, isExclusive: Bool = false
    ) {
        self.reader = reader
        self.coder = coder
        self.unreadableRows = unreadableRows
        self.recentRows = recentRows
        self.sealsLater = sealsLater
        self.passwords = passwords
        self.grantTimes = grantTimes
        self.isExclusive = isExclusive
    }

    // MARK: Transactions

    /// Begins a transaction.
    ///
    /// It sees the changes of the earlier transactions of the batch.
    func begin() {
        past = []
        skipsUnreadableRows = false
        mayBeLost = false
        now = .distantPast
    }

    /// True when the changes of the current transaction must survive a failure of the power.
    ///
    /// A transaction that ``mayBeLost`` must, nevertheless, when it has changed more than the rows of a login that begins.
    var needsDurability: Bool {
        past.contains { !mayBeLost || !$0.key.isOfBeginningLogin }
    }

    /// Reverts the changes of the current transaction.
    func revert() {
        for (key, slot) in past.reversed() { slots[key] = slot }
        past = []
    }

    /// Returns all changed rows in the form in which they are written.
    func changes() throws(StoreError) -> [RowKey: StoredRow?] {
        var changes: [RowKey: StoredRow?] = [:]
        for (key, slot) in slots where slot.isChanged {
            guard let value = slot.value else {
                changes[key] = .some(nil)
                continue
            }
            let row: StoredRow
            if sealsLater, RowKind.readByNextRequest.contains(key.kind) {
                row = StoredRow(group: slot.group, expiresAt: slot.expiresAt, UnsealedRow(value, coder, key))
            } else {
                row = StoredRow(group: slot.group, expiresAt: slot.expiresAt, bytes: try coder.bytes(of: value, for: key))
            }
            changes[key] = .some(row)
        }
        return changes
    }

    /// The changed rows with their values, for ``RecentRows``.
    var changedValues: [RecentRows.Change] {
        slots.compactMap { key, slot in
            guard slot.isChanged else { return nil }
            let entry = slot.value.map { RecentRows.Entry(value: $0, group: slot.group, expiresAt: slot.expiresAt) }
            return RecentRows.Change(key: key, entry: entry)
        }
    }

    // MARK: Rows

    /// Returns a row's value and expiry; nil when the row does not exist or has expired.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func value<Value: RowValue>(_ key: RowKey) throws(StoreError) -> Present<Value>? {
        let slot = try slot(key, Value.self)
        guard now.rowTime < slot.expiresAt, let value = slot.value as? Value else { return nil }
        return Present(value: value, expiresAt: slot.expiresAt)
    }

    /// Returns a row's value as ``value(_:)`` does, for one of several rows.
    ///
    /// A row that cannot be read is skipped.
    /// - Throws: The error of the store.
    func readable<Value: RowValue>(_ key: RowKey) throws(StoreError) -> Value? {
        let skipsUnreadableRows = skipsUnreadableRows
        self.skipsUnreadableRows = true
        defer { self.skipsUnreadableRows = skipsUnreadableRows }
        return (try value(key) as Present<Value>?)?.value
    }

    /// Returns true when the row exists but cannot be read.
    /// - Throws: The error of the store.
    func isUnreadable<Value: RowValue>(_ key: RowKey, _: Value.Type) throws(StoreError) -> Bool {
        guard slots[key] == nil else { return false }
        do throws(StoreError) {
            _ = try read(key, Value.self)
            return false
        } catch {
            guard error.isRecordScoped else { throw error }
            return true
        }
    }

    func put(_ value: (any RowValue)?, _ key: RowKey, group: String = "", until end: Int64 = StoredRow.never) {
        past.append((key, slots[key]))
        slots[key] = Slot(value: value, group: group, expiresAt: end, isChanged: true)
    }

    /// Replaces the value of a row that was read; the row keeps its group and its expiry.
    func replace(_ value: any RowValue, _ key: RowKey) {
        guard let slot = slots[key] else { return }
        put(value, key, group: slot.group, until: slot.expiresAt)
    }

    func isFull(_ kind: RowKind) throws(StoreError) -> Bool { try reader.isFull(kind.rawValue, at: now.rowTime) }

    func count(_ kind: RowKind, limit: Int) throws(StoreError) -> Int {
        try reader.count(kind.rawValue, at: now.rowTime, limit: limit)
    }

    /// Returns the names of the rows of a kind, including rows that cannot be read.
    /// - Throws: The error of the store.
    func names(_ kind: RowKind, _ selection: RowSelection, limit: Int) throws(StoreError) -> [String] {
        let changed = slots.filter { $0.key.kind == kind.rawValue && $0.value.isChanged }
        let stored = try reader.rows(kind.rawValue, selection, at: now.rowTime, limit: limit + changed.count)
        let unchanged = stored.map(\.name).filter { changed[RowKey(kind, $0)] == nil }
        let put = changed.filter { key, slot in
            now.rowTime < slot.expiresAt && slot.value != nil && selection.includes(key.name, slot.group, slot.expiresAt)
        }
        return Array((unchanged + put.keys.map(\.name)).prefix(limit))
    }

    /// Returns the rows of a kind, including the changes of this batch.
    /// - Throws: The error of the store.
    func rows<Value: RowValue>(
        _ kind: RowKind, _ selection: RowSelection, limit: Int
    ) throws(StoreError) -> [(name: String, value: Value)] {
        try rows(kind, selection, limit: limit) { (key, row) throws(StoreError) in
            try coder.value(Value.self, of: row.bytes, for: key)
        } of: { (value: Value) in
            value
        }
    }

    /// Returns a fact of each of the rows that ``rows(_:_:limit:)`` returns for ``RowSelection/newest``.
    ///
    /// Only the rows that have changed since the last call with the same memory are decrypted and decoded.
    /// - Parameters:
    ///   - kind: The kind of the rows.
    ///   - limit: The maximum number of rows.
    ///   - memory: The facts of the last call, which are replaced.
    ///   - fact: Returns the fact of a value.
    /// - Returns: The facts, in the order of the rows.
    /// - Throws: The error of the store.
    func newestFacts<Value: RowValue, Fact: Sendable>(
        _ kind: RowKind, limit: Int, _ memory: RowFacts<Fact>, _ fact: (Value) -> Fact
    ) throws(StoreError) -> [Fact] {
        let known = memory.entries
        var read: [RowKey: RowFacts<Fact>.Entry] = [:]
        let facts = try rows(kind, .newest, limit: limit) { (key, row) throws(StoreError) in
            let digest = RowFacts<Fact>.digest(of: row.bytes)
            if let entry = known[key], entry.digest == digest {
                read[key] = entry
                return entry.fact
            }
            let found = fact(try coder.value(Value.self, of: row.bytes, for: key))
            read[key] = RowFacts.Entry(digest: digest, fact: found)
            return found
        } of: { (value: Value) in
            fact(value)
        }
        memory.replace(with: read)
        return facts.map(\.value)
    }

    /// Returns a result for each row of a kind, including the changes of this batch.
    /// - Parameters:
    ///   - kind: The kind of the rows.
    ///   - selection: The selection among them.
    ///   - limit: The maximum number of rows.
    ///   - read: Returns the result for a stored row. A row for which it throws an error is skipped and reported.
    ///   - result: Returns the result for a value that this batch has written.
    /// - Returns: The names of the rows with the results.
    /// - Throws: The error of the store.
    private func rows<Value: RowValue, Found>(
        _ kind: RowKind, _ selection: RowSelection, limit: Int, _ read: (RowKey, StoredRow) throws(StoreError) -> Found,
        of result: (Value) -> Found
    ) throws(StoreError) -> [(name: String, value: Found)] {
        let changed = slots.filter { $0.key.kind == kind.rawValue && $0.value.isChanged }
        let stored = try reader.rows(kind.rawValue, selection, at: now.rowTime, limit: limit + changed.count)
        var found: [(name: String, expiresAt: Int64, value: Found)] = []
        for row in stored where changed[RowKey(kind, row.name)] == nil {
            let key = RowKey(kind, row.name)
            do throws(StoreError) {
                found.append((row.name, row.row.expiresAt, try read(key, row.row)))
            } catch {
                unreadableRows.report(key, error)
            }
        }
        for (key, slot) in changed where now.rowTime < slot.expiresAt {
            guard let value = slot.value as? Value, selection.includes(key.name, slot.group, slot.expiresAt) else { continue }
            found.append((key.name, slot.expiresAt, result(value)))
        }
        if selection == .newest {
            found.sort { ($0.expiresAt, $0.name) > ($1.expiresAt, $1.name) }
        } else {
            found.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return found.prefix(limit).map { ($0.name, $0.value) }
    }

    private func slot<Value: RowValue>(_ key: RowKey, _ type: Value.Type) throws(StoreError) -> Slot {
        if let slot = slots[key] { return slot }
        do throws(StoreError) {
            let slot = try read(key, type)
            slots[key] = slot
            return slot
        } catch {
            guard error.isRecordScoped else { throw error }
            unreadableRows.report(key, error)
            guard skipsUnreadableRows else { throw error }
            return Slot()
        }
    }

    private func read<Value: RowValue>(_ key: RowKey, _: Value.Type) throws(StoreError) -> Slot {
        if let recent = recentRows?[key] {
            return Slot(value: recent.value, group: recent.group, expiresAt: recent.expiresAt)
        }
        if recentRows?.isAbsent(key) == true { return Slot() }
        guard let row = try reader.row(key) else {
            recentRows?.keepAbsent(key)
            return Slot()
        }
        return Slot(value: try coder.value(Value.self, of: row.bytes, for: key), group: row.group, expiresAt: row.expiresAt)
    }

    // MARK: Passwords

    /// Returns true when the password matches the hash.
    /// - Throws: ``PasswordMemory/Work`` when the result is not in the cache. The transaction runs again after its computation.
    func accepts(_ password: Secret, _ hash: PasswordHash) throws -> Bool {
        try result(of: .check(password, hash)) { $0.cachedResult(password, hash) }
    }

    /// Returns a hash of a new password of `owner`.
    /// - Throws: ``PasswordMemory/Work`` when the hash is not in the cache. The transaction runs again after its computation.
    func hash(of password: Secret, for owner: String) throws -> PasswordHash {
        try result(of: .make(password, owner: owner)) { $0.hash(of: password, for: owner) }
    }

    private func result<R>(of work: PasswordMemory.Work, _ known: (PasswordMemory) -> R?) throws -> R {
        if let result = known(passwords) { return result }
        guard isExclusive else { throw work }
        passwords.perform(work)
        guard let result = known(passwords) else { throw StoreError.noMemoryForPasswords }
        return result
    }
}

extension RowSelection {
    fileprivate func includes(_ name: String, _ group: String, _ expiresAt: Int64) -> Bool {
        switch self {
        case .group(let wanted): group == wanted && !group.isEmpty
        case .newest: expiresAt != StoredRow.never
        case .after(let last): last.map { $0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true
        }
    }
}
