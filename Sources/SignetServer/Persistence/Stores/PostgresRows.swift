#if PostgreSQL && os(Linux)
import Dispatch
import SignetCore
import SignetStorage

/// Rows in a table of a PostgreSQL database, which several processes can use at once.
///
/// The server must be version 12 or later.
///
/// Transactions are serializable: when a transaction has read rows that another one changed meanwhile, it runs again. After
/// several such conflicts in a row, it locks the table first, so that every transaction completes. The processes exchange signals
/// with `LISTEN` and `NOTIFY`. The commit of a change also sends the signals about it.
final class PostgresRows: RowStore {
    private let settings: PostgresSettings
    /// The single connection for transactions.
    ///
    /// It is nil after it was lost, until the next transaction.
    private let connection = Mutex<PostgresConnection?>(nil)
    /// Allows one transaction at a time.
    ///
    /// It is a semaphore like that of ``PostgresPool``, because its holder waits for the database and for other processes. A
    /// ``Mutex`` protects a value in memory for the short time of a closure.
    private let turn = DispatchSemaphore(value: 1)
    private let isClosed = Latch()
    private let sweeper: PostgresSweeper
    private let listener: PostgresListener
    /// The prefix of this process's own signals, which its listener ignores.
    private let mark = "\(RandomID.uuid()) "

    /// The timeout for a statement, in seconds.
    private static let timeout = 5.0
    /// The number of attempts of a transaction before it locks the table exclusively.
    private static let maxOptimisticAttempts = 3
    private static let attempts = 8

    /// Opens the table, or creates it if it does not exist.
    /// - Throws: ``StoreError/Code/denied``, ``StoreError/Code/failed`` and other errors of a server that cannot be used;
    ///   ``StoreError/Code/newerFormat`` when a later version created the table.
    init(connection: String) throws(StoreError) {
        settings = try PostgresSettings(connection, timeout: Self.timeout)
        sweeper = PostgresSweeper { [settings] () throws(StoreError) in try Self.connect(settings) }
        let mark = mark
        listener = PostgresListener(ignoring: mark) { [settings] () throws(StoreError) in try Self.connect(settings) }
        let opened = try Self.connect(settings)
        try PostgresRowCommands.createTables(opened)
        try PostgresRowCommands.prepare(opened)
        self.connection.withLock { $0 = opened }
    }

    private static func connect(_ settings: PostgresSettings) throws(StoreError) -> PostgresConnection {
        let connection = try PostgresConnection(settings)
        try PostgresRowCommands.setUp(connection, timeout: timeout)
        return connection
    }

    func transact<R>(
        _ body: (any RowReader) throws(StoreError) -> (R, RowChanges)
    ) throws(StoreError) -> R {
        turn.wait()
        defer { turn.signal() }
        var attempt = 1
        while true {
            let connection = try begun(isExclusive: attempt > Self.maxOptimisticAttempts)
            do throws(StoreError) {
                return try run(on: connection, body)
            } catch {
                if connection.isAlive { _ = try? connection.run("ROLLBACK", "roll back") }
                if !connection.isIdle { drop(connection) }
                guard error.isConflict, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
    }

    /// Begins a transaction and returns its connection.
    ///
    /// Replaces a connection that was lost since its last use.
    private func begun(isExclusive: Bool) throws(StoreError) -> PostgresConnection {
        let begin = PostgresRowCommands.begin(isExclusive: isExclusive)
        if let connection = connection.withLock({ $0 }) {
            do throws(StoreError) {
                _ = try connection.run(begin, "begin a transaction")
                return connection
            } catch {
                if connection.isAlive { _ = try? connection.run("ROLLBACK", "roll back") }
                guard !connection.isIdle else { throw error }
                drop(connection)
            }
        }
        guard !isClosed.isSet else { throw StoreError(.failed, "use the state", "it is closed") }
        let fresh = try Self.connect(settings)
        try PostgresRowCommands.prepare(fresh)
        _ = try fresh.run(begin, "begin a transaction")
        connection.withLock { $0 = fresh }
        return fresh
    }

    private func drop(_ lost: PostgresConnection) {
        lost.close()
        connection.withLock { $0 = nil }
    }

    private func run<R>(
        on connection: PostgresConnection, _ body: (any RowReader) throws(StoreError) -> (R, RowChanges)
    ) throws(StoreError) -> R {
        let reader = PostgresRowReader(connection: connection)
        let (value, changes) = try body(reader)
        guard !changes.rows.isEmpty || !changes.signals.isEmpty else {
            _ = try connection.run("COMMIT", "read the state")
            return value
        }
        try reader.apply(changes, mark: mark)
        do throws(StoreError) {
            _ = try connection.run("COMMIT", "write the state")
        } catch {
            // If the connection is still usable, the server has rejected the commit because of a conflict. Otherwise the outcome
            // is unknown.
            throw connection.isAlive && connection.isIdle ? error : PostgresFailure.commitLost
        }
        sweeper.sweep(at: changes.now)
        return value
    }

    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void) {
        listener.listen(receive)
    }

    func close() {
        isClosed.set()
        listener.close()
        sweeper.close()
        connection.withLock { connection in
            connection?.close()
            connection = nil
        }
    }

    deinit { close() }
}

/// The SQL commands of ``PostgresRows``.
enum PostgresRowCommands {
    static let channel = "signet_row"

