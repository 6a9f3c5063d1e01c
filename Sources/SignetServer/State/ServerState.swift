public import SignetCore

/// Where a server keeps what it knows.
public struct ServerState: Sendable {
    enum Place: Sendable, Hashable {
        case memory
        case file(String)
        case postgreSQL(Secret)
    }

    let place: Place
    /// What secrets are sealed with; nil for the key in the file beside the database, which is made when it is first needed.
    var key: Secret?

    /// In memory, and gone with the server: for tests.
    public static let memory = ServerState(place: .memory)

    /// In an SQLite file, for one server at a time. It is made when it is not there, with mode 0600, in a directory of mode 0700. The
    /// key stands beside it in a file of its own, `PATH.key`, unless one is given.
    /// - Parameters:
    ///   - path: where the file is.
    ///   - key: 32 bytes that nobody else knows; nil for those in `PATH.key`.
    public static func file(_ path: String, key: Secret? = nil) -> ServerState {
        ServerState(place: .file(path), key: key)
    }

    /// In a PostgreSQL database, which any number of servers share. Needs the trait `PostgreSQL`. The table `signet_row` is made when
    /// it is not there.
    /// - Parameters:
    ///   - connection: a libpq connection string, as `postgresql://host/database`.
    ///   - key: 32 bytes that nobody else knows, the same for all servers of the database.
    public static func postgreSQL(_ connection: String, key: Secret) -> ServerState {
        ServerState(place: .postgreSQL(Secret(connection.utf8)), key: key)
    }
}
