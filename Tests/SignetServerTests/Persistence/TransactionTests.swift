import Foundation
import MetricsTestKit
import SignetCore
import SignetPushGateway
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Transactions", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct TransactionTests {
    private struct Refused: Error, Equatable {}

    private static let user = UserKey(realm: .root, name: "rolled-back")

    /// Changes rows of many kinds, and requests a side effect of each sort.
    private static func change(_ tx: inout ServerTransaction) throws {
        tx.directory.addWithoutPassword(user)
        try tx.directory.setLocked(true, UserKey(realm: .root, name: "mira"))
        _ = try tx.sessions.open(user, tree: "Login")
        try tx.send(
            .link("https://example.test/link", issuer: "Signet", in: .english),
            to: EmailRecipient(user: user, exists: true, address: nil))
        _ = try tx.lockouts.fail(user, Lockout(failures: 1, within: 60, duration: 60))
        _ = try tx.guesses.take(user, RateLimit(perMinute: 1, burst: 1))
        _ = try tx.console.invite()
        try tx.registrations.complete("none")
        let arn = "arn:aws:sns:us-east-1:000000000000:app/GCM/app"
        let application = try #require(SNSResource(arn))
        _ = try tx.gateway.create(application, arn: arn, token: "signet-mailbox-x", EndpointAttributes())
        tx.effects += [
            .wake("mechanism"), .endStreams("mechanism"), .dispatch("message"), .wakeInbox("inbox"), .endInbox("inbox"),
            .happened(RequestLogEntry.Push(.made, "message", device: nil)), .count(.lockedOut),
        ]
    }

    @Test("A transaction whose closure throws changes nothing and has no side effect", arguments: StateKind.available)
    func throwingClosureChangesNothing(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let (emails, metrics) = (Recorder<Email>(), TestMetrics())
            var configuration = location.configuration
            configuration.onEmail = { emails.add($0) }
            let server = DevServer(configuration: configuration, logger: .silent, metrics: metrics)
            let store = server.context.store
            // The row that the closure changes is read and changed before in the same server.
            _ = try await store.write { tx in try tx.sessions.open(UserKey(realm: .root, name: "noa"), tree: "Login") }
            let before = try await server.snapshot().rows
            await #expect(throws: Refused.self) {
                try await store.write { tx in
                    try Self.change(&tx)
                    throw Refused()
                }
            }
            #expect(try await server.snapshot().rows == before)
            #expect(emails.all.isEmpty)
            #expect(metrics.counters.map(\.totalValue).reduce(0, +) == 0)
            #expect(server.context.requestLog.entries.isEmpty)
            let user = try await store.read { tx in try tx.directory[Self.user] }
            #expect(user == nil)
            // Without the error, each of these is seen.
            try await store.write { tx in try Self.change(&tx) }
            #expect(try await server.snapshot().count > before.count)
            #expect(emails.all.count == 1)
            #expect(metrics.counters.map(\.totalValue).reduce(0, +) == 1)
            #expect(!server.context.requestLog.entries.isEmpty)
            await server.close()
        }
    }

    /// Returns all rows as they are stored, also those that cannot be read.
    private static func stored(in engine: TransactionQueue) throws -> [RowKey: StoredRow] {
        Dictionary(uniqueKeysWithValues: try FrozenRows.all(in: engine.store).map { ($0.key, $0.row) })
    }

    @Test("A read of a damaged row throws in the closure, and nothing of the closure is stored", arguments: StateKind.available)
    func damagedRowThrowsInClosure(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let server = DevServer(configuration: location.configuration, logger: .silent)
            let store = server.context.store
            let engine = try await store.queue
            let key = RowKey(.user, Self.user.rowName)
            try await engine.exclusively { (_, _) throws(StoreError) in
                var changes = RowChanges()
                changes.rows[key] = StoredRow(bytes: [200])
                return ((), changes)
            }
            let before = try Self.stored(in: engine)
            let seen = Recorder<StoreError.Code>()
            let error = await #expect(throws: StoreError.self) {
                try await store.write { tx in
                    _ = try tx.sessions.open(UserKey(realm: .root, name: "noa"), tree: "Login")
                    do {
                        return try tx.directory.contains(Self.user)
                    } catch let error as StoreError {
                        seen.add(error.code)
                        throw error
                    }
                }
            }
            #expect(error?.code == .newerFormat && seen.all == [.newerFormat])
            #expect(try Self.stored(in: engine) == before)
            // An absent row is not an error.
            let absent = try await store.read { tx in try tx.directory[UserKey(realm: .root, name: "absent")] }
            #expect(absent == nil)
            await server.close()
        }
    }

    @Test(
        "A read that the store fails throws in the closure, and nothing of the closure is stored", arguments: StateKind.available)
    func failedReadThrowsInClosure(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let rows = FailingRows(try location.rows())
            let engine = TransactionQueue(rows, RowCoder(StateLocation.key), clock: AdjustableClock(ManualClock()))
            defer { engine.close() }
            let (written, read) = (RowKey(kind: "k", name: "written"), RowKey(kind: "k", name: "read"))
            @Sendable func isAbsent(_ key: RowKey, _ rows: RowCache) throws(StoreError) -> Bool {
                (try rows.value(key) as RowCache.Present<String>?) == nil
            }
            let seen = Recorder<StoreError.Code>()
            let error = await #expect(throws: StoreError.self) {
                try await engine.run { rows in
                    rows.put("new", written)
                    do {
                        return (try isAbsent(read, rows), [])
                    } catch let error as StoreError {
                        seen.add(error.code)
                        throw error
                    }
                }
            }
            #expect(error?.code == .failed && seen.all == [.failed])
            rows.isFailing.withLock { $0 = false }
            let areAbsent = try await engine.run { rows in (try isAbsent(written, rows) && isAbsent(read, rows), []) }
            #expect(areAbsent)
        }
    }

    @Test("The transactions of a batch commit although others in the batch throw", arguments: StateKind.available)
    func batchCommitsSuccessfulTransactions(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let server = DevServer(configuration: location.configuration, logger: .silent)
            let store = server.context.store
            let results = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let sent: Void? = try? await store.write { tx in
                            // All change the same row, and each sees only the committed changes of the others.
                            let before = try tx.emails.links(of: Self.user).map { Int($0) ?? -1 }
                            let recipient = EmailRecipient(user: Self.user, exists: true, address: nil)
                            let content = EmailContent.link(
                                String((before.last ?? 0) + 1), issuer: "Signet", in: .english)
                            try tx.emails.keep(SentEmail(content, to: recipient, at: tx.now), for: recipient)
                            if number % 2 == 0 { throw Refused() }
                        }
                        return sent != nil
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            let committed = results.count { $0 }
            #expect(committed == 50)
            let links = try await store.read { tx in try tx.emails.links(of: Self.user) }
            #expect(links.last == "50")
            await server.close()
            guard kind != .memory else { return }
            let again = DevServer(configuration: location.configuration, logger: .silent)
            let kept = try await again.context.store.read { tx in try tx.emails.links(of: Self.user) }
            #expect(kept == links)
            await again.close()
        }
    }

    @Test("A transaction on rows in memory runs at once in the task of its caller, and other work on the queue")
    func runsInTaskOfCaller() async throws {
        let language = PageLanguage(tag: try #require(LanguageTag("de")), texts: [:])
        let engine = TransactionQueue(MemoryRows(), RowCoder(StateLocation.key), clock: AdjustableClock(ManualClock()))
        // A value of the task is only seen inside of it.
        let (transaction, exclusive) = try await PageLanguage.$current.withValue(language) {
            let transaction = try await engine.run { rows in
                rows.put("new", RowKey(kind: "k", name: "n"))
                return (PageLanguage.current.tag.text, [])
            }
            let exclusive = try await engine.exclusively { (_, _) throws(StoreError) in
                (PageLanguage.current.tag.text, RowChanges())
            }
            return (transaction, exclusive)
        }
        #expect(transaction == "de" && exclusive == "en")
        let value = try await engine.run { rows in
            ((try rows.value(RowKey(kind: "k", name: "n")) as RowCache.Present<String>?)?.value, [])
        }
        #expect(value == "new" && engine.writes.commits == 1)
    }

    @Test("The lasting effects of a refusal survive a restart", arguments: StateKind.persistent)
    func refusalEffectsSurviveRestart(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let seen = Mutex<[String: String]>([:])
            let limit: (inout ServerConfiguration) -> Void = {
                $0.limits.lockout = Lockout(failures: 2, within: 60, duration: 100)
            }
            try await location.server(clock: clock, limit) { server in
                // A code sent with a wrong verifier is spent, and a repeated code revokes its tokens.
                let session = try await server.session()
                let tampered = try await server.code(session)
                #expect(try await server.exchange(tampered, ["code_verifier": String(repeating: "x", count: 43)]).status == 400)
                let twice = try await server.code(session)
                let tokens = try Tokens(try await server.exchange(twice))
                #expect(try await server.exchange(twice).status == 400)
                // A repeated refresh token revokes its tokens too.
                let rotated = try Tokens(try await server.exchange(try await server.code(session)))
                let spent = try #require(rotated.refresh)
                let newer = try Tokens(try await server.refresh(spent))
                #expect(try await server.refresh(spent).status == 400)
                // A step of a journey can be answered once, and a wrong password is counted.
                var step = try await server.start("Login").step
                step.fill("NameCallback", "mira")
                step.fill("PasswordCallback", "wrong")
                #expect(try await server.next(step).status == 401)
                #expect(try await server.logIn("Login", name: "noa", password: "wrong").status == 401)
                let authID = step.authId
                seen.withLock {
                    $0 = ["tampered": tampered, "access": tokens.access, "newer": newer.access, "authID": authID]
                }
            }
            try await location.server(clock: clock, limit) { server in
                let seen = seen.withLock { $0 }
                #expect(try await server.exchange(seen["tampered", default: ""]).error == "invalid_grant")
                #expect(try await server.userInfo(seen["access", default: ""]).status == 401)
                #expect(try await server.userInfo(seen["newer", default: ""]).status == 401)
                let continuation = JourneyContinuation(
                    realm: .root, authID: seen["authID", default: ""], callbacks: nil, noSession: false)
                let again = try await server.devServer.context.store.write { tx in try tx.proceed(continuation) }
                #expect(throws: APIError.journeyTimedOut) { try again.get() }
                #expect(try await server.logIn("Login", name: "noa", password: "wrong").message == "Login failure")
                #expect(try await server.logIn("Login", name: "noa", password: "staple").message == "User Locked Out.")
            }
        }
    }
}

/// Rows of a store whose reads fail as long as ``isFailing`` is true.
private final class FailingRows: RowStore {
    private struct Reader: RowReader {
        let base: any RowReader
        let isFailing: Bool

        private func check() throws(StoreError) {
            if isFailing { throw StoreError(.failed, "read the state", "the disk is broken") }
        }

        func row(_ key: RowKey) throws(StoreError) -> StoredRow? {
            try check()
            return try base.row(key)
        }

        func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow] {
            try check()
            return try base.rows(kind, selection, at: now, limit: limit)
        }

        func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int {
            try check()
            return try base.count(kind, at: now, limit: limit)
        }

        func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool {
            try check()
            return try base.isFull(kind, at: now)
        }
    }

    private let base: any RowStore
    let isFailing = Mutex(true)

    init(_ base: any RowStore) { self.base = base }

    func transact<R>(_ body: (any RowReader) throws(StoreError) -> (R, RowChanges)) throws(StoreError) -> R {
        let isFailing = isFailing.withLock { $0 }
        return try base.transact { (reader) throws(StoreError) in try body(Reader(base: reader, isFailing: isFailing)) }
    }

    func close() { base.close() }
}

/// Values in the order of their arrival.
private final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
