import GRDB
import SignetCore

/// The setting `PRAGMA synchronous` of a connection to a database with a write-ahead log.
final class SQLiteSynchronous: Sendable {
    /// The times at which SQLite waits until the log is durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
    enum Level: Int {
        /// Before the log is copied into the database. A power failure can undo the last commits, and damages nothing.
        case normal = 1
        /// Also at the end of each commit, for all commits that are in the log.
        case full = 2

        /// Gives the connection this level, and verifies that by reading the setting back.
        ///
        /// SQLite performs both pragmas while it compiles them, so a cached statement would change and read nothing.
        func set(on database: Database) throws {
            try database.execute(sql: "PRAGMA synchronous=\(rawValue)")
            guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == rawValue else {
                throw StoreError(.failed, "open the store", "SQLite does not make writes durable here")
            }
        }
    }

    /// The level of the connection; nil while it is not known.
    private let level: Mutex<Level?> = Mutex(.full)

    /// Gives the connection a level for its next transactions, unless it has this level already.
    ///
    /// SQLite refuses the change inside of a transaction.
    /// - Throws: The error of SQLite. The next call sets the level again then.
    func require(_ required: Level, on database: Database) throws {
        try level.withLock { level in
            guard level != required else { return }
            level = nil
            try required.set(on: database)
            level = required
        }
    }
}
