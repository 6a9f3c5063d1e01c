/// The tables of the server's state in SQLite and in PostgreSQL.
///
/// One table contains the rows of every ``RowKind``. A row has a name, the family by which rows of its kind are grouped, the time at
/// which it expires, and its sealed bytes.
enum Schema {
    /// The version of the tables that this code supports.
    static let version = 1
    /// The SQLite application ID, `SGNT`, which marks a file that this code created.
    static let application = 0x5347_4E54

    /// Creates the table in an empty SQLite file.
    static let sqlite = """
        CREATE TABLE row (kind TEXT NOT NULL, name TEXT NOT NULL, family TEXT NOT NULL, expires INTEGER NOT NULL,
            bytes BLOB NOT NULL, PRIMARY KEY (kind, name));
        CREATE INDEX row_family ON row (kind, family) WHERE family != '';
        CREATE INDEX row_expires ON row (kind, expires);
        PRAGMA application_id=\(application); PRAGMA user_version=\(version)
        """

    /// Creates the tables that are missing in a PostgreSQL database, inside a transaction.
    static let postgreSQL = """
        CREATE TABLE IF NOT EXISTS signet_row (kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
            family text COLLATE "C" NOT NULL, expires bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (kind, name));
        CREATE INDEX IF NOT EXISTS signet_row_family ON signet_row (kind, family);
        CREATE INDEX IF NOT EXISTS signet_row_expires ON signet_row (kind, expires);
        CREATE INDEX IF NOT EXISTS signet_row_sweep ON signet_row (expires);
        CREATE TABLE IF NOT EXISTS signet_row_version (version integer PRIMARY KEY);
        INSERT INTO signet_row_version SELECT \(version) WHERE NOT EXISTS (SELECT 1 FROM signet_row_version)
        """
}
