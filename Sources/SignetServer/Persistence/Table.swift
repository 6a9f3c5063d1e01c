import Crypto
import Foundation
import SignetCore
import SignetStorage

/// A key whose value identifies a row.
protocol RowName {
    /// The name of the row. Different values have different names.
    var rowName: String { get }
}

extension String: RowName {
    var rowName: String { self }
}

extension TokenHash: RowName {
    var rowName: String { text }
}

extension UserKey: RowName {
    var rowName: String {
        let path = realm.description
        return String(path.utf8.count) + " " + path + name
    }
}

/// A table of values by key, in the view of one transaction (``RowCache``).
///
/// A value can have an expiry, after which it is absent.
struct Table<Key: RowName, Value: RowValue> {
    private let kind: RowKind
    private let transaction: RowCache

    init(_ kind: RowKind, _ transaction: RowCache) {
        assert(kind.valueType == Value.self, "rows of the kind \(kind) hold something else")
        self.kind = kind
        self.transaction = transaction
    }

    // Reads throw the error of a row that cannot be read, or of the store. An absent value is nil.

    /// A value; nil when it is absent.
    subscript(key: Key) -> Value? {
        get throws(StoreError) { try present(key)?.value }
    }

    /// Inserts a value, or replaces the one with the same key.
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - group: The group through which the value can be found together with others.
    ///   - end: The expiry; nil for no expiry.
    mutating func insert(_ value: Value, for key: Key, group: String = "", until end: Date? = nil) {
        transaction.put(value, rowKey(key), group: Self.bounded(group), until: end?.rowTime ?? StoredRow.never)
    }

    /// Inserts a value as ``insert(_:for:group:until:)`` does, but never shortens the expiry of a value with the same key.
    mutating func extend(_ value: Value, for key: Key, group: String = "", until end: Date) throws(StoreError) {
        let present = try present(key)
        transaction.put(
            value, rowKey(key), group: Self.bounded(group), until: max(end.rowTime, present?.expiresAt ?? end.rowTime))
    }

    /// Changes a value in place; it keeps its group and its expiry.
    ///
    /// The result is nil when the value does not exist.
    @discardableResult
    mutating func update<R>(_ key: Key, _ change: (inout Value) -> R) throws(StoreError) -> R? {
        guard var value = try self[key] else { return nil }
        defer { transaction.replace(value, rowKey(key)) }
        return change(&value)
    }

    /// Removes a value and returns it.
    ///
    /// A value that cannot be read is not removed.
    @discardableResult
    mutating func remove(_ key: Key) throws(StoreError) -> Value? {
        guard let value = try self[key] else { return nil }
        transaction.put(nil, rowKey(key))
        return value
    }

    /// Removes a value, even one that cannot be read.
    mutating func discard(_ key: Key) { transaction.put(nil, rowKey(key)) }

    /// Returns true when the row exists but cannot be read.
    func isUnreadable(_ key: Key) throws(StoreError) -> Bool { try transaction.isUnreadable(rowKey(key), Value.self) }

    /// Removes a value if it cannot be read.
    ///
    /// It returns false when the value can be read or does not exist.
    mutating func discardUnreadable(_ key: Key) throws(StoreError) -> Bool {
        guard try isUnreadable(key) else { return false }
        discard(key)
        return true
    }

    /// Returns true when a new value would displace another one.
    func isFull() throws(StoreError) -> Bool { try transaction.isFull(kind) }

    // MARK: Several rows

    /// The maximum number of rows of a group that are read.
    static var maxGroupSize: Int { 1000 }

    // In these methods, a row that cannot be read is skipped and reported.

    /// Returns the values of those keys that exist.
    func values(for keys: [Key]) throws(StoreError) -> [Value] {
        try keys.map { (key) throws(StoreError) in try transaction.readable(rowKey(key)) }.compactMap(\.self)
    }

    /// Removes the values of a group, at most ``maxGroupSize``, including those that cannot be read, and returns their number.
    mutating func discard(group: String) throws(StoreError) -> Int { try discard(.group(Self.bounded(group))) }

    /// Removes the values with the latest expiry as ``discard(group:)`` does.
    ///
    /// Values without an expiry are not removed.
    mutating func discardNewest() throws(StoreError) -> Int { try discard(.newest) }

    private mutating func discard(_ selection: RowSelection) throws(StoreError) -> Int {
        let names = try transaction.names(kind, selection, limit: Self.maxGroupSize)
        for name in names { transaction.put(nil, RowKey(kind, name)) }
        return names.count
    }

    /// Removes the values of a group as ``discard(group:)`` does, or those with the latest expiry when `group` is nil.
    ///
    /// Returns the names of their rows, each with the value, which is nil when it cannot be read.
    mutating func take(group: String?) throws(StoreError) -> [(name: String, value: Value?)] {
        let selection = group.map { RowSelection.group(Self.bounded($0)) } ?? .newest
        var taken: [(name: String, value: Value?)] = []
        for name in try transaction.names(kind, selection, limit: Self.maxGroupSize) {
            let key = RowKey(kind, name)
            let value: Value? = try transaction.readable(key)
            transaction.put(nil, key)
            taken.append((name, value))
        }
        return taken
    }

    /// Returns the values of a group.
    func group(_ group: String) throws(StoreError) -> [Value] { try members(of: group).map(\.value) }

    /// Returns the values of a group with the names of their rows.
    func members(of group: String) throws(StoreError) -> [(name: String, value: Value)] {
        try transaction.rows(kind, .group(Self.bounded(group)), limit: Self.maxGroupSize)
    }

    /// Returns the values with the latest expiry, the latest first, with the names of their rows.
    func newest(_ limit: Int) throws(StoreError) -> [(name: String, value: Value)] {
        try transaction.rows(kind, .newest, limit: limit)
    }

    /// Returns a fact of each of the values that ``newest(_:)`` returns, without decoding those that ``RowFacts`` knows.
    func newestFacts<Fact: Sendable>(
        _ limit: Int, _ memory: RowFacts<Fact>, _ fact: (Value) -> Fact
    ) throws(StoreError) -> [Fact] {
        try transaction.newestFacts(kind, limit: limit, memory, fact)
    }

    /// Returns the values after a name, ordered by name.
    func page(after name: String?, _ limit: Int) throws(StoreError) -> [(name: String, value: Value)] {
        try transaction.rows(kind, .after(name), limit: limit)
    }

    /// Returns the number of values.
    ///
    /// It stops counting at `limit`, and does not include the changes of this batch.
    func count(limit: Int) throws(StoreError) -> Int { try transaction.count(kind, limit: limit) }

    private func present(_ key: Key) throws(StoreError) -> RowCache.Present<Value>? { try transaction.value(rowKey(key)) }

    private func rowKey(_ key: Key) -> RowKey { RowKey(kind, Self.bounded(key.rowName)) }

    /// Returns a name that fits into an index.
    ///
    /// A name that is too long or contains control characters is replaced by its digest.
    private static func bounded(_ name: String) -> String {
        guard name.utf8.count > 500 || name.utf8.contains(where: { $0 < 0x20 }) else { return name }
        return "\u{1}\(Base64.encode(Array(SHA256.hash(data: Array(name.utf8))), as: .url))"
    }
}
