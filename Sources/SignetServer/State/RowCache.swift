import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rows that transactions of one batch have read and changed. Tables are views on it: a row is read when it is first asked for,
/// stays here for the batch, and is written at its end if it was changed.
///
/// A read that fails has no way to say so to a rule, which would be full of exits that no rule is about. The rule goes on with what is
/// then not there, and ``failure`` makes sure that nothing of what it concludes counts: neither its changes nor its answer.
///
/// Of rows that are asked for together, one that cannot be read does not hide the others: it is passed over, and reported
/// (``BrokenRows``). To be taken out no row has to be read.
final class RowCache {
    private struct Slot {
        /// Nil for a row that is not there.
        var value: (any RowValue)?
        var group = ""
        var expiresAt = StoredRow.never
        var isChanged = false
    }

    private let reader: any RowReader
    private let coder: RowCoder
    private var slots: [RowKey: Slot] = [:]
    /// What the running transaction has put over.
    private var past: [(key: RowKey, slot: Slot?)] = []
    private let isAlone: Bool
    private let broken: BrokenRows
    let passwords: PasswordMemory

    /// Why what the running transaction concludes does not count.
    private(set) var failure: StoreError?
    /// What has to be worked out elsewhere, because it takes long, before the running transaction can be run again to its end.
    private(set) var work: [PasswordMemory.Work] = []
    /// Whether every row that cannot be read is passed over, also one that is asked for by its name: for overviews, which change nothing.
    var isSurvey = false

    /// - Parameter isAlone: whether long work is done on the spot, since nobody waits behind it.
    init(
        _ reader: any RowReader, _ coder: RowCoder, _ passwords: PasswordMemory, broken: BrokenRows = BrokenRows(),
        isAlone: Bool = false
    ) {
        self.reader = reader
        self.coder = coder
        self.broken = broken
        self.passwords = passwords
        self.isAlone = isAlone
    }

    // MARK: One transaction after the other

    /// Begins a transaction. What the ones before it have changed stays.
    func begin() {
        past = []
        failure = nil
        work = []
        isSurvey = false
    }

    /// Takes back what the running transaction has changed.
    func revert() {
        for (key, slot) in past.reversed() { slots[key] = slot }
        past = []
    }

    /// Everything that was changed, as it is to be written.
    func changes() throws(StoreError) -> [RowKey: StoredRow?] {
        var changes: [RowKey: StoredRow?] = [:]
        for (key, slot) in slots where slot.isChanged {
            if let value = slot.value {
                let bytes = try coder.bytes(of: value, for: key)
                changes[key] = .some(StoredRow(group: slot.group, expiresAt: slot.expiresAt, bytes: bytes))
            } else {
                changes[key] = .some(nil)
            }
        }
        return changes
    }

    // MARK: Rows

    /// A row's value and when it expires; nil when it is not there, or not any more.
    func value<Value: RowValue>(_ key: RowKey, at now: Date) -> (value: Value, expiresAt: Int64)? {
        let slot = slot(key, Value.self)
        guard now.rowTime < slot.expiresAt, let value = slot.value as? Value else { return nil }
        return (value, slot.expiresAt)
    }

    /// As ``value(_:at:)`` for one of several: one that cannot be read is passed over.
    func readable<Value: RowValue>(_ key: RowKey, at now: Date) -> Value? {
        let isSurvey = isSurvey
        self.isSurvey = true
        defer { self.isSurvey = isSurvey }
        return (value(key, at: now) as (value: Value, expiresAt: Int64)?)?.value
    }

    /// Whether there is a row that cannot be read.
    func isBroken<Value: RowValue>(_ key: RowKey, _: Value.Type) -> Bool {
        guard slots[key] == nil else { return false }
        do throws(StoreError) {
            _ = try read(key, Value.self)
            return false
        } catch {
            guard error.isOfOneRow else {
                failure = failure ?? error
                return false
            }
            return true
        }
    }

    func put(_ value: (any RowValue)?, _ key: RowKey, group: String = "", until end: Int64 = StoredRow.never) {
        past.append((key, slots[key]))
        slots[key] = Slot(value: value, group: group, expiresAt: end, isChanged: true)
    }

