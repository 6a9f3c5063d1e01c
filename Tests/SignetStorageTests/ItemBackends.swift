import Foundation
import SignetCore
import SignetStorage
import SignetTesting

/// The item that the tests store.
struct Pet: Codable, Hashable {
    var name: String
    var age = 3
}

/// A storage behind a delegate that a test can inspect, slow down and break. As an actor it lets calls overlap at every `await`,
/// and the delegate must prevent that.
actor SingleItemStorage<T: Codable & Sendable & Equatable>: Storage {
    /// The stored item.
    private(set) var item: T?
    private(set) var reads = 0
    private(set) var writes = 0
    /// The highest number of calls that were inside at the same time.
    private(set) var crowd = 0
    private var inside = 0

    private var failures: [Operation: Failure] = [:]
    /// Called inside each operation, before its effect; it may suspend.
    private let delay: @Sendable () async throws -> Void

    enum Operation: String, CaseIterable, Sendable {
        case save, get, delete
    }

    /// The point at which an operation fails.
    enum Failure: String, CaseIterable, Sendable {
        case beforeItsEffect, afterItsEffect
    }

    struct Broken: Error, Equatable {}

    init(_ item: T? = nil, delay: @escaping @Sendable () async throws -> Void = {}) {
        self.item = item
        self.delay = delay
    }

    func fail(_ operation: Operation, _ failure: Failure?) {
        failures[operation] = failure
    }

    func save(item: T) async throws {
        try await perform(.save) {
            self.item = item
            writes += 1
        }
    }

    func get() async throws -> T? {
        try await perform(.get) {
            reads += 1
            return item
        }
    }

    func delete() async throws {
        try await perform(.delete) {
            item = nil
            writes += 1
        }
    }

    private func perform<R>(_ operation: Operation, _ effect: () -> R) async throws -> R {
        inside += 1
        crowd = max(crowd, inside)
        defer { inside -= 1 }
        // A read takes its value before the wait and a write sets it after: overlapping calls would cross.
        let early = operation == .get ? effect() : nil
        try await delay()
        if failures[operation] == .beforeItsEffect { throw Broken() }
        let result = early ?? effect()
        if failures[operation] == .afterItsEffect { throw Broken() }
        return result
    }
}

/// The owner of a delegate, like an app's own actor. As an actor it lets calls in at each `await`, too.
actor Owner<T: Codable & Sendable> {
    private let storage: any Storage<T>
    /// The number of saves that have begun.
    ///
    /// A caller outside the actor sees a save only after its first suspension, because the actor runs one job at a time.
    private(set) var saves = 0

    init(_ storage: sending any Storage<T>) {
        self.storage = storage
    }

    func save(_ item: T) async throws {
        saves += 1
        try await storage.save(item: item)
    }
    func get() async throws -> T? { try await storage.get() }
    func delete() async throws { try await storage.delete() }
}

/// Waits of random length, counted in yields of the thread.
final class RandomDelay: Sendable {
    private let generator: Mutex<SeededGenerator>
    private let maxYields: Int

    init(seed: UInt64, maxYields: Int) {
        generator = Mutex(SeededGenerator(seed: seed))
        self.maxYields = maxYields
    }

    func wait() async {
        let yields = generator.withLock { Int.random(in: 0...maxYields, using: &$0) }
        for _ in 0..<yields { await Task.yield() }
    }
}

/// A gate that stays shut until a test opens it.
///
/// It announces each task that waits at it.
final class Gate: Sendable {
    private let opened = AsyncStream.makeStream(of: Void.self)
    private let arrived = AsyncStream.makeStream(of: Void.self)

    /// Waits until the gate is open.
    ///
    /// Canceling the task ends the wait.
    func pass() async throws {
        arrived.continuation.yield()
        for await _ in opened.stream { break }
        try Task.checkCancellation()
    }

    /// Waits until a task is at the gate.
    func arrival() async {
        for await _ in arrived.stream { break }
    }

    func open() {
        opened.continuation.finish()
    }
}

/// A flag that is true for the first caller.
final class Once: Sendable {
    private let isTaken = Mutex(false)

    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}

/// A record store that fails, counts, and can be inspected.
final class WatchedStore: RecordStore {
    private let inner: any RecordStore
    private let state = Mutex(State())

    private struct State {
        var failure: StoreError?
        var reads = 0
        var writes = 0
    }

    init(_ inner: any RecordStore = MemoryStore()) {
        self.inner = inner
    }

    var reads: Int { state.withLock { $0.reads } }
    var writes: Int { state.withLock { $0.writes } }

    /// Makes every call fail with `failure`, until it is nil again.
    func fail(with failure: StoreError?) {
        state.withLock { $0.failure = failure }
    }

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let failure = state.withLock { state in
            state.reads += 1
            return state.failure
        }
        if let failure { throw failure }
        return try inner.read(body)
    }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let failure = state.withLock { state in
            state.writes += 1
            return state.failure
        }
        if let failure { throw failure }
        return try inner.write(body)
    }
}

extension VaultProvider {
    /// Makes a keychain over a store that is open already.
    convenience init(over store: any RecordStore) {
        self.init { () throws(StoreError) in store }
    }
}
