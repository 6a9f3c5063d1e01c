import SignetCore
import SignetStorage
import SignetTesting
import Testing

/// One suite that every record store must pass, sealed or not.
@Suite("A record store")
struct RecordStoreTests {
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, vaultInMemory, vaultInSQLite
        var testDescription: String { rawValue }

        func withStore(_ body: (any RecordStore) async throws -> Void) async throws {
            try await TemporaryDirectory.with { directory in
                switch self {
                case .memory: try await body(MemoryStore())
                case .sqlite: try await body(SQLiteStore(path: directory.file("store"), creating: true))
                case .vaultInMemory:
                    try await body(Vault.create(in: MemoryStore(), custodian: KeyFile.create(path: directory.file("key"))))
                case .vaultInSQLite: try await body(VaultDirectory(path: directory.file("vault")).createVault(.keyFile))
                }
            }
        }
    }

    private let key = RecordKey(.account, "Harbor Bank", "mira")

    @Test("gives back what was put, and the newest of it", arguments: Engine.allCases)
    func putAndGet(engine: Engine) async throws {
        try await engine.withStore { store in
            try store.put([1, 2, 3], key)
            #expect(try store.get(key) == [1, 2, 3])
            try store.put([4], key)
            #expect(try store.get(key) == [4])
            #expect(try store.all(.account) == [[4]])
        }
    }

    @Test("answers nil for what was never there, and only for that", arguments: Engine.allCases)
    func absence(engine: Engine) async throws {
        try await engine.withStore { store in
            #expect(try store.get(key) == nil)
            try store.remove(key)
            try store.put([], key)
            #expect(try store.get(key) == [])
            try store.remove(key)
            #expect(try store.get(key) == nil)
        }
    }

    @Test("keeps kinds apart", arguments: Engine.allCases)
    func kinds(engine: Engine) async throws {
        try await engine.withStore { store in
            try store.put([1], RecordKey(.account, "x"))
            try store.put([2], RecordKey(.mechanism, "x"))
            #expect(try store.all(.account) == [[1]])
            #expect(try store.all(.mechanism) == [[2]])
            #expect(try store.all(.notification) == [])
        }
    }

    @Test("keeps identities apart that are equal when their parts are joined", arguments: Engine.allCases)
    func identities(engine: Engine) async throws {
        try await engine.withStore { store in
            try store.put([1], RecordKey(.account, "a-b", "c"))
            try store.put([2], RecordKey(.account, "a", "b-c"))
            try store.put([3], RecordKey(.account, "a-bc"))
            #expect(try store.get(RecordKey(.account, "a-b", "c")) == [1])
            #expect(try store.get(RecordKey(.account, "a", "b-c")) == [2])
            #expect(try store.all(.account).count == 3)
        }
    }

    @Test("changes nothing when a transaction fails", arguments: Engine.allCases)
    func rollback(engine: Engine) async throws {
        try await engine.withStore { store in
            try store.put([1], key)
            let key = key
            let failing = { (records: any RecordWriter) throws(StoreError) in
                try records.put([2], key)
                try records.put([3], RecordKey(.account, "other"))
                throw StoreError(.failed, "test", "on purpose")
            }
            #expect(throws: StoreError(.failed, "test", "on purpose")) { try store.write(failing) }
            #expect(try store.get(key) == [1])
            #expect(try store.all(.account).count == 1)
        }
    }

    @Test("loses no update of 100 callers at once", arguments: Engine.allCases)
    func concurrency(engine: Engine) async throws {
        try await engine.withStore { store in
            try store.put([0], key)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    let key = key
                    group.addTask {
                        try store.write { (records: any RecordWriter) throws(StoreError) in
                            try records.put([(try records.record(key)?.first ?? 0) + 1], key)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try store.get(key) == [100])
        }
    }
}

extension RecordStore {
    func get(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        try read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
    }

    func all(_ kind: RecordKind) throws(StoreError) -> [[UInt8]] {
        try read { (records: any RecordReader) throws(StoreError) in
            var all: [[UInt8]] = []
            try records.forEachRecord(of: kind) { (record) throws(StoreError) in all.append(try record.content.get()) }
            return all
        }
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        try write { (records: any RecordWriter) throws(StoreError) in try records.put(bytes, key) }
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        try write { (records: any RecordWriter) throws(StoreError) in try records.remove(key) }
    }
}
