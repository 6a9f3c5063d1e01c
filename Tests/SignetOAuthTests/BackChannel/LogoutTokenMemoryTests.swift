import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

/// The two memories of received logout tokens.
enum LogoutMemoryKind: String, Sendable, CaseIterable {
    case process, records

    func memory(capacity: Int = 100) -> any LogoutTokenMemory {
        switch self {
        case .process: return ProcessLogoutTokenMemory(capacity: capacity)
        case .records: return RecordLogoutTokenMemory(MemoryStore(), capacity: capacity)
        }
    }
}

@Suite("The memory of received logout tokens")
struct LogoutTokenMemoryTests {
    private static let issuer = "https://op.example.test"
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func code(_ body: () async throws -> Bool) async -> LogoutTokenError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? LogoutTokenError)?.code
        }
    }

    @Test("A repeated logout token is refused", arguments: LogoutMemoryKind.allCases)
    func refusesRepeatedLogoutToken(kind: LogoutMemoryKind) async {
        let fixture = LogoutTokenFixture(memory: kind.memory())
        let token = fixture.token()
        #expect(await fixture.code(of: token) == nil)
        #expect(await fixture.code(of: token) == .replayed)
        // The same ID in another token is a repetition too.
        #expect(await fixture.code(of: fixture.token(claims: ["sub": .string("bob")])) == .replayed)
        #expect(await fixture.code(of: fixture.token(claims: ["jti": .string("token-2")])) == nil)
        // Until its last second, a token is known.
        fixture.clock.advance(by: 179)
        #expect(await fixture.code(of: token) == .replayed)
        fixture.clock.advance(by: 1)
        #expect(await fixture.code(of: token) == .expired)
    }

    @Test("A refused logout token is not remembered", arguments: LogoutMemoryKind.allCases)
    func forgetsRefusedLogoutToken(kind: LogoutMemoryKind) async {
        let fixture = LogoutTokenFixture(memory: kind.memory())
        #expect(await fixture.code(of: fixture.token(claims: ["aud": .string("other")])) == .audience)
        #expect(await fixture.code(of: fixture.token()) == nil)
    }

    @Test("Of a logout token that arrives many times at once, one ends the sessions", arguments: LogoutMemoryKind.allCases)
    func acceptsOneOfManyLogoutTokens(kind: LogoutMemoryKind) async {
        let fixture = LogoutTokenFixture(memory: kind.memory())
        let body = LogoutTokenFixture.body(fixture.token())
        let ended = Mutex(0)
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    await fixture.verifier.answer(body) { _ in ended.withLock { $0 += 1 } }.response.status
                }
            }
            var statuses: [Int] = []
            for await status in group { statuses.append(status) }
            return statuses
        }
        let done = statuses.filter { $0 == 200 }
        // The others come during the first one or after it.
        let refused = statuses.filter { $0 == 503 || $0 == 400 }
        let count = ended.withLock { $0 }
        #expect(count == 1 && done.count == 1 && refused.count == 15)
    }

    @Test("A logout token that arrives again while the app ends its sessions gets 503, and 400 afterward")
    func refusesConcurrentLogoutToken() async throws {
        let fixture = LogoutTokenFixture()
        let body = LogoutTokenFixture.body(fixture.token())
        let first = await fixture.verifier.answer(body) { _ in
            let second = await fixture.verifier.answer(body) { _ in Issue.record("the sessions were ended twice") }
            let error = try #require(second.outcome.error as? LogoutTokenError)
            #expect(error.code == .unavailable && error.isRetryable && second.response.status == 503)
        }
        #expect(first.response.status == 200)
        let third = await fixture.verifier.answer(body) { _ in }
        #expect(third.response.status == 400 && (third.outcome.error as? LogoutTokenError)?.code == .replayed)
    }

    @Test("A logout token is accepted again until the app has finished", arguments: LogoutMemoryKind.allCases)
    func acceptsUnfinishedLogoutToken(kind: LogoutMemoryKind) async throws {
        let fixture = LogoutTokenFixture(memory: kind.memory())
        let text = fixture.token()
        let first = try await fixture.verifier.verify(text)
        let second = try await fixture.verifier.verify(text)
        #expect(first == second)
        try await fixture.verifier.finish(second)
        #expect(await fixture.code(of: text) == .replayed)
    }

    @Test("Tokens of different issuers with the same ID are different tokens", arguments: LogoutMemoryKind.allCases)
    func distinguishesIssuersOfLogoutTokens(kind: LogoutMemoryKind) async throws {
        let memory = kind.memory()
        let end = Self.now + 100
        for (issuer, id) in [("https://a", "1"), ("https://b", "1"), ("https://a1", ""), ("https://a", "11")] {
            #expect(try await memory.begin(id, issuer: issuer, until: end, now: Self.now))
            try await memory.finish(id, issuer: issuer)
            #expect(try await memory.begin(id, issuer: issuer, until: end, now: Self.now) == false)
        }
        try await memory.finish("2", issuer: "https://a")
        #expect(try await memory.begin("2", issuer: "https://a", until: end, now: Self.now))
    }

    @Test("A logout token is remembered until the latest time of those with its ID", arguments: LogoutMemoryKind.allCases)
    func remembersUntilLatestTime(kind: LogoutMemoryKind) async throws {
        let memory = kind.memory()
        for seconds in [10.0, 30, 20] {
            #expect(try await memory.begin("1", issuer: Self.issuer, until: Self.now + seconds, now: Self.now))
        }
        try await memory.finish("1", issuer: Self.issuer)
        #expect(try await memory.begin("1", issuer: Self.issuer, until: Self.now + 40, now: Self.now + 30) == false)
        #expect(try await memory.begin("1", issuer: Self.issuer, until: Self.now + 40, now: Self.now + 31))
    }

    @Test(
        "A full memory forgets expired tokens, and accepts none while all are still valid", arguments: LogoutMemoryKind.allCases)
    func fullMemoryAcceptsNoLogoutToken(kind: LogoutMemoryKind) async throws {
        let memory = kind.memory(capacity: 2)
        #expect(try await memory.begin("1", issuer: Self.issuer, until: Self.now + 10, now: Self.now))
        try await memory.finish("1", issuer: Self.issuer)
        #expect(try await memory.begin("2", issuer: Self.issuer, until: Self.now + 20, now: Self.now))
        let full = await code {
            try await memory.begin("3", issuer: Self.issuer, until: Self.now + 30, now: Self.now + 10)
        }
        #expect(full == .memoryFull)
        // A known token is recognized also then, and one that was begun can go on.
        #expect(try await memory.begin("1", issuer: Self.issuer, until: Self.now + 10, now: Self.now + 10) == false)
        #expect(try await memory.begin("2", issuer: Self.issuer, until: Self.now + 20, now: Self.now + 10))
        let later = Self.now + 11
        #expect(try await memory.begin("3", issuer: Self.issuer, until: Self.now + 30, now: later))
        try await memory.finish("2", issuer: Self.issuer)
        #expect(try await memory.begin("2", issuer: Self.issuer, until: Self.now + 20, now: later) == false)
    }

    @Test("A logout token that a full memory can't take is answered with 503, and is accepted later")
    func fullMemoryIsTemporary() async throws {
        let fixture = LogoutTokenFixture(memory: ProcessLogoutTokenMemory(capacity: 1))
        #expect(await fixture.code(of: fixture.token()) == nil)
        let body = LogoutTokenFixture.body(
            fixture.token(claims: ["jti": .string("token-2"), "exp": .integer(LogoutTokenFixture.start + 600)]))
        let full = await fixture.verifier.answer(body) { _ in }
        let error = try #require(full.outcome.error as? LogoutTokenError)
        #expect(error.code == .memoryFull && error.isRetryable && full.response.status == 503)
        fixture.clock.advance(by: 181)
        let done = await fixture.verifier.answer(body) { _ in }
        #expect(done.response.status == 200)
    }

    // MARK: Records

    @Test("Processes with the same store recognize each other's logout tokens, also after a restart")
    func sharesLogoutTokensInStore() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("logout.sqlite")
            let first = RecordLogoutTokenMemory(try SQLiteStore(path: path, creating: true))
            let second = RecordLogoutTokenMemory(try SQLiteStore(path: path))
            let end = Self.now + 100
            let isNew = try await first.begin("1", issuer: Self.issuer, until: end, now: Self.now)
            // The first process may have ended before it could end the sessions.
            let isNewElsewhere = try await second.begin("1", issuer: Self.issuer, until: end, now: Self.now)
            #expect(isNew && isNewElsewhere)
            try await second.finish("1", issuer: Self.issuer)
            let isNewAgain = try await first.begin("1", issuer: Self.issuer, until: end, now: Self.now)
            #expect(!isNewAgain)
        }
    }

    @Test("After a restart the provider's repetition of a logout token ends the sessions that the old process did not end")
    func endsSessionsAfterRestart() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("logout.sqlite")
            let before = LogoutTokenFixture(memory: RecordLogoutTokenMemory(try SQLiteStore(path: path, creating: true)))
            let text = before.token()
            // The process ends after this.
            _ = try await before.verifier.verify(text)

            let after = LogoutTokenFixture(memory: RecordLogoutTokenMemory(try SQLiteStore(path: path)))
            let keys = before.provider.withLock { $0.keys }
            after.provider.withLock { $0.keys = keys }
            let ended = Mutex(0)
            let body = LogoutTokenFixture.body(text)
            let retried = await after.verifier.answer(body) { _ in ended.withLock { $0 += 1 } }
            let repeated = await after.verifier.answer(body) { _ in ended.withLock { $0 += 1 } }
            let count = ended.withLock { $0 }
            #expect(retried.response.status == 200 && repeated.response.status == 400 && count == 1)
        }
    }

    @Test("When the memory fails after the sessions have ended, the provider gets 503 and the logout token is accepted again")
    func repeatsLogoutAfterMemoryFailure() async throws {
        let store = FaultyStore(MemoryStore())
        let fixture = LogoutTokenFixture(memory: RecordLogoutTokenMemory(store))
        let body = LogoutTokenFixture.body(fixture.token())
        let failed = await fixture.verifier.answer(body) { _ in store.inject(StoreFault(.busy, at: .begin)) }
        let error = try #require(failed.outcome.error as? LogoutTokenError)
        #expect(error.code == .unavailable && failed.response.status == 503)
        store.reset()
        let done = await fixture.verifier.answer(body) { _ in }
        #expect(done.response.status == 200)
    }

    @Test("A store that fails makes the verifier unavailable, and the logout token is accepted later")
    func storeFailureKeepsLogoutToken() async {
        let store = FaultyStore(MemoryStore())
        let fixture = LogoutTokenFixture(memory: RecordLogoutTokenMemory(store))
        store.inject(StoreFault(.busy, at: .begin))
        let error = await fixture.error(of: fixture.token())
        #expect(error?.code == .unavailable && error?.isRetryable == true)
        store.reset()
        #expect(await fixture.code(of: fixture.token()) == nil)
    }

    @Test("A record with another content is set aside, and the memory goes on")
    func setsForeignLogoutRecordAside() async throws {
        let store = MemoryStore()
        let memory = RecordLogoutTokenMemory(store)
        let end = Self.now + 100
        #expect(try await memory.begin("1", issuer: Self.issuer, until: end, now: Self.now))
        try store.write { (records: any RecordWriter) throws(StoreError) -> Void in
            try records.forEachRecord(of: .item) { (record) throws(StoreError) -> Void in
                try records.put(Array("text".utf8), RecordKey(.item, name: record.name))
            }
        }
        #expect(try await memory.begin("2", issuer: Self.issuer, until: end, now: Self.now))
        let quarantined = try store.read { (records: any RecordReader) throws(StoreError) -> Int in
            try records.records(.quarantined, after: nil, limit: 10).count
        }
        #expect(quarantined == 1)
    }
}
