#if PostgreSQL && os(Linux)
import Dispatch

/// Records in a table of a PostgreSQL database, for deployments with several machines.
///
/// Building it requires the trait `PostgreSQL`, and running it requires `libpq.so.5`. The server must be version 12 or later.
///
/// A write takes an advisory lock of the table before its closure runs. All users of the store, on any machine, therefore write
/// one after another, and no closure runs a second time. A program that changes the table without this store ignores the lock. A
/// read sees one snapshot and does not wait for writers. Commits are durable when they return: a server that does not flush its
/// log (`fsync=off`) is rejected, and `synchronous_commit=off` is overridden. Only a deferred write uses it.
///
/// Every call blocks its thread until the server has answered. Before that, it may wait without limit for other calls of this
/// process. Do not call it from a task, because it would block a thread that other tasks need. In SignetAuthenticator,
/// `RemoteAccountRecords` waits on threads of its own.
///
/// The table holds bytes as they are: for secrets, put a ``Vault`` on top. Names may have up to ``maxNameLength`` bytes. For
/// connections between machines, put `sslmode=verify-full` in the connection string. The default of libpq does not verify the
/// server.
public final class PostgresStore: RecordStore, ClearOnDisk, DeferredWriting {
    private let pool: PostgresPool
    private let table: String
    /// Lets one write of this process at a time use a connection.
    ///
    /// Further writes would only occupy connections while they wait. It is a semaphore like that of ``PostgresPool``, because its
    /// holder waits for the database and for other processes. A ``Mutex`` protects a value in memory for the short time of a
    /// closure.
    private let writers = DispatchSemaphore(value: 1)

    /// The default timeout for another process and for the response to a command, in seconds.
    ///
    /// After the timeout, a transaction fails with ``StoreError/Code/busy``.
    public static let defaultTimeout = 5.0
    /// The length of the longest name of a record, in bytes, which the table's index accepts.
    public static let maxNameLength = 2_000

    /// Opens the table, and checks that the server makes commits durable.
    /// - Parameters:
    ///   - connection: A libpq connection string: `host=/run/postgresql dbname=signet`, or a `postgresql://` URI. Missing
    ///     settings come from libpq's environment variables and password file. The string is kept as a secret and never shown.
    ///   - table: The table's name, at most 63 bytes of UTF-8, looked up in the user's search path.
    ///   - creating: Pass true to create the table. If it exists already, the call fails with ``StoreError/Code/exists``.
    ///   - connections: The maximum number of open connections.
    ///   - timeout: The timeout for another process and for a response, in seconds.
    /// - Throws: ``StoreError/Code/noVault`` when the table or database does not exist; ``StoreError/Code/denied`` when the
    ///   server does not accept the user; ``StoreError/Code/failed`` when it cannot be reached or libpq is not installed.
    public init(
        connection: String, table: String = "signet_record", creating: Bool = false, connections: Int = 4,
        timeout: Double = defaultTimeout
    ) throws(StoreError) {
        guard (1...63).contains(table.utf8.count), !table.utf8.contains(0) else {
            throw StoreError(.failed, "open the store", "a table's name has 1 to 63 bytes and no NUL")
        }
        let name = "\"" + table.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        self.table = name
        let settings = try PostgresSettings(connection, timeout: timeout)
        if creating { try Self.createTable(name, settings) }
        pool = PostgresPool(size: connections) { () throws(StoreError) in
            let connection = try PostgresConnection(settings)
            try PostgresCommands.setUp(connection, table: name, timeout: timeout)
            return connection
        }
        // This opens the first connection, which fails if the table does not exist.
        try read { _ in }
    }

    /// Closes the connections that are not in use.
    ///
    /// A later call opens new ones.
    public func close() {
        pool.close()
    }

    /// Reads a consistent state: one snapshot of the table.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return try pool.withTransaction(begin, "read") { (connection) throws(StoreError) in
            defer { _ = try? connection.run("ROLLBACK", "read") }
            return try body(PostgresTransaction(connection: connection))
        }
    }

    /// Reads and changes records in one transaction.
    ///
    /// The changes are durable when it returns.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R { try write("", body) }

    /// Reads and changes records in one transaction, and does not wait until the server has flushed its log.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try write("SET LOCAL synchronous_commit = off; ", body)
    }

    /// Runs a transaction that begins with the command `setting`.
    private func write<R>(
        _ setting: String, _ body: (any RecordWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        writers.wait()
        defer { writers.signal() }
        // With READ COMMITTED, each command sees everything that was committed before this transaction got the lock. A
        // transaction with a single snapshot would take it with the command that waits for the lock.
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; " + setting + PostgresCommands.lock(table)
        return try pool.withTransaction(begin, "write") { (connection) throws(StoreError) in
            let value: R
            do throws(StoreError) {
                value = try body(PostgresTransaction(connection: connection))
            } catch {
                _ = try? connection.run("ROLLBACK", "write")
                throw error
            }
            try Self.commit(connection)
            return value
        }
    }

    private static func commit(_ connection: PostgresConnection) throws(StoreError) {
        let answer: PostgresConnection.Answer
        do throws(StoreError) {
            answer = try connection.run("COMMIT", "write")
        } catch {
            throw connection.isAlive ? error : PostgresFailure.commitLost
        }
        // If a command of the transaction failed, COMMIT rolls it back, and the server does not report that as an error.
        guard answer.command == "COMMIT" else {
            throw StoreError(.failed, "write", "an earlier command of the transaction failed; nothing was changed")
        }
    }

    private static func createTable(_ table: String, _ settings: PostgresSettings) throws(StoreError) {
        let connection = try PostgresConnection(settings)
        defer { connection.close() }
        _ = try connection.run(PostgresCommands.createTable(table), "create the store")
    }
}

