/// Rows in a database that several processes share.
package enum SharedRows {
    /// - Throws: ``StoreError/Code/failed`` when this program was built without PostgreSQL.
    package static func open(connection: String) throws(StoreError) -> any RowStore {
        #if PostgreSQL && os(Linux)
        return try PostgresRows(connection: connection)
        #else
        throw StoreError(.failed, "open the state", "this program was built without the trait PostgreSQL")
        #endif
    }
}
