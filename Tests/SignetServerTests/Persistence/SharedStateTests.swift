import Foundation
import Glibc
import HTTPTypes
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Several servers on one database and the events between them.
@Suite(
    "State shared by several servers", .postgresServer, .serialized, .timeLimit(.minutes(5)),
    .enabled(if: StateKind.available.contains(.postgreSQL)))
struct SharedStateTests {
    // MARK: Signals

    @Test("A login at another server wakes a stream, after a lost database connection as soon as it is restored")
    func wakesStreamAfterLostConnection() async throws {
        try await withTwo { one, other, database in
            let phone = try await other.registeredPhone()
            let watch = try await StreamWatch.begin(phone.uid, at: one, beside: other, database)
            let before = watch.count
            let first = try await other.waitingLogin(phone: phone).push
            let isWoken = try await eventually { watch.count > before }
            #expect(isWoken)

            try await database.refuseConnections(true)
            try await database.endListeners()
            let second = try await other.waitingLogin(phone: phone).push
            #expect(try await database.listeners().isEmpty, "the signal of the second login reached a listener")
            let deaf = watch.count
            try await database.refuseConnections(false)
            let isWokenLate = try await eventually { watch.count > deaf }
            #expect(isWokenLate)
            #expect(try await one.inbox(phone.uid).map(\.messageID) == [first.messageID, second.messageID])
            // From now on the server receives signals again.
            let again = watch.count
            _ = try await other.waitingLogin(phone: phone)
            let isWokenAgain = try await eventually { watch.count > again }
            #expect(isWokenAgain)
        }
    }

    @Test("A listener whose connection is silently dead is noticed and replaced")
    func replacesDeadListener() async throws {
        try await withTwo { one, other, database in
            let phone = try await other.registeredPhone()
            let watch = try await StreamWatch.begin(phone.uid, at: one, beside: other, database)
            let silent = try await database.listeners()
            try #require(silent.count == 2)
            for process in silent { try #require(kill(process, SIGSTOP) == 0) }
            // The processes are resumed in any case; otherwise the database could not be stopped.
            defer { for process in silent { kill(process, SIGCONT) } }
            _ = try await other.waitingLogin(phone: phone)
            let before = watch.count
            var isWoken = false
            for _ in 0..<4 where !isWoken { isWoken = try await eventually { watch.count > before } }
            #expect(isWoken)
        }
    }

    @Test("A snapshot restored at one server wakes the streams of the others")
    func restoredSnapshotWakesStreams() async throws {
        try await withTwo { one, other, database in
            let phone = try await other.registeredPhone()
            let login = try await other.waitingLogin(phone: phone)
            let snapshot = try await other.devServer.snapshot()
            #expect(try await phone.answer(login.push, at: other).status == 200)
            let watch = try await StreamWatch.begin(phone.uid, at: one, beside: other, database)
            let before = watch.count
            try await other.devServer.restore(snapshot)
            let isWoken = try await eventually { watch.count > before }
            #expect(isWoken)
            #expect(try await one.inbox(phone.uid).map(\.messageID) == [login.push.messageID])
        }
    }

    // MARK: Conflicts

    private static let key = RowKey(kind: "k", name: "number")

    /// Adds one to a number; `meanwhile` runs after the number was read.
    private static func increment(_ server: TestServer, _ meanwhile: @escaping @Sendable () -> Void = {}) async throws -> Int {
        try await server.devServer.context.store.queue.run { transaction in
            let number = (try transaction.value(key) as RowCache.Present<Int>?)?.value ?? 0
            meanwhile()
            transaction.put(number + 1, key)
            return (number + 1, [])
        }
    }

    @Test("Concurrent changes of two servers to one row are all kept, and each sees the previous one")
    func keepsConcurrentChanges() async throws {
        try await withTwo { one, other, _ in
            let seen = try await atOnce(8) { lane in
                var seen: [Int] = []
                for _ in 0..<50 { seen.append(try await Self.increment([one, other][lane % 2])) }
                return seen
            }
            #expect(seen.joined().sorted() == Array(1...400))
        }
    }

    @Test("A conflicting change runs again and after several conflicts runs exclusively", arguments: [1, 3, 20])
    func retriesConflictingChange(times: Int) async throws {
        try await withTwo { one, other, database in
            let (runs, others, isHeldBack, isTimedOut) = (Counter(), Counter(), Latch(), Latch())
            // The thread that runs the change has no task-local values.
            let postgres = try #require(PostgresTrait.server)
            let value = try await Self.increment(one) {
                runs.add()
                guard runs.count <= times else { return }
                // The thread waits here, with the row read, until another server has changed the row or waits for an exclusive change.
                let (isExclusive, done) = (runs.count > 3, DispatchSemaphore(value: 0))
                Task {
                    defer { if !isExclusive { done.signal() } }
                    _ = try await Self.increment(other)
                    others.add()
                }
                if isExclusive {
                    Task {
                        defer { done.signal() }
                        if try await eventually({ try await database.holdsChangeBack(in: postgres) }) { isHeldBack.set() }
                    }
                }
                if done.wait(timeout: .now() + .seconds(60)) == .timedOut { isTimedOut.set() }
            }
            #expect(!isTimedOut.isSet)
            let isExclusive = times > 3
            #expect(isHeldBack.isSet == isExclusive)
            #expect(runs.count == (isExclusive ? 4 : times + 1))
            #expect(value == (isExclusive ? 4 : times + 1))
            // The changes that were held back follow.
            let all = isExclusive ? 4 : times
            let areAllThrough = try await eventually { others.count == all }
            #expect(areAllThrough)
            #expect(try await Self.increment(other) == all + 2)
        }
    }

    // MARK: Sweeping

    @Test("Expired rows are removed in the background without delaying a request")
    func sweepsInBackground() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let store = try location.rows()
            defer { store.close() }
            func write(_ names: [String], until end: Int64, now: Int64) throws {
                try store.transact { _ throws(StoreError) in
                    var changes = RowChanges()
                    changes.now = now
                    for name in names { changes.rows[RowKey(kind: "k", name: name)] = StoredRow(expiresAt: end, bytes: []) }
                    return ((), changes)
                }
            }
            func count() throws -> Int {
                try store.transact { reader throws(StoreError) in
                    (try reader.count("k", at: .min, limit: 100), RowChanges())
                }
            }
            try write((0..<10).map { "old \($0)" }, until: 100, now: 0)
            // The removal of a row waits until the gate is open.
            try await location.execute(
                """
                CREATE TABLE gate (number integer);
                CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN OLD; END';
                CREATE TRIGGER held BEFORE DELETE ON signet_row FOR EACH ROW EXECUTE FUNCTION held()
                """)
            // Rows are removed only at intervals, so the first write does not always begin to remove them.
            let isHeld = try await eventually {
                try write(["new"], until: 1000, now: 100)
                return try await location.removesRows()
            }
            #expect(isHeld)
            #expect(try count() == 11, "the write returned before the expired rows were removed")
            try await location.execute("INSERT INTO gate VALUES (1)")
            // A removal that was held for longer than the statement timeout has failed; a later write begins another one.
            let isSwept = try await eventually {
                try write(["new"], until: 1000, now: 100)
                return try count() == 1
            }
            #expect(isSwept)
        }
    }

    // MARK: Helpers

    private func withTwo(
        _ body: @escaping @Sendable (TestServer, TestServer, _ database: StateLocation) async throws -> Void
    ) async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock, { $0.streamKeepAlive = .seconds(600) }) { one in
                try await location.server(clock: clock, { $0.streamKeepAlive = .seconds(600) }) { other in
                    try await one.devServer.context.prepare()
                    try await other.devServer.context.prepare()
                    try await body(one, other, location)
                }
            }
        }
    }
}

