import Dispatch
import SignetCore
public import SignetStorage

/// The requirements of every `RecordStore`, as a list of test cases for the stores of this package and for custom stores.
///
/// Each case takes a store without records and throws ``Failure`` when the store violates a requirement of the protocol.
///
///     @Test(arguments: RecordStoreConformance.cases)
///     func conforms(to promise: RecordStoreConformance.Case) async throws { try await promise.check(MyStore()) }
///
/// A store may list records under other names than it was given, as a vault does. Checks that depend on names are then skipped.
public enum RecordStoreConformance {
    /// One requirement.
    public struct Case: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence about the store.
        public let name: String
        /// Checks an empty store.
        /// - Throws: ``Failure``, or the error of the store.
        public let check: @Sendable (any RecordStore) async throws -> Void

        /// The requirement.
        public var description: String { name }

        init(_ name: String, _ check: @escaping @Sendable (any RecordStore) async throws -> Void) {
            self.name = name
            self.check = check
        }
    }

    /// An error that reports a violated requirement.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The actual and the expected result.
        public let description: String
    }

    /// All requirements.
    public static var cases: [Case] { contentCases + transactionCases + listingCases + concurrencyCases }

    static func expect(_ isKept: Bool, _ promise: @autoclosure () -> String) throws(Failure) {
        guard isKept else { throw Failure(description: promise()) }
    }

    static func expectEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws(Failure) {
        guard found == expected else { throw Failure(description: "\(what): \(found) instead of \(expected)") }
    }
}

// MARK: Content

extension RecordStoreConformance {
    private static let key = RecordKey(.account, "Harbor Bank", "mira")

    static var contentCases: [Case] {
        [
            Case("gives back what was put, and the newest of it") { store in
                try store.put([1, 2, 3], key)
                try expectEqual(store.get(key), [1, 2, 3], "the record")
                try store.put([4], key)
                try expectEqual(store.get(key), [4], "the record that was replaced")
                try expectEqual(store.contents(.account), [[4]], "the listing")
            },
            Case("answers nil for what is not there, and only for that") { store in
                try expectEqual(store.get(key), nil, "what never was there")
                try store.remove(key)
                try store.put([], key)
                try expectEqual(store.get(key), [], "a record without content")
                try store.remove(key)
                try expectEqual(store.get(key), nil, "what was removed")
                try expectEqual(store.contents(.account), [], "the listing")
            },
            Case("keeps every byte of names and contents") { store in
                let all = [UInt8](0...255)
                let names: [[UInt8]] = [[], [0], [0, 0], [0xFF], [0xFF, 0], all, [UInt8](repeating: 0xFF, count: 1_000)]
                for (number, name) in names.enumerated() {
                    try store.put(all + [UInt8(number)], RecordKey(.item, name: name))
                }
                for (number, name) in names.enumerated() {
                    try expectEqual(store.get(RecordKey(.item, name: name)), all + [UInt8(number)], "the record \(name)")
                }
                try expectEqual(store.contents(.item).count, names.count, "the number of records")
            },
            Case("keeps kinds apart") { store in
                let kinds: [RecordKind] = [.account, .mechanism, .notification, .item]
                for (number, kind) in kinds.enumerated() { try store.put([UInt8(number)], RecordKey(kind, "x")) }
                try store.remove(RecordKey(.mechanism, "x"))
                for (number, kind) in kinds.enumerated() where kind != .mechanism {
                    try expectEqual(store.get(RecordKey(kind, "x")), [UInt8(number)], "the record of kind \(kind)")
                    try expectEqual(store.contents(kind), [[UInt8(number)]], "the records of kind \(kind)")
                }
                try expectEqual(store.contents(.mechanism), [], "the records of the kind whose only one was removed")
            },
            Case("keeps identities apart that are equal when their parts are joined") { store in
                let keys = [RecordKey(.account, "a-b", "c"), RecordKey(.account, "a", "b-c"), RecordKey(.account, "a-bc")]
                for (number, key) in keys.enumerated() { try store.put([UInt8(number)], key) }
                for (number, key) in keys.enumerated() { try expectEqual(store.get(key), [UInt8(number)], "the record") }
            },
            Case("keeps a mebibyte a record") { store in
                let contents = (0..<3).map { number in [UInt8](repeating: UInt8(number), count: 1 << 20) + [0, 0xFF] }
                for (number, content) in contents.enumerated() { try store.put(content, RecordKey(.item, "\(number)")) }
                for (number, content) in contents.enumerated() {
                    try expect(store.get(RecordKey(.item, "\(number)")) == content, "large record \(number) came back changed")
                }
                try expect(Set(store.contents(.item)) == Set(contents), "the listing of large records is not what was put")
            },
        ]
    }
}

// MARK: Transactions

extension RecordStoreConformance {
    private static let onPurpose = StoreError(.failed, "test", "on purpose")

