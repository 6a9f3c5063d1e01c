#if PostgreSQL
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing
import TestSupport

@Suite(
    "A store in PostgreSQL", .enabled(if: PostgresServer.isPossible, PostgresServer.reason), .postgresServer, .serialized,
    .timeLimit(.minutes(3)))
struct PostgresStoreTests {
    private let key = RecordKey(.account, "Harbor Bank", "mira")

    private func withStore(
        table: String = uniqueTable(), timeout: Double = 20, _ body: (PostgresStore, PostgresServer, String) async throws -> Void
    ) async throws {
        let server = try #require(PostgresTrait.server)
        let store = try PostgresStore(connection: server.connection, table: table, creating: true, timeout: timeout)
        defer { store.close() }
        try store.put([1], key)
        try await body(store, server, table)
    }

    @Test("A PostgreSQL store opens again with everything in it, and is created once")
    func reopensPostgresStore() async throws {
        try await withStore { _, server, table in
            let again = try PostgresStore(connection: server.connection, table: table)
            #expect(try again.get(key) == [1])
            #expect { try PostgresStore(connection: server.connection, table: table, creating: true) } throws: {
                code($0) == .exists
            }
            #expect(try again.get(key) == [1])
        }
    }

    @Test(
        "A PostgreSQL store accepts any table name, and keeps two tables separate",
        arguments: ["a\"b'c; DROP TABLE x --", "\\", "Größe", "%s"])
    func acceptsAnyTableName(name: String) async throws {
        try await withStore(table: name) { store, server, _ in
            try await withStore { other, _, _ in
                try other.put([2], key)
                #expect(try store.get(key) == [1])
            }
            try await server.execute("DROP TABLE \"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"")
        }
    }

    /// An error in the connection string, and the expected code.
    static let mistakes: [(String, StoreError.Code)] = [
        ("host='%H' user=signet dbname=postgres password='hunter2'", .denied),
        ("host='%H' user=nobody dbname=postgres password='hunter2'", .denied),
        ("host='%H' user=signet dbname=nowhere password='%P'", .noVault),
        ("host='%H' user=signet dbname=postgres password='%P'", .noVault),
        ("host=/nowhere user=signet password='hunter2'", .failed),
        ("host=127.0.0.1 port=1 user=signet password='hunter2'", .failed),
        ("host=x password='hunter2", .failed),
        ("host=x password = hunter1 hunter2", .failed),
        ("postgresql://signet:hunter2@[::1/x", .failed),
        ("hunter2", .failed),
    ]

    @Test("A PostgreSQL store that cannot open reports the reason, and never the password", arguments: mistakes)
    func reportsConnectionMistake(connection: String, expected: StoreError.Code) throws {
        let server = try #require(PostgresTrait.server)
        let host = server.address.split(separator: "'")[1]
        let connection = connection.replacingOccurrences(of: "%H", with: host)
            .replacingOccurrences(of: "%P", with: PostgresServer.password)
        #expect { try PostgresStore(connection: connection, table: "absent", timeout: 3) } throws: { error in
            let words = "\(error) \(String(reflecting: error))"
            return code(error) == expected && !words.contains("hunter") && !words.contains(PostgresServer.password)
        }
    }

    @Test("A PostgreSQL store refuses a record name too long for its index, and an impossible table name")
    func refusesLongNames() async throws {
        try await withStore { store, server, _ in
            let longest = RecordKey(.item, name: (0..<PostgresStore.maxNameLength).map { UInt8($0 * 167 % 251) })
            try store.put([1], longest)
            #expect(try store.get(longest) == [1])
            #expect { try store.put([1], RecordKey(.item, name: longest.name + [0])) } throws: { code($0) == .failed }
            for name in ["", String(repeating: "x", count: 64), "a\0b"] {
                #expect { try PostgresStore(connection: server.connection, table: name) } throws: { code($0) == .failed }
            }
        }
    }

    @Test("A PostgreSQL store locked by another process times out as busy, stays readable, and recovers")
    func reportsLockedTable() async throws {
        try await withStore(timeout: 5) { store, server, table in
            let holder = try PostgresStore(connection: server.connection, table: table)
            try holder.write { (records: any RecordWriter) throws(StoreError) in
                try records.put([2], key)
                #expect { try store.put([3], key) } throws: { code($0) == .busy }
                let seen = try store.get(key)
                #expect(seen == [1])
            }
            #expect(try store.get(key) == [2])
            try store.put([4], key)
            #expect(try holder.get(key) == [4])
        }
    }

    @Test("A PostgreSQL store times out as busy while the server hangs, and recovers with it")
    func reportsHangingServer() async throws {
        try await withStore(timeout: 5) { store, server, _ in
            let backend = try await #require(pid_t(server.execute(Self.otherBackends)[0]))
            kill(backend, SIGSTOP)
            defer { kill(backend, SIGCONT) }
            #expect { try store.put([2], key) } throws: { code($0) == .busy }
            kill(backend, SIGCONT)
            #expect(try store.get(key) == [1])
            try store.put([3], key)
            #expect(try store.get(key) == [3])
        }
    }

    private static let otherBackends =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'signet' AND pid <> pg_backend_pid()"
    private static let endOthers =
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'signet' AND pid <> pg_backend_pid()"

    @Test("A connection cut in the middle of a transaction changes nothing, and the store reconnects")
    func rollsBackCutTransaction() async throws {
        try await withStore { store, server, _ in
            let runs = Mutex(0)
            await #expect {
                try await onThread {
                    try store.write { (records: any RecordWriter) throws(StoreError) in
                        runs.withLock { $0 += 1 }
                        try records.put([2], key)
                        try cut(server)
                        try records.put([3], key)
                    }
                }
            } throws: {
                code($0) == .failed
            }
            let runCount = runs.withLock { $0 }
            #expect(runCount == 1)
            #expect(try store.get(key) == [1])
            try await server.execute(Self.endOthers)
            try store.put([4], key)
            #expect(try store.get(key) == [4])
        }
    }

    @Test("A connection cut before the commit is reported as an unknown outcome, and a read shows the outcome")
    func reportsCutCommit() async throws {
        try await withStore { store, server, _ in
            await #expect {
                try await onThread {
                    try store.write { (records: any RecordWriter) throws(StoreError) in
                        try records.put([2], key)
                        try cut(server)
                    }
                }
            } throws: {
                code($0) == .outcomeUnknown
            }
            let found = try store.get(key)
            #expect(found == [1])
        }
    }

    /// Runs in the middle of a transaction, which is synchronous: on a thread that may block.
    private func cut(_ server: PostgresServer) throws(StoreError) {
        let done = DispatchSemaphore(value: 0)
        let isCut = Mutex(false)
        Task {
            let answer = try? await server.execute(Self.endOthers)
            isCut.withLock { $0 = answer != nil }
            done.signal()
        }
        done.wait()
        guard isCut.withLock({ $0 }) else { throw StoreError(.failed, "test", "the connection is not cut") }
    }

    @Test("A crashed PostgreSQL server keeps every completed write, and of the last one all or nothing")
    func survivesServerCrash() async throws {
        try await withStore { store, server, _ in
            let last = Mutex(UInt8(1))
            let writer = Task.detached {
                try await onThread {
                    for value in UInt8(2)...255 {
                        try store.write { (records: any RecordWriter) throws(StoreError) in
                            for number in 0..<3 { try records.put([value], RecordKey(.item, "\(number)")) }
                        }
                        last.withLock { $0 = value }
                    }
                }
            }
            let isWriting = try await eventually { last.withLock { $0 } >= 20 }
            #expect(isWriting)
            try await server.crash()
            #expect { try store.get(key) } throws: { code($0) == .failed }
            let outcome = await writer.result
            try await server.start()
            #expect(throws: StoreError.self, performing: outcome.get)
            let found = Set(try store.all(.item))
            let acknowledged = last.withLock { $0 }
            #expect([[[acknowledged]], [[acknowledged + 1]]].map(Set.init).contains(found))
            try store.put([9], key)
            #expect(try store.get(key) == [9])
        }
    }

    @Test("A transaction with a failed command is not committed, even when the closure goes on")
    func rollsBackSwallowedFailure() async throws {
        try await withStore { store, server, table in
            try await server.execute(
                """
                CREATE FUNCTION "\(table) refuse"() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN IF NEW.kind = 'item' THEN RAISE EXCEPTION 'hunter2'; END IF; RETURN NEW; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON "\(table)" FOR EACH ROW EXECUTE FUNCTION "\(table) refuse"()
                """)
            #expect { try store.put([1], RecordKey(.item, "x")) } throws: { code($0) == .failed && !"\($0)".contains("hunter2") }
            #expect {
                try store.write { (records: any RecordWriter) throws(StoreError) in
                    try records.put([2], key)
                    try? records.put([1], RecordKey(.item, "x"))
                }
            } throws: {
                code($0) == .failed
            }
            #expect(try store.get(key) == [1])
        }
    }

    @Test("A PostgreSQL store is durable whatever the user's settings, and refuses a server that is not durable")
    func requiresDurability() async throws {
        try await withStore { _, server, table in
            try await server.execute(
                """
                CREATE FUNCTION "\(table) check"() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN IF current_setting('synchronous_commit') <> 'on' THEN RAISE EXCEPTION 'not durable'; END IF;
                    RETURN NEW; END $$;
                CREATE TRIGGER check_durability BEFORE UPDATE ON "\(table)" FOR EACH ROW EXECUTE FUNCTION "\(table) check"();
                ALTER ROLE signet SET synchronous_commit = off
                """)
            try PostgresStore(connection: server.connection, table: table).put([2], key)
            try await server.crash()
            try await server.start("fsync=off")
            #expect { try PostgresStore(connection: server.connection, table: table) } throws: { error in
                code(error) == .failed && "\(error)".contains("fsync=off")
            }
            try await server.crash()
            try await server.start()
            let again = try PostgresStore(connection: server.connection, table: table)
            #expect(try again.get(key) == [2])
            try await server.execute("ALTER ROLE signet RESET synchronous_commit")
        }
    }

    @Test("Only a deferred write to PostgreSQL does not wait for the server's disk")
    func defersCommitInPostgreSQL() async throws {
        try await withStore { store, server, table in
            try await server.execute(
                """
                CREATE FUNCTION "\(table) sync"() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN NEW.bytes = convert_to(current_setting('synchronous_commit'), 'UTF8'); RETURN NEW; END $$;
                CREATE TRIGGER sync BEFORE UPDATE ON "\(table)" FOR EACH ROW EXECUTE FUNCTION "\(table) sync"()
                """)
            for (durability, setting) in [(Durability.deferred, "off"), (.atReturn, "on"), (.deferred, "off"), (.atReturn, "on")]
            {
                try store.write(durability) { (records: any RecordWriter) throws(StoreError) in try records.put([2], key) }
                #expect(try store.get(key) == Array(setting.utf8))
            }
        }
    }

    @Test("An open vault in PostgreSQL goes on after a crash of the server, which can undo a deferred write")
    func survivesServerCrashAfterDeferredWrite() async throws {
        try await withStore { store, server, _ in
            try store.remove(key)
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let sealed = try vault(in: store, directory)
            try sealed.put([1], key)
            try sealed.putDeferred([2], key)
            try await server.crash()
            try await server.start()
            let found = try sealed.get(key)
            #expect(found == [1] || found == [2])
            try sealed.verifyRecords()
            try sealed.putDeferred([3], RecordKey(.item, "other"))
            try sealed.put([4], key)
            #expect(try sealed.get(key) == [4])
        }
    }

    @Test("A read-only table throws denied, and a table with another layout throws corrupt")
    func reportsUnusableTable() async throws {
        try await withStore { _, server, table in
            try await server.execute(
                """
                CREATE ROLE "reader \(table)" LOGIN PASSWORD 'read'; GRANT SELECT ON "\(table)" TO "reader \(table)";
                CREATE TABLE "not \(table)" (id int)
                """)
            let address = server.address.replacingOccurrences(of: "user=signet", with: "user='reader \(table)' password=read")
            let reader = try PostgresStore(connection: address, table: table)
            #expect(try reader.get(key) == [1])
            #expect { try reader.put([2], key) } throws: { code($0) == .denied }
            #expect { try PostgresStore(connection: server.connection, table: "not \(table)") } throws: { code($0) == .corrupt }
        }
    }

    @Test("Two programs with several connections lose no change, and never use one connection twice at a time")
    func twoProgramsLoseNoChange() async throws {
        try await withStore { store, server, table in
            let other = try PostgresStore(connection: server.connection, table: table, connections: 2, timeout: 20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    let store = number % 2 == 0 ? store : other
                    group.addTask {
                        try await onThread {
                            try store.write { (records: any RecordWriter) throws(StoreError) in
                                try records.put([(try records.record(key)?.first ?? 0) + 1], key)
                            }
                            _ = try store.all(.account)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try store.get(key) == [201])
        }
    }
}

private func code(_ error: any Error) -> StoreError.Code? { (error as? StoreError)?.code }
#endif
