import Crypto
import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What rows are named by.
protocol RowName {
    /// Different for different values.
    var rowName: String { get }
}

extension String: RowName {
    var rowName: String { self }
}

extension TokenHash: RowName {
    var rowName: String { text }
}

extension UserKey: RowName {
    var rowName: String { "\(realm.description.utf8.count) \(realm)\(name)" }
}

/// Values by key, as one transaction sees them (``RowCache``). Each has a moment from which on it is no longer there, or none.
struct Table<Key: RowName, Value: RowValue> {
    private let kind: String
    private let transaction: RowCache

    init(_ kind: TableKind, _ transaction: RowCache) {
        assert(kind.value == Value.self, "rows of the kind \(kind.name) hold something else")
        self.kind = kind.name
        self.transaction = transaction
    }

    func value(for key: Key, at now: Date) -> Value? {
        (transaction.value(rowKey(key), at: now) as (value: Value, expiresAt: Int64)?)?.value
    }

    /// - Parameters:
    ///   - group: what it is found by together with others.
    ///   - end: when it is forgotten; nil for never.
    mutating func insert(_ value: Value, for key: Key, group: String = "", until end: Date?) {
        transaction.put(value, rowKey(key), group: Self.bounded(group), until: end?.rowTime ?? StoredRow.never)
    }

    /// As ``insert(_:for:group:until:)``, but what is there is never forgotten earlier than it would have been.
    mutating func extend(_ value: Value, for key: Key, until end: Date, at now: Date) {
        let present = transaction.value(rowKey(key), at: now) as (value: Value, expiresAt: Int64)?
        transaction.put(value, rowKey(key), until: max(end.rowTime, present?.expiresAt ?? end.rowTime))
    }

    /// Changes a value in place, one that is in no group. Nil when it is not there.
    mutating func update<R>(_ key: Key, at now: Date, _ change: (inout Value) -> R) -> R? {
        guard let present = transaction.value(rowKey(key), at: now) as (value: Value, expiresAt: Int64)? else { return nil }
        var value = present.value
        defer { transaction.put(value, rowKey(key), until: present.expiresAt) }
        return change(&value)
    }

    /// Takes a value out that somebody wants to have: one that cannot be read stays.
    @discardableResult
    mutating func remove(_ key: Key, at now: Date) -> Value? {
        guard let value = value(for: key, at: now) else { return nil }
        transaction.put(nil, rowKey(key))
        return value
    }

    /// Takes out what is there, also what cannot be read.
    mutating func discard(_ key: Key) { transaction.put(nil, rowKey(key)) }

    /// Whether there is something that cannot be read.
    func isBroken(_ key: Key) -> Bool { transaction.isBroken(rowKey(key), Value.self) }

    /// Takes out what is there if it cannot be read. False when there is nothing of the kind.
    mutating func discardBroken(_ key: Key) -> Bool {
        guard isBroken(key) else { return false }
        discard(key)
        return true
    }

    /// Whether a new value would push another one out.
    func isFull(at now: Date) -> Bool { transaction.isFull(kind, at: now) }

    /// A value that is never forgotten.
    subscript(key: Key) -> Value? {
        get { value(for: key, at: .distantPast) }
        set { transaction.put(newValue, rowKey(key)) }
    }

    // MARK: Several

    /// The most rows of a group that are read.
    static var largestGroup: Int { 1000 }

    // One that cannot be read is passed over, and reported.

    /// Those of these that are there.
    func values(for keys: [Key], at now: Date) -> [Value] { keys.compactMap { transaction.readable(rowKey($0), at: now) } }

    /// Takes out all of a group, at most ``largestGroup``, also what cannot be read, and says how many there were.
    mutating func discard(group: String, at now: Date) -> Int { discard(.group(Self.bounded(group)), at: now) }

    /// As ``discard(group:at:)``, of all that are not there for ever.
    mutating func discardNewest(at now: Date) -> Int { discard(.newest, at: now) }

    private mutating func discard(_ selection: RowSelection, at now: Date) -> Int {
        let names = transaction.names(kind, selection, at: now, limit: Self.largestGroup)
        for name in names { transaction.put(nil, RowKey(kind: kind, name: name)) }
        return names.count
    }

    /// All of a group.
    func group(_ group: String, at now: Date) -> [Value] { members(of: group, at: now).map(\.value) }

    /// All of a group, each with the name of its row.
    func members(of group: String, at now: Date) -> [(name: String, value: Value)] {
        rows(.group(Self.bounded(group)), at: now, limit: Self.largestGroup)
    }

    /// Those that are forgotten last, the last one first, each with the name of its row.
    func newest(_ limit: Int, at now: Date) -> [(name: String, value: Value)] { rows(.newest, at: now, limit: limit) }

    /// Those after a name, in the order of names.
    func page(after name: String?, _ limit: Int, at now: Date) -> [(name: String, value: Value)] {
        rows(.after(name), at: now, limit: limit)
    }

    /// How many there are; counting ends at `limit`. What this batch has changed is not counted.
    func count(at now: Date, limit: Int) -> Int { transaction.count(kind, at: now, limit: limit) }

    private func rows(_ selection: RowSelection, at now: Date, limit: Int) -> [(name: String, value: Value)] {
        (transaction.rows(kind, selection, at: now, limit: limit) as [(String, Value)]).map { (name: $0, value: $1) }
    }

    private func rowKey(_ key: Key) -> RowKey { RowKey(kind: kind, name: Self.bounded(key.rowName)) }

    /// A name that an index does not take, as it is too long or has a NUL, stands there as its digest.
    private static func bounded(_ name: String) -> String {
        guard name.utf8.count > 500 || name.utf8.contains(where: { $0 < 0x20 }) else { return name }
        return "\u{1}\(Base64.encode(Array(SHA256.hash(data: Array(name.utf8))), as: .url))"
    }
}