    static var transactionCases: [Case] {
        [
            Case("runs a transaction once, and gives back what it returns") { store in
                let runs = Mutex(0)
                let written = try store.write { (records: any RecordWriter) throws(StoreError) in
                    runs.withLock { $0 += 1 }
                    try records.put([1], key)
                    return "written"
                }
                let read = try store.read { (records: any RecordReader) throws(StoreError) in
                    runs.withLock { $0 += 1 }
                    return try records.record(key)
                }
                try expectEqual(written, "written", "what a write returned")
                try expectEqual(read, [1], "what a read returned")
                try expectEqual(runs.withLock { $0 }, 2, "the runs of two transactions")
            },
            Case("changes nothing when a transaction fails") { store in
                try store.put([1], key)
                try expectFailure(of: store) { (records) throws(StoreError) in
                    try records.put([2], key)
                    try records.put([3], RecordKey(.account, "other"))
                    try records.remove(key)
                    throw onPurpose
                }
                try expectEqual(store.get(key), [1], "the record")
                try expectEqual(store.contents(.account), [[1]], "the listing")
                try store.put([4], key)
                try expectEqual(store.get(key), [4], "the record, after the next transaction")
            },
            Case("changes nothing when a listing inside a transaction is given up") { store in
                for number in 0..<300 { try store.put([1], RecordKey(.item, "\(number)")) }
                try expectFailure(of: store) { (records) throws(StoreError) in
                    var seen = 0
                    try records.forEachRecord(of: .item) { (_) throws(StoreError) in
                        seen += 1
                        try records.put([2], RecordKey(.account, "\(seen)"))
                        if seen == 280 { throw onPurpose }
                    }
                }
                try expectEqual(store.contents(.account), [], "what was put before the failure")
                try expectEqual(store.contents(.item).count, 300, "the records that were listed")
            },
            Case("shows a transaction its own changes") { store in
                try store.put([1], RecordKey(.item, "removed"))
                try store.put([2], RecordKey(.item, "replaced"))
                let seen = try store.write { (records: any RecordWriter) throws(StoreError) in
                    try records.put([3], RecordKey(.item, "new"))
                    try records.put([4], RecordKey(.item, "replaced"))
                    try records.remove(RecordKey(.item, "removed"))
                    try records.put([5], RecordKey(.item, "short-lived"))
                    try records.remove(RecordKey(.item, "short-lived"))
                    let removed = try records.record(RecordKey(.item, "removed"))
                    let replaced = try records.record(RecordKey(.item, "replaced"))
                    return ([removed, replaced], try records.contents(.item))
                }
                try expectEqual(seen.0, [nil, [4]], "the records")
                try expectEqual(Set(seen.1), [[3], [4]], "the listing")
                try expectEqual(Set(store.contents(.item)), [[3], [4]], "the listing afterwards")
            },
        ]
    }

    private static func expectFailure(
        of store: any RecordStore, _ body: (any RecordWriter) throws(StoreError) -> Void
    ) throws {
        do throws(StoreError) {
            try store.write(body)
        } catch {
            return try expectEqual(error, onPurpose, "what a failed transaction throws")
        }
        throw Failure(description: "a transaction whose body throws did not fail")
    }
}

// MARK: Concurrency

extension RecordStoreConformance {
    static var concurrencyCases: [Case] {
        [
            Case("loses no update of 100 callers at once") { store in
                try store.put([0], key)
                try await inParallel(100) { _ in
                    try store.write { (records: any RecordWriter) throws(StoreError) in
                        try records.put([(try records.record(key)?.first ?? 0) + 1], key)
                    }
                }
                try expectEqual(store.get(key), [100], "the number of updates")
            },
            Case("shows a read one state, over several pages and while others write") { store in
                let keys = (0..<300).map { RecordKey(.item, "\($0)") }
                let write: @Sendable (UInt8) throws(StoreError) -> Void = { (value) throws(StoreError) in
                    try store.write { (records: any RecordWriter) throws(StoreError) in
                        for key in keys { try records.put([value], key) }
                    }
                }
                try write(0)
                try await inParallel(20) { number in
                    if number % 2 == 0 { return try write(UInt8(number)) }
                    let seen = try store.read { (records: any RecordReader) throws(StoreError) in
                        let first = try records.record(keys[0])
                        let listed = try records.contents(.item)
                        return [first] + listed + [try records.record(keys[299])]
                    }
                    try expectEqual(seen.count, 302, "the records one read saw")
                    try expect(Set(seen).count == 1, "one read saw several states: \(Set(seen))")
                }
            },
        ]
    }

    /// Runs `body` `count` times concurrently, on threads that may block, and throws the first error.
    private static func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        let queue = DispatchQueue(label: "conformance", attributes: .concurrent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        queue.async { continuation.resume(with: Result { try body(number) }) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