/// The operations inside of a transaction.
private struct PostgresTransaction: RecordWriter {
    let connection: PostgresConnection

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        let answer = try connection.run(
            prepared: "record", [Array(key.kind.rawValue.utf8), key.name], "read a record of kind \(key.kind.rawValue)")
        return answer.rows.first?.first
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        let count = withUnsafeBytes(of: Int64(max(0, limit)).bigEndian) { Array($0) }
        let kindName = Array(kind.rawValue.utf8)
        let operation = "list the records of kind \(kind.rawValue)"
        let answer =
            if let name {
                try connection.run(prepared: "records after", [kindName, count, name], operation)
            } else {
                try connection.run(prepared: "records", [kindName, count], operation)
            }
        return answer.rows.map { StoredRecord(name: $0[0], content: .success($0[1])) }
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        let operation = "write a record of kind \(key.kind.rawValue)"
        guard key.name.count <= PostgresStore.maxNameLength else {
            throw StoreError(.failed, operation, "its name is longer than \(PostgresStore.maxNameLength) bytes")
        }
        _ = try connection.run(prepared: "put", [Array(key.kind.rawValue.utf8), key.name, bytes], operation)
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        _ = try connection.run(
            prepared: "remove", [Array(key.kind.rawValue.utf8), key.name], "remove a record of kind \(key.kind.rawValue)")
    }
}

/// The SQL commands of ``PostgresStore``.
///
/// `table` is a quoted name.
private enum PostgresCommands {
    static func createTable(_ table: String) -> String {
        "CREATE TABLE \(table) (kind text COLLATE \"C\" NOT NULL, name bytea NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (kind, name))"
    }

    /// Returns the command that waits for the write lock.
    ///
    /// The lock contains the object ID of the table, so that two stores use different locks.
    static func lock(_ table: String) -> String {
        let text = table.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        return
            "SELECT pg_catalog.pg_advisory_xact_lock(\(lockClass), '\(text)'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.int4)"
    }

    /// `SGNT` as a number: the first key of the advisory locks of this store.
    private static let lockClass = 0x5347_4E54

    static func setUp(_ connection: PostgresConnection, table: String, timeout: Double) throws(StoreError) {
        // The server interprets zero as no limit.
        let milliseconds = max(1, Int((timeout * 1000).rounded(.up)))
        _ = try connection.run(
            "SET lock_timeout = \(milliseconds); SET statement_timeout = \(milliseconds); SET standard_conforming_strings = on",
            "open the store")
        try makeDurable(connection)
        for (name, sql) in statements(table) { try connection.prepare(name, sql, "open the store") }
    }

    /// Checks that commits are durable by reading the settings back, as with SQLite.
    ///
    /// Turns `synchronous_commit` on if it is off.
    private static func makeDurable(_ connection: PostgresConnection) throws(StoreError) {
        func setting(_ name: String) throws(StoreError) -> String {
            let answer = try connection.run("SHOW \(name)", "open the store")
            return answer.rows.first?.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        guard try setting("fsync") == "on" else {
            throw StoreError(.failed, "open the store", "the server does not make commits durable: it runs with fsync=off")
        }
        if try setting("synchronous_commit") == "off" {
            _ = try connection.run("SET synchronous_commit = on", "open the store")
            guard try setting("synchronous_commit") == "on" else {
                throw StoreError(.failed, "open the store", "the server does not make commits durable")
            }
        }
    }

    private static func statements(_ table: String) -> [(name: String, sql: String)] {
        [
            ("record", "SELECT bytes FROM \(table) WHERE kind = $1::text AND name = $2::bytea"),
            ("records", "SELECT name, bytes FROM \(table) WHERE kind = $1::text ORDER BY name LIMIT $2::int8"),
            (
                "records after",
                "SELECT name, bytes FROM \(table) WHERE kind = $1::text AND name > $3::bytea ORDER BY name LIMIT $2::int8"
            ),
            (
                "put",
                "INSERT INTO \(table) (kind, name, bytes) VALUES ($1::text, $2::bytea, $3::bytea)"
                    + " ON CONFLICT (kind, name) DO UPDATE SET bytes = excluded.bytes"
            ),
            ("remove", "DELETE FROM \(table) WHERE kind = $1::text AND name = $2::bytea"),
        ]
    }
}

#endif
