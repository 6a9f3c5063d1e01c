import SignetCore
import SignetStorage

/// Rows in memory, which are lost when the process ends.
///
/// The number of rows of a kind never exceeds its capacity: when the kind is full, the tenth of its rows that would expire first
/// is removed.
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
    /// Serializes the transactions.
    private let turn = Mutex(())

    /// Creates an empty store.
    /// - Parameter capacities: The maximum number of rows by kind. A kind that is missing has no limit.
    init(capacities: [String: Int] = [:]) {
        self.capacities = capacities
    }

    func transact<R>(
        _ body: (any RowReader) throws(StoreError) -> (R, RowChanges)
    ) throws(StoreError) -> R {
        try turn.withLock { _ throws(StoreError) -> R in
            let (value, changes) = try body(self)
            tables.withLock { tables in
                for (key, row) in changes.rows {
                    let capacity = capacities[key.kind] ?? .max
                    tables[key.kind, default: RowTable(capacity: capacity)].put(row, key.name, at: changes.now)
                }
            }
            return value
        }
    }

    func close() {}
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
            let names = table.rows.keys.filter { name.map($0.utf8.isAfter) ?? true }
                .sorted { $1.utf8.isAfter($0) }
            return Array(names.lazy.compactMap { table.named($0, at: now) }.prefix(limit))
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

    fileprivate mutating func put(_ row: StoredRow?, _ name: String, at now: Int64) {
        guard let row else { return remove(name) }
        if rows[name] == nil, rows.count >= min(nextSweep, capacity) { makeRoom(at: now) }
        remove(name)
        rows[name] = row
        if !row.group.isEmpty { groups[row.group, default: []].insert(name) }
    }

    private mutating func remove(_ name: String) {
        guard let old = rows.removeValue(forKey: name), !old.group.isEmpty else { return }
        groups[old.group]?.remove(name)
        if groups[old.group]?.isEmpty == true { groups[old.group] = nil }
    }

    private mutating func makeRoom(at now: Int64) {
        for (name, row) in rows where row.expiresAt <= now { remove(name) }
        if rows.count >= capacity {
            let oldest = rows.sorted { $0.value.expiresAt < $1.value.expiresAt }.prefix(max(1, capacity / 10))
            for (name, _) in oldest { remove(name) }
        }
        nextSweep = max(Self.firstSweep, rows.count * 2)
    }
}

extension String.UTF8View {
    /// Compares by bytes, which is the order that every engine uses.
    fileprivate func isAfter(_ other: String) -> Bool { other.utf8.lexicographicallyPrecedes(self) }
}