/// A stream of a device and the number of its signals.
private final class StreamWatch: Sendable {
    private let signals = Mutex(0)
    var count: Int { signals.withLock { $0 } }

    /// Opens a stream at a server that listens to the others, once all signals of earlier changes have arrived there.
    static func begin(
        _ mechanismUID: String, at server: TestServer, beside other: TestServer, _ database: StateLocation
    ) async throws -> StreamWatch {
        let bothListen = try await eventually { try await database.listeners().count == 2 }
        #expect(bothListen)
        // Signals arrive in the order in which they were sent: the earlier ones have arrived when this stream ends.
        let barrier = server.devServer.context.streams.open("barrier")
        try await other.devServer.context.store.queue.run { transaction in
            transaction.put(0, RowKey(kind: "k", name: "barrier"))
            return ((), [ClusterMessage.endStreams("barrier").text])
        }
        let hasArrived = try await eventually { server.devServer.context.streams.count("barrier") == 0 }
        #expect(hasArrived)
        withExtendedLifetime(barrier) {}
        let watch = StreamWatch()
        let stream = server.devServer.context.streams.open(mechanismUID)
        Task { for await _ in stream.signals { watch.signals.withLock { $0 += 1 } } }
        // A new stream is woken once.
        let isOpen = try await eventually { watch.count == 1 }
        #expect(isOpen)
        return watch
    }
}

extension StateLocation {
    /// The name of the database.
    private var database: String {
        get throws {
            guard case .postgreSQL(let connection) = state.location else { return "" }
            let text = String(decoding: connection.bytes, as: UTF8.self)
            let match = try #require(text.firstMatch(of: #/dbname=([a-z0-9]+)/#))
            return String(match.output.1)
        }
    }

    /// Runs SQL in the database.
    @discardableResult
    func execute(_ sql: String) async throws -> [String] {
        try await #require(PostgresTrait.server).execute(sql, in: database)
    }

    /// The processes of the PostgreSQL server that send to listeners.
    func listeners() async throws -> [Int32] {
        try await #require(PostgresTrait.server).execute(
            """
            SELECT pid FROM pg_stat_activity
            WHERE datname = '\(database)' AND query LIKE 'LISTEN%' AND state = 'idle'
            """
        ).compactMap { Int32($0) }
    }

    /// True when a change waits for an exclusive one.
    func holdsChangeBack(in postgres: PostgresServer) async throws -> Bool {
        let waiting = "SELECT 1 FROM pg_locks WHERE relation = 'signet_row_version'::regclass AND NOT granted"
        return try await !postgres.execute(waiting, in: database).isEmpty
    }

    /// True while expired rows are being removed.
    func removesRows() async throws -> Bool {
        let active = try "SELECT 1 FROM pg_stat_activity WHERE datname = '\(database)' AND state = 'active'"
        return try await !execute("\(active) AND query LIKE 'DELETE FROM signet_row WHERE ctid%'").isEmpty
    }

    func endListeners() async throws {
        try await #require(PostgresTrait.server).execute(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = '\(database)' AND query LIKE 'LISTEN%'
            """)
    }

    /// Refuses or accepts new connections; existing connections remain.
    func refuseConnections(_ refuses: Bool) async throws {
        try await #require(PostgresTrait.server).execute("ALTER DATABASE \(database) ALLOW_CONNECTIONS \(!refuses)")
    }
}
