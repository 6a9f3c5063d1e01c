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
        private(set) var records: [RecordKey: [UInt8]]
        /// The names of a kind in order, once they were asked for: a listing in many pages sorts once.
        private var names: [RecordKind: [[UInt8]]] = [:]

        init(records: [RecordKey: [UInt8]]) { self.records = records }

        func record(_ key: RecordKey) -> [UInt8]? { records[key] }

        func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) -> [StoredRecord] {
            let names = names(kind)
            let start = name.map { name in names.partitioningIndex { name.lexicographicallyPrecedes($0) } } ?? 0
            return names[start...].prefix(max(0, limit)).compactMap { name in
                records[RecordKey(kind, name: name)].map { StoredRecord(name: name, content: .success($0)) }
            }
        }

        func put(_ bytes: [UInt8], _ key: RecordKey) {
            if records.updateValue(bytes, forKey: key) == nil { names[key.kind] = nil }
        }

        func remove(_ key: RecordKey) {
            if records.removeValue(forKey: key) != nil { names[key.kind] = nil }
        }

        private func names(_ kind: RecordKind) -> [[UInt8]] {
            if let sorted = names[kind] { return sorted }
            let sorted = records.keys.filter { $0.kind == kind }.map(\.name).sorted { $0.lexicographicallyPrecedes($1) }
            names[kind] = sorted
            return sorted
        }
    }
}

extension [[UInt8]] {
    /// The first index whose element fulfils `condition`, where all after it do too.
    fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
