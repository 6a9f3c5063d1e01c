import SignetCore

/// Records in memory, for tests and for data that need not outlive the process.
public final class MemoryStore: RecordStore, QuickReading {
    private let records = Mutex<[RecordKey: [UInt8]]>([:])

    /// Creates an empty store.
    public init() {}

    package var readsQuickly: Bool { true }

    /// Reads a consistent state of the store.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let copy = Transaction(records: records.withLock { $0 })
        return try body(copy)
    }

    /// Reads and changes records in one transaction.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try records.withLock { (records) throws(StoreError) -> R in
            let transaction = Transaction(records: records)
            // The transaction must hold the only reference to the dictionary, because otherwise its first change would copy all
            // of it.
            records = [:]
            defer { records = transaction.records }
            do throws(StoreError) {
                return try body(transaction)
            } catch {
                transaction.undo()
                throw error
            }
        }
    }

    private final class Transaction: RecordWriter {
        private(set) var records: [RecordKey: [UInt8]]
        /// The key and the previous bytes of each change; nil if the record did not exist.
        private var changes: [(key: RecordKey, before: [UInt8]?)] = []
        /// The sorted names of the kinds that were listed, so that a listing in many pages sorts only once.
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

        func put(_ bytes: [UInt8], _ key: RecordKey) { change(key, to: bytes) }
        func remove(_ key: RecordKey) { change(key, to: nil) }

        private func change(_ key: RecordKey, to bytes: [UInt8]?) {
            let old: [UInt8]? = if let bytes { records.updateValue(bytes, forKey: key) } else { records.removeValue(forKey: key) }
            if (old == nil) != (bytes == nil) { names[key.kind] = nil }
            changes.append((key, old))
        }

        func undo() {
            for (key, bytes) in changes.reversed() { records[key] = bytes }
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
    /// Returns the first index whose element satisfies `condition`.
    ///
    /// All elements after it must satisfy it too.
    fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