    static func setUp(_ connection: PostgresConnection, timeout: Double) throws(StoreError) {
        let milliseconds = Int(timeout * 1000)
        _ = try connection.run(
            """
            SET statement_timeout = \(milliseconds); SET lock_timeout = \(milliseconds);
            SET idle_in_transaction_session_timeout = \(milliseconds * 2); SET synchronous_commit = on;
            SET client_min_messages = error; SET enable_seqscan = off; SET enable_bitmapscan = off
            """, "connect to PostgreSQL")
        let durable = try connection.run("SHOW fsync", "connect to PostgreSQL").rows.first?.first
        guard durable.map({ String(decoding: $0, as: UTF8.self) }) == "on" else {
            throw StoreError(
                .failed, "connect to PostgreSQL", "the server does not flush its log (fsync=off): commits are not durable")
        }
    }

    /// Creates the tables.
    ///
    /// If several servers start at the same time, one creates the tables and the others wait.
    static func createTables(_ connection: PostgresConnection) throws(StoreError) {
        do throws(StoreError) {
            _ = try connection.run(
                """
                BEGIN; SELECT pg_advisory_xact_lock(hashtext('signet_row'));
                \(Schema.postgreSQL);
                COMMIT
                """, "open the state")
        } catch {
            _ = try? connection.run("ROLLBACK", "roll back")
            throw error
        }
        let found = try connection.run("SELECT max(version) FROM signet_row_version", "open the state").rows.first?.first
        guard found.map({ String(decoding: $0, as: UTF8.self) }) == String(Schema.version) else {
            throw StoreError(.newerFormat, "open the state", "a later version of signet made the table; nothing was changed")
        }
    }

    /// Returns the command that begins a transaction.
    ///
    /// It takes a lock before the first read, because a serializable transaction sees the state at its first read. The shared
    /// lock of normal transactions and the exclusive lock exclude each other.
    static func begin(isExclusive: Bool) -> String {
        "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE signet_row_version IN \(isExclusive ? "EXCLUSIVE" : "ROW SHARE") MODE"
    }

    static let get = "signet_get"
    static let group = "signet_group"
    static let newest = "signet_newest"
    static let after = "signet_after"
    static let count = "signet_count"
    static let put = "signet_put"
    static let remove = "signet_remove"
    static let notify = "signet_notify"

    /// Returns the command that removes expired rows.
    ///
    /// It skips rows that other transactions have locked, so it does not wait.
    static func sweep(at now: Int64, limit: Int) -> String {
        """
        DELETE FROM signet_row WHERE ctid = ANY (ARRAY
        (SELECT ctid FROM signet_row WHERE expires <= \(now) ORDER BY expires LIMIT \(limit) FOR UPDATE SKIP LOCKED))
        """
    }

    static func prepare(_ connection: PostgresConnection) throws(StoreError) {
        let columns = "name, family, expires, bytes"
        let statements = [
            (get, "SELECT \(columns) FROM signet_row WHERE kind = $1::text AND name = $2::text"),
            (
                group,
                """
                SELECT \(columns) FROM signet_row WHERE kind = $1::text AND family = $2::text AND family <> '' AND expires > $3::bigint
                ORDER BY name LIMIT $4::bigint
                """
            ),
            (
                newest,
                """
                SELECT \(columns) FROM signet_row WHERE kind = $1::text AND expires > $2::bigint AND expires < \(StoredRow.never)
                ORDER BY expires DESC, name DESC LIMIT $3::bigint
                """
            ),
            (
                after,
                """
                SELECT \(columns) FROM signet_row WHERE kind = $1::text AND name > $2::text AND expires > $3::bigint
                ORDER BY name LIMIT $4::bigint
                """
            ),
            (
                count,
                """
                SELECT count(*) FROM (SELECT 1 FROM signet_row WHERE kind = $1::text AND expires > $2::bigint LIMIT $3::bigint) rows
                """
            ),
            (
                put,
                """
                INSERT INTO signet_row (kind, name, family, expires, bytes)
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[])
                ON CONFLICT (kind, name) DO UPDATE
                SET family = excluded.family, expires = excluded.expires, bytes = excluded.bytes
                """
            ),
            (
                remove,
                """
                DELETE FROM signet_row USING unnest($1::text[], $2::text[]) AS gone (kind, name)
                WHERE signet_row.kind = gone.kind AND signet_row.name = gone.name
                """
            ),
            (notify, "SELECT pg_notify('\(channel)', signal) FROM unnest($1::text[]) AS signals (signal)"),
        ]
        for (name, sql) in statements { try connection.prepare(name, sql, "open the state") }
    }
}

/// Reads and writes rows in a transaction that has begun.
struct PostgresRowReader: RowReader {
    let connection: PostgresConnection

