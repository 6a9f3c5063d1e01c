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
