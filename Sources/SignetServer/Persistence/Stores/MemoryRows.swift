import SignetCore
import SignetStorage

/// Rows in memory, which are lost when the process ends.
///
/// The number of rows of a kind never exceeds its capacity: when the kind is full, the tenth of its rows that would expire first
/// is removed. At most ``maxUnsealed`` rows are values that are not sealed yet, because these need more memory.
final class MemoryRows: RowStore {
    fileprivate struct RowTable: Sendable {
        var rows: [String: StoredRow] = [:]
        var groups: [String: Set<String>] = [:]
        var nextSweep = firstSweep
        let capacity: Int

        static var firstSweep: Int { 64 }
    }

    private let tables = Mutex<[String: RowTable]>([:])
    private let capacities: [String: Int]
    private let onDisplacement: @Sendable (_ kind: String, _ count: Int) -> Void
    /// Serializes the transactions.
    private let turn = Mutex(())
    private let displaced = Mutex(0)
    private let unsealed = Mutex(UnsealedRows())

    /// The maximum number of rows that are not sealed yet.
    static let maxUnsealed = 1000

    /// The rows that were written last without being sealed, the oldest first.
    private struct UnsealedRows: Sendable {
        private var rows: [UnsealedRow] = []
        private var first = 0

        /// Adds a row, and returns the row to seal for it; nil while there is room.
        mutating func add(_ row: UnsealedRow) -> UnsealedRow? {
            rows.append(row)
            guard rows.count - first > MemoryRows.maxUnsealed else { return nil }
            defer { first += 1 }
            if first >= MemoryRows.maxUnsealed {
                rows.removeFirst(first)
                first = 0
            }
            return rows[first]
        }
    }

    /// Creates an empty store.
    /// - Parameters:
    ///   - capacities: The maximum number of rows by kind. A kind that is missing has no limit.
    ///   - onDisplacement: A function that is called with the kind and the number of rows that a transaction has removed because
    ///     the kind was full.
    init(
        capacities: [String: Int] = [:],
        onDisplacement: @escaping @Sendable (_ kind: String, _ count: Int) -> Void = { _, _ in }
    ) {
        (self.capacities, self.onDisplacement) = (capacities, onDisplacement)
    }

    func transact<R>(
        _ body: (any RowReader) throws(StoreError) -> (R, RowChanges)
    ) throws(StoreError) -> R {
        try turn.withLock { _ throws(StoreError) -> R in
            let (value, changes) = try body(self)
            for (kind, count) in apply(changes) {
                displaced.withLock { $0 += count }
                onDisplacement(kind, count)
            }
            return value
        }
    }

    /// Applies changes, and returns the numbers of the rows that they displaced, by kind.
    private func apply(_ changes: RowChanges) -> [String: Int] {
        tables.withLock { tables in
            var displaced: [String: Int] = [:]
            for (key, row) in changes.rows {
                let capacity = capacities[key.kind] ?? .max
                let count = tables[key.kind, default: RowTable(capacity: capacity)].put(row, key.name, at: changes.now)
                if count > 0 { displaced[key.kind, default: 0] += count }
                if let added = row?.unsealed { unsealed.withLock { $0.add(added) }?.seal() }
            }
            return displaced
        }
    }

    func close() {}

    var displacements: Int? { displaced.withLock { $0 } }
    var isImmediate: Bool { true }
}

extension MemoryRows: RowReader {
    func row(_ key: RowKey) throws(StoreError) -> StoredRow? {
        tables.withLock { $0[key.kind]?.rows[key.name] }
    }

    func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow] {
        guard let table = tables.withLock({ $0[kind] }) else { return [] }
        switch selection {
        case .group(let group):
            let names = table.groups[group, default: []].sorted()
            return Array(names.lazy.compactMap { table.named($0, at: now) }.prefix(limit))
        case .newest:
            let named = table.rows.keys.compactMap { table.named($0, at: now) }.filter { $0.row.expiresAt != StoredRow.never }
            return Array(named.sorted { ($0.row.expiresAt, $0.name) > ($1.row.expiresAt, $1.name) }.prefix(limit))
        case .after(let name):
            return table.names(after: name, at: now, limit: limit).compactMap { table.named($0, at: now) }
        }
    }

    func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int {
        tables.withLock { $0[kind] }.map { table in min(limit, table.rows.values.count { now < $0.expiresAt }) } ?? 0
    }

    func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool {
        tables.withLock { $0[kind]?.isFull(at: now) } ?? false
    }
}

extension MemoryRows.RowTable {
    fileprivate func isFull(at now: Int64) -> Bool {
        rows.count >= capacity && rows.values.count { now < $0.expiresAt } >= capacity
    }

    fileprivate func named(_ name: String, at now: Int64) -> NamedRow? {
        rows[name].flatMap { now < $0.expiresAt ? NamedRow(name: name, row: $0) : nil }
    }

    /// Returns the first names after a name, in order.
    ///
    /// It sorts only the names that can be among the first, because a kind can have many rows.
    fileprivate func names(after name: String?, at now: Int64, limit: Int) -> [String] {
        var names: [String] = []
        var bound: String?
        for (candidate, row) in rows where now < row.expiresAt {
            if let name, !candidate.utf8.isAfter(name) { continue }
            if let bound, candidate.utf8.isAfter(bound) { continue }
            names.append(candidate)
            if names.count / 2 >= limit {
                names = Self.first(limit, of: names)
                bound = names.last
            }
        }
        return Self.first(limit, of: names)
    }

    private static func first(_ limit: Int, of names: [String]) -> [String] {
        Array(names.sorted { $1.utf8.isAfter($0) }.prefix(limit))
    }

    /// Stores or removes a row, and returns the number of other rows that it displaced.
    fileprivate mutating func put(_ row: StoredRow?, _ name: String, at now: Int64) -> Int {
        guard let row else {
            remove(name)
            return 0
        }
        var displaced = 0
        if rows[name] == nil, rows.count >= min(nextSweep, capacity) { displaced = makeRoom(at: now) }
        remove(name)
        rows[name] = row
        if !row.group.isEmpty { groups[row.group, default: []].insert(name) }
        return displaced
    }

    private mutating func remove(_ name: String) {
        guard let old = rows.removeValue(forKey: name) else { return }
        old.unsealed?.drop()
        guard !old.group.isEmpty else { return }
        groups[old.group]?.remove(name)
        if groups[old.group]?.isEmpty == true { groups[old.group] = nil }
    }

    /// Removes the expired rows, and a tenth of the others when the kind is full; returns the number of the others.
    private mutating func makeRoom(at now: Int64) -> Int {
        for (name, row) in rows where row.expiresAt <= now { remove(name) }
        var displaced = 0
        if rows.count >= capacity {
            let oldest = rows.sorted { $0.value.expiresAt < $1.value.expiresAt }.prefix(max(1, capacity / 10))
            for (name, _) in oldest { remove(name) }
            displaced = oldest.count
        }
        nextSweep = max(Self.firstSweep, rows.count * 2)
        return displaced
    }
}

extension String.UTF8View {
    /// Compares by bytes, which is the order that every engine uses.
    fileprivate func isAfter(_ other: String) -> Bool { other.utf8.lexicographicallyPrecedes(self) }
}
