import SignetStorage
import SignetTesting
import Testing

@Suite("A storage delegate")
struct ItemDelegateTests {
    private typealias Backend = SingleItemStorage<Pet>

    private let lucky = Pet(name: "Lucky")
    private let rex = Pet(name: "Rex")

    @Test("A storage delegate without a cache asks its backend each time", arguments: [CacheStrategy.noCache, .NO_CACHE])
    func delegateWithoutCacheAsksBackend(strategy: CacheStrategy) async throws {
        let backend = Backend(lucky)
        let delegate = StorageDelegate(delegate: backend, cacheStrategy: strategy)
        for _ in 0..<3 {
            let read = try await delegate.get()
            #expect(read == lucky)
        }
        #expect(await backend.reads == 3)
    }

    @Test("A storage delegate does not cache by default")
    func delegateDoesNotCacheByDefault() async throws {
        let backend = Backend(lucky)
        let delegate = StorageDelegate(delegate: backend)
        for _ in 0..<3 { _ = try await delegate.get() }
        #expect(await backend.reads == 3)
    }

    @Test("A caching storage delegate asks its backend once, since a get fills the cache")
    func getFillsCache() async throws {
        let backend = Backend(lucky)
        let delegate = StorageDelegate(delegate: backend, cacheable: true)
        for _ in 0..<3 {
            let read = try await delegate.get()
            #expect(read == lucky)
        }
        #expect(await backend.reads == 1)
    }

    @Test("A caching storage delegate asks its backend again once after a save and once after a delete")
    func changesEmptyCache() async throws {
        let backend = Backend(lucky)
        let delegate = StorageDelegate(delegate: backend, cacheable: true)
        _ = try await delegate.get()
        try await delegate.save(item: rex)
        for _ in 0..<3 {
            let read = try await delegate.get()
            #expect(read == rex)
        }
        #expect(await backend.reads == 2)
        try await delegate.delete()
        let gone = try await delegate.get()
        #expect(gone == nil)
    }

    @Test("A caching storage delegate does not cache absence, so a new item is seen")
    func doesNotCacheAbsence() async throws {
        let backend = Backend()
        let delegate = StorageDelegate(delegate: backend, cacheable: true)
        let absent = try await delegate.get()
        #expect(absent == nil)
        try await backend.save(item: rex)
        let appeared = try await delegate.get()
        #expect(appeared == rex)
    }

    @Test(
        "A storage delegate rethrows a failure, and afterwards returns the item that its backend has", arguments: [false, true])
    func rethrowsBackendFailure(isCacheable: Bool) async throws {
        for operation in Backend.Operation.allCases {
            for failure in Backend.Failure.allCases {
                for isWarm in [false, true] {
                    let backend = Backend(lucky)
                    let delegate = StorageDelegate(delegate: backend, cacheable: isCacheable)
                    if isWarm { _ = try await delegate.get() }
                    await backend.fail(operation, failure)
                    let comment: Comment = "\(operation) fails \(failure), warm: \(isWarm)"
                    switch operation {
                    case .save: await #expect(throws: Backend.Broken(), comment) { try await delegate.save(item: rex) }
                    case .delete: await #expect(throws: Backend.Broken(), comment) { try await delegate.delete() }
                    case .get where isWarm && isCacheable: break
                    case .get: await #expect(throws: Backend.Broken(), comment) { try await delegate.get() }
                    }
                    await backend.fail(operation, nil)
                    let read = try await delegate.get()
                    let stored = await backend.item
                    #expect(read == stored, comment)
                }
            }
        }
    }

    @Test("A caching storage delegate does not answer from the cache when a get fails after a failed save")
    func doesNotAnswerFromStaleCache() async throws {
        let backend = Backend(lucky)
        let delegate = StorageDelegate(delegate: backend, cacheable: true)
        _ = try await delegate.get()
        await backend.fail(.save, .beforeItsEffect)
        await backend.fail(.get, .beforeItsEffect)
        await #expect(throws: Backend.Broken()) { try await delegate.save(item: rex) }
        await #expect(throws: Backend.Broken()) { try await delegate.get() }
    }

    @Test(
        "Cache and backend stay equal under 16 tasks of 2000 operations over a slow, reordering backend",
        arguments: [1, 2, 3, 4] as [UInt64])
    func cacheEqualsBackendConcurrently(seed: UInt64) async throws {
        let delay = RandomDelay(seed: seed, maxYields: 3)
        let backend = SingleItemStorage<Int>(delay: { await delay.wait() })
        let owner = Owner<Int>(StorageDelegate(delegate: backend, cacheable: true))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(task))
                    for step in 0..<2000 {
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0: try await owner.delete()
                        case 1..<5: _ = try await owner.get()
                        default: try await owner.save(task * 2000 + step)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let cached = try await owner.get()
        let stored = await backend.item
        #expect(cached == stored)
        #expect(await backend.crowd == 1)
    }

