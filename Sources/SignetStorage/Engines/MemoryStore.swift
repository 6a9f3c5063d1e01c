import Synchronization

/// Records in memory, for tests and for what need not outlive the process.
public final class MemoryStore: RecordStore {
    private let records = Mutex<[RecordKey: [UInt8]]>([:])

    /// An empty store.
    public init() {}

    /// Reads a consistent state.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let copy = Transaction(records: records.withLock { $0 })
        return try body(copy)
    }

    /// Reads and changes, all or nothing.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try records.withLock { (records) throws(StoreError) -> R in
            let transaction = Transaction(records: records)
            let value = try body(transaction)
            records = transaction.records
            return value
        }
    }

    private final class Transaction: RecordWriter {
        var records: [RecordKey: [UInt8]]

        init(records: [RecordKey: [UInt8]]) { self.records = records }

        func record(_ key: RecordKey) -> [UInt8]? { records[key] }

        func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) -> [StoredRecord] {
            records.filter { $0.key.kind == kind && (name?.lexicographicallyPrecedes($0.key.name) ?? true) }
                .sorted { $0.key.name.lexicographicallyPrecedes($1.key.name) }
                .prefix(limit).map { StoredRecord(name: $0.key.name, content: .success($0.value)) }
        }

        func put(_ bytes: [UInt8], _ key: RecordKey) { records[key] = bytes }
        func remove(_ key: RecordKey) { records[key] = nil }
    }
}
