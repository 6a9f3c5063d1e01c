import Foundation
import GRDB
import GRDBSQLite
import SignetCore

/// Records in one SQLite file, durable when a write returns.
///
/// The store uses a write-ahead log and `synchronous=FULL`, which it verifies by reading the setting back, and overwrites deleted
/// content. Several processes may use the file at once. Only a deferred write uses `synchronous=NORMAL`.
///
/// The file must be private: mode 0600, owned by this user, not a link. The store writes bytes as they are: for secrets, put a
/// ``Vault`` on top.
///
/// The pages of the file are checked for damage: at once if it has at most 4,096 pages, otherwise before the first write. On a
/// read-only file system, the records can be read.
public final class SQLiteStore: RecordStore, ClearOnDisk, SelfCheckingStore, QuickReading, DeferredWriting {
    private let database: DatabaseQueue
    private let synchronous = SQLiteSynchronous()
    private let path: String
    /// True when the pages of the file were checked.
    private let isChecked: Mutex<Bool>
    /// True when the check of the pages was postponed to the first read that needs it.
    private let isCheckPostponed: Bool

    /// The default timeout for another process, in seconds.
    ///
    /// After the timeout, a transaction fails with ``StoreError/Code/busy``.
    public static let defaultTimeout = 5.0

    /// Opens a file of records.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - creating: Pass true to create the file, which must not exist yet.
    ///   - timeout: The timeout for another process, in seconds.
    /// - Throws: ``StoreError/Code/exists`` or ``StoreError/Code/notFound``, depending on `creating`;
    ///   ``StoreError/Code/insecurePermissions`` for a file that is not private; ``StoreError/Code/corrupt`` for an empty or
    ///   damaged file; ``StoreError/Code/denied`` for a file on a read-only file system that a crash has left incomplete; other
    ///   codes when the system or SQLite fails.
    public convenience init(path: String, creating: Bool = false, timeout: Double = defaultTimeout) throws(StoreError) {
        try self.init(path: path, creating: creating, checking: true, timeout: timeout)
    }

    /// Opens a file of records; with `checking` false also a damaged one, to salvage or to replace it.
    init(
        path: String, creating: Bool = false, checking: Bool, timeout: Double,
        pagesCheckedAtOpen: Int = SQLiteIntegrity.pagesCheckedAtOpen
    ) throws(StoreError) {
        if creating {
            try PrivateFile.create(path, containing: [])
        } else {
            try PrivateFile.check(path)
        }
        self.path = path
        do {
            database = try Self.open(path, creating: creating, timeout: timeout)
            let check = try database.unsafeRead { database in
                try checking ? SQLiteIntegrity.check(path, database, upTo: pagesCheckedAtOpen) : .done
            }
            (isChecked, isCheckPostponed) = (Mutex(check == .done), check == .postponed)
        } catch {
            // An unfinished file contains no data yet.
            if creating { PrivateFile.removeDatabase(path) }
            throw SQLiteFailure.storeError(error, "open \(path)")
        }
    }

    /// Checks the size of the file and the structure of all its pages.
    /// - Throws: ``StoreError/Code/corrupt`` when the file is damaged.
    package func checkIntegrity() throws(StoreError) {
        do {
            try database.unsafeRead { database in
                try SQLiteIntegrity.checkSize(of: path, database)
                try SQLiteIntegrity.checkPages(of: path, database)
            }
        } catch {
            throw SQLiteFailure.storeError(error, "check \(path)")
        }
    }

    /// Checks the pages in a transaction, unless they were checked.
    private func checkPages(_ database: Database) throws {
        guard !isChecked.withLock({ $0 }) else { return }
        try SQLiteIntegrity.checkPages(of: path, database)
        isChecked.withLock { $0 = true }
    }