    @Test("A caller reads its own last save, and no caller reads an older item after a newer one")
    func readsAreRecent() async throws {
        let delay = RandomDelay(seed: 7, maxYields: 5)
        let backend = SingleItemStorage<Int>(0, delay: { await delay.wait() })
        let owner = Owner<Int>(StorageDelegate(delegate: backend, cacheable: true))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...500 {
                    try await owner.save(number)
                    let read = try await owner.get()
                    if read != number { Issue.record("\(number) was saved, and \(read ?? -1) read") }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    var last = 0
                    for _ in 0..<500 {
                        let read = try #require(try await owner.get())
                        if read < last { Issue.record("\(read) after \(last)") }
                        last = read
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("The second of two saves determines the item, however long the first takes")
    func secondSaveWins() async throws {
        let gate = Gate()
        let isFirst = Once()
        let backend = Backend(delay: { if isFirst.take() { try await gate.pass() } })
        let owner = Owner<Pet>(StorageDelegate(delegate: backend, cacheable: true))
        async let first: Void = owner.save(lucky)
        await gate.arrival()
        async let second: Void = owner.save(rex)
        // The owner reports the second save only after that save has suspended: in the delegate's lock, or, if the delegate had
        // none, in a call of the backend. The backend is an actor and would execute that call before it reports its writes.
        let isSecondWaiting = try await eventually { await owner.saves == 2 }
        #expect(isSecondWaiting)
        #expect(await backend.writes == 0)
        gate.open()
        _ = try await (first, second)
        #expect(await backend.crowd == 1)
        let read = try await owner.get()
        #expect(read == rex)
        #expect(await backend.item == rex)
    }

    @Test("A storage delegate stays equal to its backend when a task is canceled during a save")
    func cacheSurvivesCancelledSave() async throws {
        let gate = Gate()
        let isFirst = Once()
        let backend = Backend(lucky, delay: { if isFirst.take() { try await gate.pass() } })
        let owner = Owner<Pet>(StorageDelegate(delegate: backend, cacheable: true))
        let save = Task { try await owner.save(rex) }
        await gate.arrival()
        save.cancel()
        await #expect(throws: CancellationError.self) { try await save.value }
        let read = try await owner.get()
        #expect(read == lucky)
        #expect(await backend.item == lucky)
    }

    @Test("A storage delegate executes a delete whose task was canceled while it waited for its turn")
    func executesCancelledDelete() async throws {
        let gate = Gate()
        let isFirst = Once()
        let backend = Backend(lucky, delay: { if isFirst.take() { try await gate.pass() } })
        let owner = Owner<Pet>(StorageDelegate(delegate: backend, cacheable: true))
        async let read = owner.get()
        await gate.arrival()
        let delete = Task { try await owner.delete() }
        delete.cancel()
        gate.open()
        #expect(try await read == lucky)
        try await delete.value
        let gone = try await owner.get()
        #expect(gone == nil)
    }

    @Test("Two delegates without a cache over one backend see each other's changes")
    func uncachedDelegatesShareBackend() async throws {
        let backend = Backend()
        let (first, second) = (StorageDelegate(delegate: backend), StorageDelegate(delegate: backend))
        try await first.save(item: lucky)
        let seen = try await second.get()
        #expect(seen == lucky)
        try await second.delete()
        let gone = try await first.get()
        #expect(gone == nil)
    }

    @Test("A caching delegate sees another delegate's change after its own next change")
    func cachedDelegateSeesLateChange() async throws {
        let backend = Backend(lucky)
        let first = StorageDelegate(delegate: backend, cacheable: true)
        let second = StorageDelegate(delegate: backend, cacheable: true)
        _ = try await first.get()
        try await second.save(item: rex)
        let before = try await first.get()
        #expect(before == lucky)
        try await first.delete()
        try await second.save(item: rex)
        let after = try await first.get()
        #expect(after == rex)
    }

    /// A delegate's subclass with additions, as in an app.
    private final class Counting<T: Codable & Sendable>: StorageDelegate<T> {
        private(set) var calls: [String] = []

        override func save(item: T) async throws {
            calls.append("save")
            try await super.save(item: item)
        }

        override func get() async throws -> T? {
            calls.append("get")
            return try await super.get()
        }

        override func delete() async throws {
            calls.append("delete")
            try await super.delete()
        }
    }

    @Test("A subclass of a storage delegate is called through the protocol too")
    func callsDelegateSubclass() async throws {
        let counting = Counting<Pet>(delegate: Backend(), cacheable: true)
        let storage: any Storage<Pet> = counting
        try await storage.save(item: lucky)
        let read = try await storage.get()
        try await storage.delete()
        #expect(read == lucky)
        #expect(counting.calls == ["save", "get", "delete"])
    }

    @Test("A storage delegate can wrap another delegate")
    func delegateWrapsDelegate() async throws {
        let backend = Backend(lucky)
        let inner = StorageDelegate(delegate: backend)
        let outer = StorageDelegate(delegate: inner, cacheable: true)
        for _ in 0..<3 {
            let read = try await outer.get()
            #expect(read == lucky)
        }
        #expect(await backend.reads == 1)
    }
}
