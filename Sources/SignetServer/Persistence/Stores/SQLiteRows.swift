import Foundation
import GRDB
import SignetCore
import SignetStorage

/// Rows in one SQLite file, durable when a transaction returns (write-ahead log, `synchronous=FULL`).
///
/// Changes that need not survive a failure of the power are written without waiting for the disk (`synchronous=NORMAL`). The next
/// durable transaction makes them durable too, because the log has all transactions in their order.
///
/// The file is locked exclusively while it is open. What was read therefore stays valid, and another server cannot be started on
/// the same file by mistake.
final class SQLiteRows: RowStore {
    private let database: DatabaseQueue
    private let capacities: RowCapacities
    private let shortLived: Set<String>
    private let displaced = Mutex(0)
    /// True while SQLite waits for the disk at each commit.
    private let isSynchronous = Mutex(true)
    private let rowIDs: Mutex<RowIDs>
    /// The number of rows by kind that were written since expired rows of the kind were removed.
    private let unswept = Mutex<[String: Int]>([:])

    /// Opens the file.
    ///
    /// Creates a missing file with mode 0600, and a missing directory with mode 0700.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - capacities: The maximum numbers of rows by kind, which ``RowCapacities`` enforces. A kind that is missing has no limit.
    ///   - shortLived: The kinds whose rows are removed soon after they were written. They are stored apart from the other rows, so
    ///     that the pages of the file which they leave are used again.
    /// - Throws: ``StoreError/Code/busy`` when another process has the file open; ``StoreError/Code/insecurePermissions`` when other
    ///   users can access it; ``StoreError/Code/newerFormat`` when a later version created it; ``StoreError/Code/corrupt`` when
    ///   it is another kind of file.
    init(path: String, capacities: [String: Int] = [:], shortLived: Set<String> = []) throws(StoreError) {
        self.capacities = RowCapacities(capacities)
        self.shortLived = shortLived
        try PrivateFile.createDirectory(PrivateFile.directory(of: path))
        let isNew = !PrivateFile.exists(path) || PrivateFile.isEmpty(path)
        if !PrivateFile.exists(path) { try PrivateFile.create(path, containing: []) }
        try PrivateFile.check(path)
        do {
            let (database, rowIDs) = try Self.open(path, isNew: isNew)
            (self.database, self.rowIDs) = (database, Mutex(rowIDs))
        } catch {
            let failure = SQLiteFailure.storeError(error, "open \(path)")
            guard failure.code == .busy else { throw failure }
            throw StoreError(
                .busy, "open \(path)", "another server is using this file; stop it, or give this one a file of its own",
                status: failure.platformStatus)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY"
            )
        }
        return configuration
    }

    private static func open(_ path: String, isNew: Bool) throws -> (DatabaseQueue, RowIDs) {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let rowIDs = try queue.writeWithoutTransaction { database in
            try prepare(database, isNew: isNew)
            return try RowIDs(database)
        }
        return (queue, rowIDs)
    }

    private static func prepare(_ database: Database, isNew: Bool) throws {
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode=WAL") == "wal" else {
            throw StoreError(.failed, "open the state", "SQLite keeps no write-ahead log here")
        }
        try database.execute(sql: "PRAGMA synchronous=FULL")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
            throw StoreError(.failed, "open the state", "SQLite does not make writes durable here")
        }
        // This takes the exclusive lock now, before anything is written. `locking_mode=EXCLUSIVE` keeps it.
        try database.execute(sql: "BEGIN IMMEDIATE")
        do {
            try createTable(database, isNew: isNew)
            try database.execute(sql: "COMMIT")
        } catch {
            if database.isInsideTransaction { try? database.rollback() }
            throw error
        }
    }

    private static func createTable(_ database: Database, isNew: Bool) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        if isNew, found == 0 {
            try database.execute(sql: Schema.sqlite)
        } else {
            guard found == Schema.application else {
                throw StoreError(.corrupt, "open the state", "the file is not one that a server made; it was left as it is")
            }
            guard try Int.fetchOne(database, sql: "PRAGMA user_version") == Schema.version else {
                throw StoreError(.newerFormat, "open the state", "a later version of signet made the file; nothing was changed")
            }
        }
    }

    func transact<R>(
        _ body: (any RowReader) throws(StoreError) -> (R, RowChanges)
    ) throws(StoreError) -> R {
        do {
            return try database.writeWithoutTransaction { database in
                // No other process writes to the file, so what is read before the transaction is still valid inside of it.
                let (value, changes) = try body(Reader(database: database))
                if !changes.rows.isEmpty { try apply(changes, to: database) }
                return value
            }
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_FSYNC {
            throw StoreError(
                .outcomeUnknown, "write the state", "the disk did not confirm the change: it was stored completely or not at all",
                status: error.extendedResultCode.rawValue)
        } catch {
            throw SQLiteFailure.storeError(error, "write the state")
        }
    }

    func close() {
        try? database.close()
    }

    var displacements: Int? { displaced.withLock { $0 } }

    /// The highest row ids of the two parts of the table.
    ///
    /// Without the parts, a page would have rows that remain beside the space of rows that were removed, which nothing uses again
    /// because new rows have higher row ids. No other process inserts rows, so the ids need not be read again.
    private struct RowIDs: Sendable {
        private static let (longLived, shortLived) = (Int64(0)...(1 << 40) - 1, Int64(1 << 40)...(1 << 41))

        private var lastLongLived: Int64
        private var lastShortLived: Int64

        /// Reads the ids.
        init(_ database: Database) throws {
            func last(_ part: ClosedRange<Int64>) throws -> Int64 {
                try Int64.fetchOne(
                    database, sql: "SELECT rowid FROM row WHERE rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 1",
                    arguments: [part.lowerBound, part.upperBound]) ?? part.lowerBound
            }
            (lastLongLived, lastShortLived) = (try last(Self.longLived), try last(Self.shortLived))
        }

        /// Returns the id that a new row of a part gets.
        func next(isShortLived: Bool) -> Int64 { (isShortLived ? lastShortLived : lastLongLived) + 1 }

        /// Records the id that a new row has got.
        mutating func insert(_ id: Int64, isShortLived: Bool) {
            if isShortLived { lastShortLived = id } else { lastLongLived = id }
        }
    }

    /// Makes SQLite wait for the disk at the next commit, or not.
    private func setSynchronous(_ waits: Bool, _ database: Database) throws {
        try isSynchronous.withLock { isSynchronous in
            guard isSynchronous != waits else { return }
            try database.execute(sql: "PRAGMA synchronous=\(waits ? "FULL" : "NORMAL")")
            isSynchronous = waits
        }
    }

    private func apply(_ changes: RowChanges, to database: Database) throws {
        try setSynchronous(changes.survivesPowerFailure, database)
        try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
            for (key, row) in changes.rows {
                if let row { try put(row, key, database) } else { try remove(key, database) }
            }
            for (kind, count) in changes.written {
                try sweep(kind, afterWriting: count, at: changes.now, database)
                if let capacity = capacities.capacity(of: kind, afterWriting: count) {
                    try makeRoom(in: kind, capacity, database)
                }
            }
            try database.cachedStatement(sql: "COMMIT").execute()
        } catch {
            if database.isInsideTransaction { try? database.rollback() }
            throw error
        }
    }

    private func put(_ row: StoredRow, _ key: RowKey, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO row (rowid, kind, name, family, expires, bytes) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, name)
                DO UPDATE SET family = excluded.family, expires = excluded.expires, bytes = excluded.bytes
                """)
        let isShortLived = shortLived.contains(key.kind)
        let id = rowIDs.withLock { $0.next(isShortLived: isShortLived) }
        try statement.execute(arguments: [id, key.kind, key.name, row.group, row.expiresAt, row.bytes.databaseBlob])
        // An update of a row leaves the last id as it was.
        if database.lastInsertedRowID == id { rowIDs.withLock { $0.insert(id, isShortLived: isShortLived) } }
    }

    private func remove(_ key: RowKey, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM row WHERE kind = ? AND name = ?").execute(arguments: [key.kind, key.name])
    }

    /// The number of rows of a kind after whose writing expired rows of the kind are removed.
    private static let sweepInterval = 16

    /// Removes expired rows of a kind from time to time, more than were written since the last time.
    private func sweep(_ kind: String, afterWriting count: Int, at now: Int64, _ database: Database) throws {
        let written = unswept.withLock { unswept in
            let sum = unswept[kind, default: 0] + count
            unswept[kind] = sum < Self.sweepInterval ? sum : 0
            return sum
        }
        guard written >= Self.sweepInterval else { return }
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM row WHERE rowid IN
                (SELECT rowid FROM row WHERE kind = ? AND expires <= ? ORDER BY expires LIMIT ?)
                """)
        try statement.execute(arguments: [kind, now, RowChanges.sweep(with: written)])
    }

    /// Removes the rows of a kind beyond its capacity, those first that expire first.
    private func makeRoom(in kind: String, _ capacity: Int, _ database: Database) throws {
        let count = try database.cachedStatement(sql: "SELECT count(*) FROM (SELECT 1 FROM row WHERE kind = ? LIMIT ?)")
        let excess = (try Int.fetchOne(count, arguments: [kind, 2 * capacity]) ?? 0) - capacity
        guard excess > 0 else { return }
        let remove = try database.cachedStatement(
            sql: "DELETE FROM row WHERE rowid IN (SELECT rowid FROM row WHERE kind = ? ORDER BY expires LIMIT ?)")
        try remove.execute(arguments: [kind, excess])
        displaced.withLock { $0 += excess }
    }

    private struct Reader: RowReader {
        let database: Database

        func row(_ key: RowKey) throws(StoreError) -> StoredRow? {
            try attempt(key.kind) {
                let statement = try database.cachedStatement(
                    sql: "SELECT name, family, expires, bytes FROM row WHERE kind = ? AND name = ?")
                return try Row.fetchOne(statement, arguments: [key.kind, key.name]).map { try Self.named($0).row }
            }
        }

        func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow] {
            let (condition, order, argument) =
                switch selection {
                case .group(let group): ("family = ? AND family != ''", "name", group as (any DatabaseValueConvertible)?)
                case .newest: ("expires < \(StoredRow.never)", "expires DESC, name DESC", nil)
                case .after(nil): ("TRUE", "name", nil)
                case .after(let name?): ("name > ?", "name", name)
                }
            return try attempt(kind) {
                let statement = try database.cachedStatement(
                    sql: """
                        SELECT name, family, expires, bytes FROM row WHERE kind = ? AND \(condition) AND expires > ?
                        ORDER BY \(order) LIMIT ?
                        """)
                let arguments = StatementArguments([kind] + (argument.map { [$0] } ?? []) + [now, max(0, limit)])
                return try Row.fetchAll(statement, arguments: arguments).map { try Self.named($0) }
            }
        }

        func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int {
            try attempt(kind) {
                let statement = try database.cachedStatement(
                    sql: "SELECT count(*) FROM (SELECT 1 FROM row WHERE kind = ? AND expires > ? LIMIT ?)")
                return try Int.fetchOne(statement, arguments: [kind, now, max(0, limit)]) ?? 0
            }
        }

        func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool { false }

        private static func named(_ row: Row) throws -> NamedRow {
            let bytes = try row.withUnsafeData(atIndex: 3) { Array($0 ?? .init()) }
            return NamedRow(name: row[0], row: StoredRow(group: row[1], expiresAt: row[2], bytes: bytes))
        }

        private func attempt<R>(_ kind: String, _ body: () throws -> R) throws(StoreError) -> R {
            do {
                return try body()
            } catch {
                throw SQLiteFailure.storeError(error, "read a row of kind \(kind)")
            }
        }
    }
}
