#if PostgreSQL && os(Linux)

/// Conversion of PostgreSQL's error codes (SQLSTATE, appendix A of its manual) to ``StoreError``.
///
/// The server's messages are not passed on, because they can quote the data that was sent. The error contains the code, which is
/// documented in the manual.
package enum PostgresFailure {
    static func storeError(sqlState: String, _ operation: String) -> StoreError {
        let (code, reason) = meaning(of: sqlState)
        return StoreError(code, operation, "\(reason) (SQLSTATE \(sqlState))")
    }

    /// Returns the error for a connection that was lost or closed before the server answered.
    static func connectionLost(_ operation: String) -> StoreError {
        StoreError(.failed, operation, "the connection to PostgreSQL was lost; nothing was changed, try again")
    }

    /// The error for a connection that was lost before the server answered a commit.
    package static let commitLost = StoreError(
        .outcomeUnknown, "write",
        "the connection to PostgreSQL was lost during the commit: the change was stored completely or not at all; read the store "
            + "to find out"
    )

    /// Returns true when the server closes the connection with this code, whatever the result of the command.
    static func isEndOfConnection(_ sqlState: String) -> Bool {
        sqlState.hasPrefix("08") || sqlState.hasPrefix("57P0")
    }

    private static func meaning(of sqlState: String) -> (StoreError.Code, String) {
        switch sqlState {
        case "55P03", "57014": (.busy, "another process is using the table, or the server is slow; try again")
        case "40001", "40P01": (.busy, "another process changed the table meanwhile; try again")
        case "53300", "57P03": (.busy, "the server takes no connection now; try again")
        case "53100": (.full, "the server has no space left; nothing was changed")
        case "3D000": (.noVault, "the server has no such database")
        case "42P01": (.noVault, "the table does not exist")
        // 23505 occurs when two processes create the table at the same time.
        case "42P07", "23505": (.exists, "the table exists already; nothing was changed")
        case "42703", "42804": (.corrupt, "the table is not one that this store made; it was left as it is")
        case "42501": (.denied, "this database user lacks the privilege for the operation")
        case "25006": (.denied, "the server allows no changes: it is a standby, or read-only")
        case _ where sqlState.hasPrefix("28"): (.denied, "the server does not accept this user or password")
        case "XX001", "XX002": (.corrupt, "the database is damaged; it was left as it is")
        case _ where isEndOfConnection(sqlState): (.failed, "the server ended the connection; nothing was changed, try again")
        default: (.failed, "PostgreSQL failed")
        }
    }
}

#endif
