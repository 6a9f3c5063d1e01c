public import SignetCore

/// The location of a server's state.
public struct ServerState: Sendable {
    enum Location: Sendable, Hashable {
        case memory
        case file(String)
        case postgreSQL(Secret)
    }

    let location: Location
    /// The key that seals the state; nil to use the key file beside the database, which is created when it is first needed.
    var key: Secret?

    /// True when several servers can share the state.
    var isShared: Bool {
        if case .postgreSQL = location { true } else { false }
    }

    /// A state in memory, for tests.
    ///
    /// It is lost when the server ends.
    public static let memory = ServerState(location: .memory)

    /// Returns the location of a state in an SQLite file, for one server at a time.
    ///
    /// The server creates the file with mode 0600, in a directory with mode 0700. Unless a key is given, the key is in a file
    /// beside it, `PATH.key`.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - key: A secret key of 32 bytes; nil to use the one in `PATH.key`.
    /// - Returns: The location. Nothing is opened before the server starts.
    public static func file(_ path: String, key: Secret? = nil) -> ServerState {
        ServerState(location: .file(path), key: key)
    }

    /// Returns the location of a state in a PostgreSQL database, which any number of servers can share.
    ///
    /// It needs the trait `PostgreSQL`. The server creates the table `signet_row` if it does not exist.
    /// - Parameters:
    ///   - connection: A libpq connection string, such as `postgresql://host/database`.
    ///   - key: A secret key of 32 bytes, the same for all servers of the database.
    /// - Returns: The location. The server connects when it starts.
    public static func postgreSQL(_ connection: String, key: Secret) -> ServerState {
        ServerState(location: .postgreSQL(Secret(connection.utf8)), key: key)
    }
}