    func isFull(_ kind: String, at now: Date) -> Bool {
        attempt { () throws(StoreError) in try reader.isFull(kind, at: now.rowTime) } ?? true
    }

    func count(_ kind: String, at now: Date, limit: Int) -> Int {
        attempt { () throws(StoreError) in try reader.count(kind, at: now.rowTime, limit: limit) } ?? 0
    }

    /// The names of rows of a kind, also of those that cannot be read.
    func names(_ kind: String, _ selection: RowSelection, at now: Date, limit: Int) -> [String] {
        let changed = slots.filter { $0.key.kind == kind && $0.value.isChanged }
        let stored = attempt { () throws(StoreError) in
            try reader.rows(kind, selection, at: now.rowTime, limit: limit + changed.count)
        }
        let unchanged = (stored ?? []).map(\.name).filter { changed[RowKey(kind: kind, name: $0)] == nil }
        let put = changed.filter { key, slot in
            now.rowTime < slot.expiresAt && slot.value != nil && selection.includes(key.name, slot.group, slot.expiresAt)
        }
        return Array((unchanged + put.keys.map(\.name)).prefix(limit))
    }

    /// Rows of a kind with what was changed meanwhile.
    func rows<Value: RowValue>(_ kind: String, _ selection: RowSelection, at now: Date, limit: Int) -> [(String, Value)] {
        let changed = slots.filter { $0.key.kind == kind && $0.value.isChanged }
        let stored = attempt { () throws(StoreError) in
            try reader.rows(kind, selection, at: now.rowTime, limit: limit + changed.count)
        }
        var found: [(name: String, expiresAt: Int64, value: Value)] = []
        for row in stored ?? [] where changed[RowKey(kind: kind, name: row.name)] == nil {
            let key = RowKey(kind: kind, name: row.name)
            do throws(StoreError) {
                found.append((row.name, row.row.expiresAt, try coder.value(Value.self, of: row.row.bytes, for: key)))
            } catch {
                broken.report(key, error)
            }
        }
        for (key, slot) in changed where now.rowTime < slot.expiresAt {
            guard let value = slot.value as? Value, selection.includes(key.name, slot.group, slot.expiresAt) else { continue }
            found.append((key.name, slot.expiresAt, value))
        }
        if selection == .newest {
            found.sort { ($0.expiresAt, $0.name) > ($1.expiresAt, $1.name) }
        } else {
            found.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return found.prefix(limit).map { ($0.name, $0.value) }
    }

    private func slot<Value: RowValue>(_ key: RowKey, _ type: Value.Type) -> Slot {
        if let slot = slots[key] { return slot }
        do throws(StoreError) {
            let slot = try read(key, type)
            slots[key] = slot
            return slot
        } catch {
            if error.isOfOneRow { broken.report(key, error) }
            if !(isSurvey && error.isOfOneRow) { failure = failure ?? error }
            return Slot()
        }
    }

    private func read<Value: RowValue>(_ key: RowKey, _: Value.Type) throws(StoreError) -> Slot {
        guard let row = try reader.row(key) else { return Slot() }
        return Slot(value: try coder.value(Value.self, of: row.bytes, for: key), group: row.group, expiresAt: row.expiresAt)
    }

    private func attempt<R>(_ body: () throws(StoreError) -> R) -> R? {
        do throws(StoreError) {
            return try body()
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    // MARK: Passwords

    /// Whether a password has a hash. When that is not known yet, the transaction is run again as soon as it is.
    func accepts(_ password: Secret, _ hash: PasswordHash) -> Bool {
        passwords.verdict(password, hash) ?? answer(to: .check(password, hash)) { $0.verdict(password, hash) } ?? false
    }

    /// A hash for a new password of `owner`; nil while there is none yet, and then the transaction is run again.
    func hash(of password: Secret, for owner: String) -> PasswordHash? {
        passwords.hash(of: password, for: owner)
            ?? answer(to: .make(password, owner: owner)) { $0.hash(of: password, for: owner) }
    }

    private func answer<R>(to question: PasswordMemory.Work, _ body: (PasswordMemory) -> R?) -> R? {
        guard isAlone else {
            work.append(question)
            return nil
        }
        passwords.perform(question)
        let answer = body(passwords)
        if answer == nil { failure = failure ?? .noMemoryForPasswords }
        return answer
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
