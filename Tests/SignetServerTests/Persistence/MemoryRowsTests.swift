import SignetCore
import SignetStorage
import Testing

@testable import SignetServer

@Suite("Rows in memory")
struct MemoryRowsTests {
    private func write(_ names: [String], to store: MemoryRows) throws {
        var changes = RowChanges()
        for (number, name) in names.enumerated() {
            changes.rows[RowKey(kind: "k", name: name)] = .some(StoredRow(expiresAt: Int64(1000 + number), bytes: [1]))
        }
        changes.now = 1
        let written = changes
        try store.transact { (_) throws(StoreError) in ((), written) }
    }

    @Test("Pages have all rows in the order of their names", arguments: [1, 7, 100, 300, 1000])
    func pagesAreInOrder(limit: Int) throws {
        let names = (0..<300).map { "\($0)" }
        let store = MemoryRows()
        try write(names.shuffled(), to: store)
        var (read, last) = ([String](), String?.none)
        while true {
            let after = last
            let page = try store.transact { (reader) throws(StoreError) in
                (try reader.rows("k", .after(after), at: 1, limit: limit), RowChanges())
            }
            guard let name = page.last?.name else { break }
            #expect(page.count <= limit)
            read += page.map(\.name)
            last = name
        }
        #expect(read == names.sorted())
    }

    private func put(_ row: StoredRow?, _ key: RowKey, to store: MemoryRows) throws {
        try store.transact { (_) throws(StoreError) in
            var changes = RowChanges()
            changes.rows[key] = .some(row)
            changes.now = 1
            return ((), changes)
        }
    }

    private func row(_ key: RowKey, in store: MemoryRows) throws -> StoredRow? {
        try store.transact { (reader) throws(StoreError) in (try reader.row(key), RowChanges()) }
    }

    @Test("The newest rows of a login are sealed when their bytes are needed, and older ones that remain in any case")
    func sealsRowsThatRemain() throws {
        let (store, coder) = (MemoryRows(), RowCoder(Secret.random(byteCount: 32)))
        let keys = (0..<3 * MemoryRows.maxUnsealed).map { RowKey(.session, "\($0)") }
        for key in keys {
            try put(StoredRow(group: "", expiresAt: .max, UnsealedRow(key.name, coder, key)), key, to: store)
        }
        let unsealed = try keys.count { try row($0, in: store)?.unsealed?.isUnsealed == true }
        #expect(unsealed == MemoryRows.maxUnsealed)
        for key in [keys[0], keys[keys.count - 1]] {
            let stored = try #require(try row(key, in: store))
            let value = try coder.value(String.self, of: stored.bytes, for: key)
            #expect(value == key.name && stored.unsealed?.isUnsealed == false)
            let again = try #require(try row(key, in: store))
            #expect(again == stored && again.bytes == stored.bytes)
        }
    }

    @Test("The value of a row that is replaced or removed is released")
    func releasesValues() throws {
        let (store, coder) = (MemoryRows(), RowCoder(Secret.random(byteCount: 32)))
        let key = RowKey(.journey, "j")
        let (first, second) = (UnsealedRow("one", coder, key), UnsealedRow("two", coder, key))
        try put(StoredRow(group: "", expiresAt: .max, first), key, to: store)
        try put(StoredRow(group: "", expiresAt: .max, second), key, to: store)
        #expect(!first.isUnsealed && first.bytes.isEmpty && second.isUnsealed)
        try put(nil, key, to: store)
        #expect(!second.isUnsealed && second.bytes.isEmpty)
    }

    @Test("A full kind reports how many of its rows it has removed")
    func reportsDisplacedRows() throws {
        let displaced = Mutex<[String: Int]>([:])
        let store = MemoryRows(capacities: ["k": 100]) { kind, count in
            displaced.withLock { $0[kind, default: 0] += count }
        }
        try write((0..<100).map { "\($0)" }, to: store)
        let before = displaced.withLock { $0 }
        try write(["new"], to: store)
        let after = displaced.withLock { $0 }
        #expect(before.isEmpty && after == ["k": 10])
    }
}
