public import SignetCore
import SignetStorage

/// Everything that a server knew at one moment: users that journeys made or changed, devices, sessions, tokens, journeys on their way,
/// messages that wait, the clock. It is a value in memory, which cannot be printed; ``sealed(with:)`` makes bytes of it to be kept.
///
/// What it restores is what ``ServerConfiguration`` does not say. In another server, with another key, the handles of journeys that were
/// on their way are not good, and users of the configuration are as the configuration has them.
public struct StateSnapshot: Sendable {
    /// A row as it was, unsealed.
    struct Row: Sendable, Hashable {
        let key: RowKey
        let group: String
        let expiresAt: Int64
        let bytes: [UInt8]
    }

    /// That of its form, and of the rows' in it (``RowCoder/Version``).
    private static let version = Int64(RowCoder.Version.newest.rawValue)
    private static let context = Array("signet server snapshot".utf8)

    let rows: [Row]

    init(rows: [Row]) { self.rows = rows }

    /// How many things it holds.
    public var count: Int { rows.count }

    /// The snapshot as bytes that only who has the key can read: AES-256-GCM.
    /// - Parameter key: 32 bytes.
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

    /// Reads what ``sealed(with:)`` gave.
    /// - Throws: `StoreError`: `keyMismatch` when it was sealed with another key, or changed; `newerFormat` when a later version made it.
    public init(sealed bytes: [UInt8], key: Secret) throws {
        guard let text = Sealing.open(bytes, with: key, context: Self.context) else {
            throw StoreError(.keyMismatch, "read a snapshot", "it was sealed with another key, or changed")
        }
        let value = try? JSON.value(of: text)
        guard case .integer(let version)? = value?["version"], version > 0 else {
            throw StoreError(.corrupt, "read a snapshot", "it does not say its version")
        }
        guard version <= Self.version else {
            throw StoreError(.newerFormat, "read a snapshot", "a later version of signet made it")
        }
        rows = try (value?["rows"]?.array ?? []).map { row in
            guard let members = row.array, members.count == 5, let kind = members[0].string, let name = members[1].string,
                let group = members[2].string, case .integer(let end) = members[3],
                let bytes = members[4].string.flatMap({ try? Base64.decode($0) })
            else { throw StoreError(.corrupt, "read a snapshot", "it is not of this version's form") }
            return Row(key: RowKey(kind: kind, name: name), group: group, expiresAt: end, bytes: bytes)
        }
    }
}

extension StateSnapshot: CustomStringConvertible, CustomReflectable {
    /// How much it holds, and nothing of what.
    public var description: String { "<snapshot of \(count) rows>" }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DevServer {
    /// Everything that the server knows now, as one moment. Requests wait meanwhile.
    /// - Throws: `StoreError` when the state cannot be read.
    public func snapshot() async throws -> StateSnapshot { try await context.snapshot() }

    /// Puts a snapshot in the place of everything that the server knows. Streams that are open go on, and see what is then there.
    /// - Throws: `StoreError` when the state cannot be written; then nothing has changed.
    public func restore(_ snapshot: StateSnapshot) async throws { try await context.restore(snapshot) }
}

extension TransactionQueue {
    /// Every kind there is, but who may look at the console: that is no matter of what is tested.
    private static let kinds = TableKind.all.filter { $0 != .console }.map(\.name) + [serverKind]

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
            // Nothing is swept on the way: what had expired at the present moment may be good at the snapshot's.
            changes.now = .min
            changes.signals = [ClusterMessage.clock.text, ClusterMessage.keys.text, ClusterMessage.wakeAllStreams.text]
            return ((), changes)
        }
        broken.forgetAll()
    }

    /// Removes everything but the keys of id_tokens, which clients may have read already, and what snapshots leave alone: what is then
    /// there is what ``ServerConfiguration`` says.
    func startAgain() async throws(StoreError) {
        try await exclusively { (reader, _) throws(StoreError) in
            var changes = RowChanges()
            for row in try Self.stored(reader) where row.key != SigningKeys.row { changes.rows[row.key] = .some(nil) }
            changes.signals = [ClusterMessage.clock.text, ClusterMessage.endAllStreams.text]
            return ((), changes)
        }
        broken.forgetAll()
    }

    /// The rows of all kinds, but the check of the key, which is this server's.
    private static func stored(_ reader: any RowReader) throws(StoreError) -> [(key: RowKey, row: StoredRow)] {
        var rows: [(key: RowKey, row: StoredRow)] = []
        for kind in kinds {
            var last: String?
            while true {
                let page = try reader.rows(kind, .after(last), at: .min, limit: 1000)
                rows += page.map { (RowKey(kind: kind, name: $0.name), $0.row) }.filter { $0.0 != check }
                guard page.count == 1000 else { break }
                last = page.last?.name
            }
        }
        return rows
    }
}