    /// Returns the bytes that the file has with the changes in its log.
    /// - Throws: ``StoreError/Code/corrupt`` when SQLite cannot read it.
    func serialized() throws(StoreError) -> [UInt8] {
        do {
            return try database.unsafeRead { database in
                var count: sqlite3_int64 = 0
                guard let bytes = sqlite3_serialize(database.sqliteConnection, "main", &count, 0) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
                defer { sqlite3_free(bytes) }
                return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
            }
        } catch {
            throw SQLiteFailure.storeError(error, "read \(path)")
        }
    }

    /// Moves everything from the write-ahead log into the file itself, so that the file alone is complete.
    func checkpoint() throws(StoreError) {
        do {
            _ = try database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch {
            throw SQLiteFailure.storeError(error, "write")
        }
    }

    package var readsQuickly: Bool { true }

    /// Closes the file.
    ///
    /// Every later call fails.
    public func close() throws(StoreError) {
        do {
            try database.close()
        } catch {
            throw SQLiteFailure.storeError(error, "close the store")
        }
    }

    /// Reads a consistent state of the store.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        do {
            return try database.unsafeRead { database in
                try Self.transaction("BEGIN DEFERRED TRANSACTION", on: database) {
                    try body(Transaction(database: database, store: self))
                }
            }
        } catch {
            throw SQLiteFailure.storeError(error, "read")
        }
    }

    /// Reads and changes records in one transaction.
    ///
    /// The changes are durable when it returns.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R { try write(.full, body) }

    /// Reads and changes records in one transaction, and does not wait for the disk.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try write(.normal, body)
    }

    private func write<R>(
        _ level: SQLiteSynchronous.Level, _ body: (any RecordWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        do {
            return try database.writeWithoutTransaction { database in
                try synchronous.require(level, on: database)
                return try Self.transaction("BEGIN IMMEDIATE TRANSACTION", on: database) {
                    try checkPages(database)
                    return try body(Transaction(database: database, store: self))
                }
            }
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_FSYNC {
            // Observed behavior: after this error, reads return the old value, but a process that opens the file after a crash
            // finds the commit in the log.
            throw StoreError(
                .outcomeUnknown, "write",
                "the disk did not confirm the change: it was stored completely or not at all; read the store to find out",
                status: error.extendedResultCode.rawValue)
        } catch {
            throw SQLiteFailure.storeError(error, "write")
        }
    }

    /// Runs `body` in a transaction, like GRDB's `read` and `write`.
    ///
    /// It uses cached statements, and it does not disable writing around a read, which would take as long as reading a record.
    /// Instead, a read gets a type that has no methods to write.
    private static func transaction<R>(_ begin: String, on database: Database, _ body: () throws -> R) throws -> R {
        try database.cachedStatement(sql: begin).execute()
        do {
            let value = try body()
            // After some errors, SQLite has rolled back already. If `body` ignored such an error, this statement fails.
            try database.cachedStatement(sql: "COMMIT TRANSACTION").execute()
            return value
        } catch {
            if database.isInsideTransaction { try? database.rollback() }
            throw error
        }
    }

    private static func open(_ path: String, creating: Bool, timeout: Double) throws -> DatabaseQueue {
        do {
            return try open(path, creating: creating, configuration(timeout: timeout, exclusive: false))
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
            // A full disk has no room for the index that processes share. A process that locks out all others keeps the index in
            // memory, so that it can still read the records.
            return try open(path, creating: creating, configuration(timeout: timeout, exclusive: true))
        } catch let error as DatabaseError
            where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) && SQLiteSnapshot.isNeeded(for: path)
        {
            return try SQLiteSnapshot.open(path, configuration(timeout: timeout, exclusive: false))
        }
    }

    private static func open(_ path: String, creating: Bool, _ configuration: Configuration) throws -> DatabaseQueue {
        let database = try DatabaseQueue(path: path, configuration: configuration)
        if !creating, try database.read({ try Int.fetchOne($0, sql: "PRAGMA page_count") }) == 0 {
            throw StoreError(.corrupt, "open \(path)", "the file is empty; it was left as it is")
        }
        try makeDurable(database)
        if creating { try database.write(createTable) }
        return database
    }

    /// Returns the configuration of the database.
    /// - Parameters:
    ///   - timeout: The timeout for another process, in seconds.
    ///   - exclusive: Pass true to lock out every other process until the file is closed.
    /// - Returns: A configuration that waits for other processes, and overwrites deleted content.
    private static func configuration(timeout: Double, exclusive: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(timeout)
        configuration.prepareDatabase { database in
            if exclusive { try database.execute(sql: "PRAGMA locking_mode=EXCLUSIVE") }
            try database.execute(sql: "PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY")
        }
        return configuration
    }

    /// Turns on the write-ahead log and `synchronous=FULL`, and verifies them.
    ///
    /// The journal mode is a property of the file and is set only if it differs. GRDB would write to the file each time it is
    /// opened; then reading would fail while another process writes, and on a full disk.
    private static func makeDurable(_ database: DatabaseQueue) throws {
        try database.writeWithoutTransaction { database in
            if try String.fetchOne(database, sql: "PRAGMA journal_mode") != "wal" {
                guard try String.fetchOne(database, sql: "PRAGMA journal_mode=WAL") == "wal" else {
                    throw StoreError(.failed, "open the store", "SQLite keeps no write-ahead log here")
                }
            }
            try SQLiteSynchronous.Level.full.set(on: database)
        }
    }

    private static func createTable(_ database: Database) throws {
        try database.execute(
            sql:
                "CREATE TABLE record (kind TEXT NOT NULL, name BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
        )
    }

    private struct Transaction: RecordWriter, PrefixReader, PostponingReader {
        let database: Database
        let store: SQLiteStore

        func checkPostponed() throws(StoreError) {
            guard store.isCheckPostponed else { return }
            try attempt("open \(store.path)") { try store.checkPages(database) }
        }

        func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
            try attempt("read a record of kind \(key.kind.rawValue)") {
                let statement = try database.cachedStatement(sql: "SELECT bytes FROM record WHERE kind = ? AND name = ?")
                return try Self.step(statement, key) { statement in
                    guard let statement else { return nil }
                    return Self.blob(statement, 0)
                }
            }
        }

        func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
            try attempt("list the records of kind \(kind.rawValue)") {
                // SQLite interprets a negative limit as no limit.
                let limit = max(0, limit)
                let (condition, arguments) =
                    name.map { ("AND name > ?", [kind.rawValue, $0.databaseBlob, limit] as StatementArguments) }
                    ?? ("", [kind.rawValue, limit])
                return try Row.fetchAll(
                    database.cachedStatement(
                        sql: "SELECT bytes, name FROM record WHERE kind = ? \(condition) ORDER BY name LIMIT ?"),
                    arguments: arguments
                ).map { StoredRecord(name: try Self.bytes($0, 1), content: .success(try Self.bytes($0, 0))) }
            }
        }

        func forEachPrefix(
            of kind: RecordKind, length: Int, _ body: (_ name: [UInt8], _ prefix: [UInt8]) throws(StoreError) -> Void
        ) throws(StoreError) {
            try attempt("list the records of kind \(kind.rawValue)") {
                let statement = try database.cachedStatement(
                    sql: "SELECT name, substr(bytes, 1, \(length)), kind FROM record WHERE kind = ? ORDER BY name")
                let handle = statement.sqliteStatement
                var kind = kind.rawValue
                try kind.withUTF8 { kind in
                    // The bound memory is not copied, and is only valid in this scope.
                    defer {
                        sqlite3_reset(handle)
                        sqlite3_clear_bindings(handle)
                    }
                    let text = UnsafeRawPointer(kind.baseAddress)?.assumingMemoryBound(to: CChar.self)
                    var result = sqlite3_bind_text(handle, 1, text, CInt(kind.count), nil)
                    if result == SQLITE_OK { result = sqlite3_step(handle) }
                    var last: [UInt8]?
                    while result == SQLITE_ROW {
                        // SQLite passes over a row of a smaller kind, one whose order is wrong or whose name has another type,
                        // but does not find it by its name.
                        let name = Self.blob(handle, 0)
                        guard sqlite3_column_type(handle, 0) == SQLITE_BLOB, Self.content(handle, 2).elementsEqual(kind),
                            last?.lexicographicallyPrecedes(name) ?? true
                        else { throw StoreError(.corrupt, "list the records", "the file is damaged: its rows are out of order") }
                        try body(name, Self.blob(handle, 1))
                        last = name
                        result = sqlite3_step(handle)
                    }
                    guard result == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
                }
            }
        }

        func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
            try attempt("write a record of kind \(key.kind.rawValue)") {
                let statement = try database.cachedStatement(
                    sql:
                        "INSERT INTO record (kind, name, bytes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes"
                )
                try Self.step(statement, key, bytes) { _ in }
            }
        }

        func remove(_ key: RecordKey) throws(StoreError) {
            try attempt("remove a record of kind \(key.kind.rawValue)") {
                let statement = try database.cachedStatement(sql: "DELETE FROM record WHERE kind = ? AND name = ?")
                try Self.step(statement, key) { _ in }
            }
        }

        /// Runs a statement up to its first row, and passes the row to `body`, or nil if the result is empty.
        ///
        /// It calls SQLite directly, because binding and reading through GRDB's values would take longer than everything that a
        /// vault adds to a record.
        private static func step<R>(
            _ statement: Statement, _ key: RecordKey, _ bytes: [UInt8]? = nil, _ body: (SQLiteStatement?) throws -> R
        ) throws -> R {
            let handle = statement.sqliteStatement
            var kind = key.kind.rawValue
            return try kind.withUTF8 { kind in
                try key.name.withUnsafeBytes { name in
                    try (bytes ?? []).withUnsafeBytes { content in
                        // The bound memory is not copied, and is only valid in this scope.
                        defer {
                            sqlite3_reset(handle)
                            sqlite3_clear_bindings(handle)
                        }
                        let text = UnsafeRawPointer(kind.baseAddress)?.assumingMemoryBound(to: CChar.self)
                        var result = sqlite3_bind_text(handle, 1, text, CInt(kind.count), nil)
                        if result == SQLITE_OK { result = bind(name, to: handle, 2) }
                        if result == SQLITE_OK, bytes != nil { result = bind(content, to: handle, 3) }
                        if result == SQLITE_OK { result = sqlite3_step(handle) }
                        switch result {
                        case SQLITE_DONE: return try body(nil)
                        case SQLITE_ROW: return try body(handle)
                        default: throw DatabaseError(resultCode: ResultCode(rawValue: result))
                        }
                    }
                }
            }
        }

        /// Binds a blob.
        ///
        /// An empty array may have no address, and a null address would bind NULL.
        private static func bind(_ blob: UnsafeRawBufferPointer, to statement: SQLiteStatement, _ index: CInt) -> CInt {
            blob.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : sqlite3_bind_blob64(statement, index, blob.baseAddress, UInt64(blob.count), nil)
        }

        /// Returns a copy of a column of the current row.
        private static func blob(_ statement: SQLiteStatement, _ column: CInt) -> [UInt8] {
            Array(content(statement, column))
        }

        /// Returns a column of the current row, which is valid until the next step.
        private static func content(_ statement: SQLiteStatement, _ column: CInt) -> UnsafeRawBufferPointer {
            let count = Int(sqlite3_column_bytes(statement, column))
            return UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
        }

        private func attempt<R>(_ operation: String, _ body: () throws -> R) throws(StoreError) -> R {
            do {
                return try body()
            } catch {
                throw SQLiteFailure.storeError(error, operation)
            }
        }

        private static func bytes(_ row: Row, _ column: Int) throws -> [UInt8] {
            try row.withUnsafeData(atIndex: column) { Array($0 ?? .init()) }
        }
    }
}
