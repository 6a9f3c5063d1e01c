import Foundation
import GRDB
import GRDBSQLite

/// Damage of an SQLite file below its records: in its pages, or by a cut.
enum SQLiteIntegrity {
    /// The number of pages up to which a file is checked when it is opened; 16 MiB with pages of 4 KiB.
    ///
    /// A larger file is checked at the first write of the process and by ``SQLiteStore/checkIntegrity()``.
    static let pagesCheckedAtOpen = 4_096
    /// The number of pages up to which a file is checked at once when a process opens it to look up a record; 1 MiB with pages of
    /// 4 KiB.
    static let pagesCheckedAtLookup = 256

    /// The state of the check of the pages after a file was opened.
    enum PageCheck {
        case done
        /// The first read that needs it makes the check.
        case postponed
        /// The file is large, and is checked before the first write.
        case atFirstWrite
    }

    /// Checks the size of a file, and the structure of its pages when they are at most `limit`.
    static func check(_ path: String, _ database: Database, upTo limit: Int) throws -> PageCheck {
        try checkSize(of: path, database)
        guard let pages = try Int.fetchOne(database, sql: "PRAGMA page_count"), pages <= pagesCheckedAtOpen else {
            return .atFirstWrite
        }
        guard pages <= limit else { return .postponed }
        try checkPages(of: path, database)
        return .done
    }

    /// Checks that the file was not cut: that its size is a multiple of the size of its pages.
    ///
    /// A file beside which there is a log may have a part of a page at its end, when the disk became full as the log was moved
    /// into it. SQLite takes that page from the log.
    static func checkSize(of path: String, _ database: Database) throws {
        guard let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size"), let file = FileStatus(at: path),
            pageSize > 0, file.size % pageSize == 0 || hasLog(path)
        else { throw damage(of: path) }
    }

    /// Checks the structure of all pages (`PRAGMA quick_check`).
    static func checkPages(of path: String, _ database: Database) throws {
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else { throw damage(of: path) }
    }

    /// Returns true when a log with changes is beside the file.
    static func hasLog(_ path: String) -> Bool { FileStatus(at: path + "-wal").map { $0.size > 0 } ?? false }

    private static func damage(of path: String) -> StoreError {
        StoreError(
            .corrupt, "open \(path)",
            "the file is damaged: pages were changed or cut off; it was left as it is. Save what can be read of it, and restore a "
                + "backup")
    }
}

/// A file on a read-only file system, where SQLite cannot make the files that it needs beside a file with a write-ahead log.
enum SQLiteSnapshot {
    /// The longest file that is read into memory.
    private static let maxLength = 1 << 30

    /// Returns true when no file can be made beside this one.
    static func isNeeded(for path: String) -> Bool {
        access(PrivateFile.directory(of: path), W_OK) != 0 && (errno == EROFS || errno == EACCES)
    }

    /// Reads the file into memory and opens it there, for reading only.
    /// - Throws: ``StoreError/Code/denied`` when the last changes are in a log beside the file, which cannot be read without the
    ///   files that SQLite would make; ``StoreError/Code/corrupt`` for a file that is not a database.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        guard !SQLiteIntegrity.hasLog(path) else {
            throw StoreError(
                .denied, "open \(path)",
                "its last changes are in \(path)-wal, which cannot be read on a read-only file system; copy the directory to a "
                    + "writable place, and use the copy")
        }
        guard let size = FileStatus(at: path)?.size, size <= maxLength else {
            throw StoreError(.failed, "open \(path)", "the file is too large to be read from a read-only file system")
        }
        var bytes = try PrivateFile.contents(of: path, limit: size)
        guard bytes.count >= 100 else {
            throw StoreError(.corrupt, "open \(path)", "the file is empty or cut off; it was left as it is")
        }
        // The versions of the file format for writing and reading: 2 demands a write-ahead log, which memory does not have.
        for index in 18...19 where bytes[index] == 2 { bytes[index] = 1 }
        let database = try DatabaseQueue(configuration: configuration)
        try database.inDatabase { try load(bytes, into: $0) }
        return database
    }

    private static func load(_ bytes: [UInt8], into database: Database) throws {
        let count = sqlite3_int64(bytes.count)
        guard let copy = sqlite3_malloc64(sqlite3_uint64(bytes.count)) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count) }
        // SQLite frees the copy, also when it fails.
        let result = sqlite3_deserialize(
            database.sqliteConnection, "main", copy.assumingMemoryBound(to: UInt8.self), count, count,
            UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY))
        guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
    }
}
