import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The conformance suite of every record store, sealed or not.
///
/// The keychain runs it in scripts/check-apple.
@Suite("A record store", .postgresServer)
struct RecordStoreTests {
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, vaultInMemory, vaultInSQLite, faultyWithoutFaults
        var testDescription: String { rawValue }

        func withStore(_ body: (any RecordStore) async throws -> Void) async throws {
            try await TemporaryDirectory.with { directory in
                switch self {
                case .memory: try await body(MemoryStore())
                case .sqlite: try await body(SQLiteStore(path: directory.file("store"), creating: true))
                case .vaultInMemory: try await body(vault(in: MemoryStore(), directory))
                case .vaultInSQLite:
                    try await body(vault(in: SQLiteStore(path: directory.file("store"), creating: true), directory))
                case .faultyWithoutFaults: try await body(FaultyStore(MemoryStore()))
                }
            }
        }
    }

    @Test("A record store passes each conformance case", arguments: Engine.allCases, RecordStoreConformance.cases)
    func conformsToRecordStore(engine: Engine, promise: RecordStoreConformance.Case) async throws {
        try await engine.withStore(promise.check)
    }

    #if PostgreSQL
    @Test(
        "A PostgreSQL store, sealed or not, passes each conformance case",
        .enabled(if: PostgresServer.isPossible, PostgresServer.reason),
        arguments: [false, true], RecordStoreConformance.cases)
    func conformsInPostgreSQL(isSealed: Bool, promise: RecordStoreConformance.Case) async throws {
        let server = try #require(PostgresTrait.server)
        let store = try PostgresStore(connection: server.connection, table: uniqueTable(), creating: true, timeout: 60)
        defer { store.close() }
        try await TemporaryDirectory.with { directory in
            try await promise.check(isSealed ? vault(in: store, directory) : store)
        }
    }
    #endif
}

/// Makes a vault in `store`, sealed by a key file.
func vault(in store: any RecordStore, _ directory: TemporaryDirectory) throws -> Vault {
    try Vault.create(in: store, protector: KeyFile.create(path: directory.file("key")))
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
