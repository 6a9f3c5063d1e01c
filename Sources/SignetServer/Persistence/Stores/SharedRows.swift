import SignetStorage

/// Opens rows in a database that several processes share.
enum SharedRows {
    /// Opens the rows in a PostgreSQL database.
    /// - Parameter connection: A libpq connection string.
    /// - Returns: The rows, with an open connection.
    /// - Throws: ``StoreError/Code/failed`` when this program was built without PostgreSQL, or when the server cannot be reached;
    ///   other errors of the server.
    static func open(connection: String) throws(StoreError) -> any RowStore {
        #if PostgreSQL && os(Linux)
        return try PostgresRows(connection: connection)
        #else
        throw StoreError(.failed, "open the state", "this program was built without the trait PostgreSQL")
        #endif
    }
}
