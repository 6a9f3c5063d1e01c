public import SignetCore
import SignetStorage

/// The complete state of a server at one time: users that journeys created or changed, devices, sessions, tokens, journeys in
/// progress, waiting messages and the clock.
///
/// It is a value in memory, and its description does not reveal the contents. ``sealed(with:)`` encrypts it for storage.
///
/// A snapshot does not contain the ``ServerConfiguration``. When it is restored in another server with a different key, the
/// handles of journeys in progress are not valid, and users in the configuration are as the configuration defines them.
public struct StateSnapshot: Sendable {
    /// A row with its decrypted contents.
    struct Row: Sendable, Hashable {
        let key: RowKey
        let group: String
        let expiresAt: Int64
        let bytes: [UInt8]
    }

    /// The version of the snapshot's format, and of the JSON of the rows in it.
    ///
    /// Version 2 of sealed rows has the same JSON (``RowCoder/Version``), so snapshots have version 1.
    private static let version: Int64 = 1
    private static let context = Array("signet server snapshot".utf8)

    let rows: [Row]

    init(rows: [Row]) { self.rows = rows }

    /// The number of rows.
    public var count: Int { rows.count }

    /// Encrypts the snapshot with AES-256-GCM.
    /// - Parameter key: 32 bytes.
    /// - Returns: The nonce, the ciphertext and the tag.
    /// - Throws: `StoreError`.
    public func sealed(with key: Secret) throws -> [UInt8] {
        let rows = rows.map { row -> JSONValue in
            .array([
                .string(row.key.kind), .string(row.key.name), .string(row.group), .integer(row.expiresAt),
                .string(Base64.encode(row.bytes, as: .url)),
            ])
        }
        let text = JSON.encode(.object(["version": .integer(Self.version), "rows": .array(rows)]))
        return try Sealing.seal(text, with: key, context: Self.context)
    }

    /// Decrypts a snapshot that ``sealed(with:)`` encrypted.
    /// - Throws: `StoreError`: `keyMismatch` when it was encrypted with another key or was changed; `newerFormat` when a later
    ///   version wrote it; `corrupt` when its contents are malformed.
    public init(sealed bytes: [UInt8], key: Secret) throws {
        guard let text = Sealing.open(bytes, with: key, context: Self.context) else {
            throw StoreError(.keyMismatch, "read a snapshot", "it was sealed with another key or is damaged")
        }
        let value = try? JSON.value(of: text)
        guard case .integer(let version)? = value?["version"], version > 0 else {
            throw StoreError(.corrupt, "read a snapshot", "its version is missing")
        }
        guard version <= Self.version else {
            throw StoreError(.newerFormat, "read a snapshot", "a later version of signet made it")
        }
        rows = try (value?["rows"]?.array ?? []).map { row in
            guard let members = row.array, members.count == 5, let kind = members[0].string, let name = members[1].string,
                let group = members[2].string, case .integer(let end) = members[3],
                let bytes = members[4].string.flatMap({ try? Base64.decode($0) })
            else { throw StoreError(.corrupt, "read a snapshot", "a row of it does not have the format of this version") }
            return Row(key: RowKey(kind: kind, name: name), group: group, expiresAt: end, bytes: bytes)
        }
    }
}

extension StateSnapshot: CustomStringConvertible, CustomReflectable {
    /// The number of rows, without their contents.
    public var description: String { "<snapshot of \(count) rows>" }
    /// An empty mirror, so that `dump` shows no contents.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DevServer {
    /// Returns a consistent snapshot of the server's state.
    ///
    /// Requests wait while it is taken.
    /// - Throws: `StoreError` when the state cannot be read.
    public func snapshot() async throws -> StateSnapshot { try await context.store.queue.snapshot() }

    /// Replaces the server's state with a snapshot.
    ///
    /// Open streams continue with the restored state.
    /// - Throws: `StoreError` when the state cannot be written; in that case nothing has changed.
    public func restore(_ snapshot: StateSnapshot) async throws { try await context.restore(snapshot) }
}

extension TransactionQueue {
    /// The kinds of rows in a snapshot: all except the access to the console, which is independent of the tested state.
    private static let kinds = RowKind.allCases.filter { $0 != .console }

    func snapshot() async throws(StoreError) -> StateSnapshot {
        try await exclusively { (reader, coder) throws(StoreError) in
            var rows: [StateSnapshot.Row] = []
            for row in try Self.stored(reader) {
                rows.append(
                    StateSnapshot.Row(
                        key: row.key, group: row.row.group, expiresAt: row.row.expiresAt,
                        bytes: try coder.plain(row.row.bytes, row.key)))
            }
            return (StateSnapshot(rows: rows), RowChanges())
        }
    }

    func restore(_ snapshot: StateSnapshot) async throws(StoreError) {
        try await exclusively { (reader, coder) throws(StoreError) in
            var changes = RowChanges()
            for row in try Self.stored(reader) { changes.rows[row.key] = .some(nil) }
            for row in snapshot.rows {
                changes.rows[row.key] = StoredRow(
                    group: row.group, expiresAt: row.expiresAt, bytes: try coder.sealed(row.bytes, row.key))
            }
            // Expired rows must not be removed here, because they may be valid at the time of the snapshot.
            changes.now = .min
            changes.signals = [ClusterMessage.clock.text, ClusterMessage.keys.text, ClusterMessage.wakeAllStreams.text]
            return ((), changes)
        }
        unreadableRows.forgetAll()
    }

    /// Removes all rows, except the signing keys, which clients may have cached, and the rows that snapshots do not
    /// contain.
    ///
    /// The server's state is then that of the ``ServerConfiguration``.
    func reset() async throws(StoreError) {
        try await exclusively { (reader, _) throws(StoreError) in
            var changes = RowChanges()
            for row in try Self.stored(reader) where !SigningKeys.rows.contains(row.key) { changes.rows[row.key] = .some(nil) }
            changes.signals = [ClusterMessage.clock.text, ClusterMessage.endAllStreams.text]
            return ((), changes)
        }
        unreadableRows.forgetAll()
    }

    /// Returns the rows of all kinds, except the check row of the key and the users of the configuration, which belong to this server.
    private static func stored(_ reader: any RowReader) throws(StoreError) -> [(key: RowKey, row: StoredRow)] {
        var rows: [(key: RowKey, row: StoredRow)] = []
        for kind in kinds {
            var last: String?
            while true {
                let page = try reader.rows(kind.rawValue, .after(last), at: .min, limit: 1000)
                rows += page.map { (RowKey(kind, $0.name), $0.row) }.filter { $0.0 != check && $0.0 != usersRow }
                guard page.count == 1000 else { break }
                last = page.last?.name
            }
        }
        return rows
    }
}
