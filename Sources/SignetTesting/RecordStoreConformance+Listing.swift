import SignetStorage

extension RecordStoreConformance {
    static var listingCases: [Case] { [wholeListing, order, limits, prefixes, changesBetweenPages] }

    /// The counts include the values around the page size of `forEachRecord`.
    private static let wholeListing = Case("lists every record once, however many there are") { store in
        var count = 0
        for target in [0, 1, 2, 255, 256, 257, 513] {
            let added = count..<target
            try store.write { (records: any RecordWriter) throws(StoreError) in
                for number in added { try records.put(content(number), RecordKey(.item, "\(number)")) }
            }
            count = target
            try expectEqual(Set(store.contents(.item)), Set((0..<count).map(content)), "the listing of \(count)")
            try expectEqual(store.contents(.item).count, count, "the length of the listing of \(count)")
            for limit in [1, 7, 256, 1_000] where count < 300 || limit > 1 {
                try expectEqual(paged(store, limit: limit).count, count, "the records of \(count) in pages of \(limit)")
            }
        }
    }

    private static let order = Case("lists in the order of the names' bytes, without a sign") { store in
        let names: [[UInt8]] = [
            [], [0], [0, 0], [0, 1], [0, 0xFF], [1], [0x61], [0x61, 0], [0x61, 0x62], [0x7F], [0x7F, 0xFF], [0x80], [0x80, 0],
            [0xC3, 0xA4], [0xFE], [0xFF], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF],
        ]
        // The records are added in another order than that of their names.
        for name in names.indices.map({ names[($0 * 7) % names.count] }) { try store.put(name, RecordKey(.item, name: name)) }
        for limit in [1, 2, 5, names.count, 100] {
            let listed = try paged(store, limit: limit)
            try expect(
                zip(listed, listed.dropFirst()).allSatisfy { $0.name.lexicographicallyPrecedes($1.name) },
                "names are out of order: \(listed.map(\.name))")
            try expectEqual(Set(listed.map(\.bytes)), Set(names), "what is listed")
        }
        guard try keepsNames(store) else { return }
        try expectEqual(paged(store, limit: 3).map(\.name), names, "the names")
        for (number, name) in names.enumerated() {
            try expectEqual(page(store, after: name, limit: 100).map(\.name), Array(names[(number + 1)...]), "after \(name)")
        }
    }

    private static let limits = Case("lists at most as many as it is asked for") { store in
        for number in 0..<5 { try store.put(content(number), RecordKey(.item, "\(number)")) }
        for (limit, count) in [(-1, 0), (0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (Int(Int32.max), 5)] {
            try expectEqual(page(store, after: nil, limit: limit).count, count, "the records for a limit of \(limit)")
        }
        let last = try page(store, after: nil, limit: 5).last?.name
        try expectEqual(page(store, after: last, limit: 5).count, 0, "the records after the last")
    }

    private static let prefixes = Case("lists from names that are not there, and that begin other names") { store in
        guard try keepsNames(store) else { return }
        let names: [[UInt8]] = [[5], [5, 0], [5, 0, 0], [5, 1], [5, 0xFF], [6]]
        for name in names { try store.put(name, RecordKey(.item, name: name)) }
        let expected: [([UInt8], Int)] = [
            ([], 6), ([4, 0xFF, 0xFF], 6), ([5], 5), ([5, 0, 0, 0], 3), ([5, 2], 2), ([5, 0xFF, 0xFF], 1), ([6], 0), ([7], 0),
        ]
        for (name, count) in expected {
            try expectEqual(page(store, after: name, limit: 10).map(\.name), Array(names.suffix(count)), "after \(name)")
        }
    }

    private static let changesBetweenPages = Case("goes on after the last name, whatever changed between two pages") { store in
        for number in 0..<20 { try store.put(content(number), RecordKey(.item, "\(number)")) }
        let first = try page(store, after: nil, limit: 5)
        let second = try page(store, after: first.last?.name, limit: 5)
        let rest = try page(store, after: second.last?.name, limit: 20)
        // The record at the page boundary is removed, and one of the following records is replaced.
        let keys = try store.read { (records: any RecordReader) throws(StoreError) in
            var keys: [[UInt8]: RecordKey] = [:]
            for number in 0..<20 {
                let key = RecordKey(.item, "\(number)")
                if let bytes = try records.record(key) { keys[bytes] = key }
            }
            return keys
        }
        guard let boundary = second.last.flatMap({ keys[$0.bytes] }), let replaced = rest.last.flatMap({ keys[$0.bytes] }) else {
            throw Failure(description: "a listing shows what was never put")
        }
        try store.remove(boundary)
        try store.put([0xEE], replaced)
        let again = try page(store, after: second.last?.name, limit: 20)
        try expectEqual(again.map(\.name), rest.map(\.name), "the names after one that is gone")
        try expectEqual(again.last?.bytes, [0xEE], "the content that was replaced")
    }

    // MARK: Helpers

    private static func content(_ number: Int) -> [UInt8] { Array("record \(number)".utf8) }

    /// Returns true when the store lists records under the names that they were stored with.
    private static func keepsNames(_ store: any RecordStore) throws(StoreError) -> Bool {
        let key = RecordKey(.notification, name: [1])
        try store.put([], key)
        defer { try? store.remove(key) }
        return try store.read { (records: any RecordReader) throws(StoreError) in
            try records.records(.notification, after: nil, limit: 1).first?.name == key.name
        }
    }

    private static func page(
        _ store: any RecordStore, after name: [UInt8]?, limit: Int
    ) throws(StoreError) -> [(name: [UInt8], bytes: [UInt8])] {
        try store.read { (records: any RecordReader) throws(StoreError) in
            var page: [(name: [UInt8], bytes: [UInt8])] = []
            for record in try records.records(.item, after: name, limit: limit) {
                page.append((record.name, try record.content.get()))
            }
            return page
        }
    }

    /// Returns all records, each page read in a separate transaction.
    private static func paged(_ store: any RecordStore, limit: Int) throws -> [(name: [UInt8], bytes: [UInt8])] {
        var all: [(name: [UInt8], bytes: [UInt8])] = []
        while true {
            let next = try page(store, after: all.last?.name, limit: limit)
            try expect(next.count <= limit, "a page of \(next.count), asked for \(limit)")
            all += next
            guard next.count == limit else { return all }
        }
    }
}

// MARK: Transactions with one record

extension RecordStore {
    func get(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        try read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
    }

    func contents(_ kind: RecordKind) throws(StoreError) -> [[UInt8]] {
        try read { (records: any RecordReader) throws(StoreError) in try records.contents(kind) }
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        try write { (records: any RecordWriter) throws(StoreError) in try records.put(bytes, key) }
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        try write { (records: any RecordWriter) throws(StoreError) in try records.remove(key) }
    }
}

extension RecordReader {
    func contents(_ kind: RecordKind) throws(StoreError) -> [[UInt8]] {
        var all: [[UInt8]] = []
        try forEachRecord(of: kind) { (record) throws(StoreError) in all.append(try record.content.get()) }
        return all
    }
}