    func row(_ key: RowKey) throws(StoreError) -> StoredRow? {
        try rows(PostgresRowCommands.get, [Array(key.kind.utf8), Array(key.name.utf8)], key.kind).first?.row
    }

    func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow] {
        let (kindBytes, now, limit) = (Array(kind.utf8), now.bigEndianBytes, Int64(max(0, limit)).bigEndianBytes)
        return switch selection {
        case .group(let group): try rows(PostgresRowCommands.group, [kindBytes, Array(group.utf8), now, limit], kind)
        case .newest: try rows(PostgresRowCommands.newest, [kindBytes, now, limit], kind)
        case .after(let name): try rows(PostgresRowCommands.after, [kindBytes, Array((name ?? "").utf8), now, limit], kind)
        }
    }

    func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int {
        let parameters = [Array(kind.utf8), now.bigEndianBytes, Int64(max(0, limit)).bigEndianBytes]
        let answer = try connection.run(prepared: PostgresRowCommands.count, parameters, "count the rows of kind \(kind)")
        return Int(answer.rows.first?.first.flatMap { Int64(bigEndianBytes: $0) } ?? 0)
    }

    func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool { false }

    func apply(_ changes: RowChanges, mark: String) throws(StoreError) {
        // The rows are written in one fixed order, so that two transactions which change the same rows conflict at the first one.
        let sorted = changes.rows.sorted { ($0.key.kind, $0.key.name) < ($1.key.kind, $1.key.name) }
        let put = sorted.compactMap { key, row in row.map { (key, $0) } }
        let gone = sorted.filter { $0.value == nil }.map(\.key)
        if !put.isEmpty {
            let parameters = [
                PostgresArray.texts(put.map(\.0.kind)), PostgresArray.texts(put.map(\.0.name)),
                PostgresArray.texts(put.map(\.1.group)),
                PostgresArray.bytes(of: put.map(\.1.expiresAt.bigEndianBytes), type: PostgresArray.bigint),
                PostgresArray.bytes(of: put.map(\.1.bytes), type: PostgresArray.bytea),
            ]
            _ = try connection.run(prepared: PostgresRowCommands.put, parameters, "write the state")
        }
        if !gone.isEmpty {
            let parameters = [PostgresArray.texts(gone.map(\.kind)), PostgresArray.texts(gone.map(\.name))]
            _ = try connection.run(prepared: PostgresRowCommands.remove, parameters, "write the state")
        }
        if !changes.signals.isEmpty {
            // `NOTIFY` has a limit of 8000 bytes. Longer signals are dropped, and the streams of other servers notice the change
            // a little later, when they poll.
            let signals = changes.signals.map { mark + $0 }.filter { $0.utf8.count < 8000 }
            _ = try connection.run(prepared: PostgresRowCommands.notify, [PostgresArray.texts(signals)], "write the state")
        }
    }

    private func rows(_ statement: String, _ parameters: [[UInt8]], _ kind: String) throws(StoreError) -> [NamedRow] {
        try connection.run(prepared: statement, parameters, "read a row of kind \(kind)").rows.map { columns in
            NamedRow(
                name: String(decoding: columns[0], as: UTF8.self),
                row: StoredRow(
                    group: String(decoding: columns[1], as: UTF8.self), expiresAt: Int64(bigEndianBytes: columns[2]) ?? 0,
                    bytes: columns[3]))
        }
    }
}

/// Arrays in PostgreSQL's binary format: one dimension, no nulls, each element preceded by its length.
private enum PostgresArray {
    // The object IDs of built-in types, which are the same on every server.
    static let bytea: Int32 = 17
    static let bigint: Int32 = 20
    static let text: Int32 = 25

    static func texts(_ texts: [String]) -> [UInt8] { bytes(of: texts.map { Array($0.utf8) }, type: text) }

    static func bytes(of elements: [[UInt8]], type: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + $1.count + 4 })
        for number in [1, 0, type, Int32(elements.count), 1] { bytes += number.bigEndianBytes }
        for element in elements {
            bytes += Int32(element.count).bigEndianBytes
            bytes += element
        }
        return bytes
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    fileprivate init?(bigEndianBytes bytes: [UInt8]) {
        guard bytes.count == Self.bitWidth / 8 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension StoreError {
    /// True when another transaction was in the way and a new attempt may succeed: SQLSTATE 40001 and 40P01.
    fileprivate var isConflict: Bool { code == .busy && (reason.contains("40001") || reason.contains("40P01")) }
}
#endif
