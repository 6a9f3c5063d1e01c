/// The name of a row: what kind of thing it is, and which of them. A name is at most ``longestName`` bytes, and names are the same
/// when their bytes are, as in a database; Swift's strings are also equal when they only look alike.
package struct RowKey: Sendable, Hashable {
    package let kind: String
    package let name: String

    package init(kind: String, name: String) {
        self.kind = kind
        self.name = name
    }

    package static func == (one: RowKey, other: RowKey) -> Bool {
        one.kind == other.kind && one.name.utf8.elementsEqual(other.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The longest name, in bytes of UTF-8: what every engine's index takes.
    package static let longestName = 1000
}

/// A row as it is stored.
package struct StoredRow: Sendable, Hashable {
    /// What it is found by together with others of its kind; empty for nothing.
    package var group: String
    /// From here on it is swept up, in microseconds since 1970; ``never`` for a row that stays.
    package var expiresAt: Int64
    package var bytes: [UInt8]

    package init(group: String = "", expiresAt: Int64 = never, bytes: [UInt8]) {
        self.group = group
        self.expiresAt = expiresAt
        self.bytes = bytes
    }

    package static let never = Int64.max
}

/// A row together with its name.
package struct NamedRow: Sendable, Hashable {
    package let name: String
    package let row: StoredRow

    package init(name: String, row: StoredRow) {
        self.name = name
        self.row = row
    }
}

/// Which of a kind's rows are meant.
package enum RowSelection: Sendable, Hashable {
    /// All of a group.
    case group(String)
    /// Those that will be swept up last, the very last one first, without those that never are: of rows with one lifetime, the newest.
    case newest
    /// By name, after this one; from the first one when it is nil.
    case after(String?)
}

/// Reads rows inside of a transaction, and sees one state of all of them.
package protocol RowReader {
    /// Nil only when there is none. Whether it has expired is the caller's question.
    func row(_ key: RowKey) throws(StoreError) -> StoredRow?
    /// At most `limit` rows that expire after `now`, in microseconds since 1970.
    func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow]
    /// How many rows expire after `now`; counting ends at `limit`.
    func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int
    /// Whether one more row of the kind would push another one out: only where the room is that of a process's memory.
    func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool
}

/// What a transaction changes.
package struct RowChanges: Sendable {
    /// The new rows; nil for one that goes.
    package var rows: [RowKey: StoredRow?] = [:]
    /// What the other processes that share the rows are told as soon as these changes are there.
    package var signals: [String] = []
    /// The present moment, in microseconds since 1970: some rows that expired before it are swept up on the way, never so many
    /// that the transaction would notice.
    package var now: Int64 = 0

    package init() {}

    /// How many expired rows of a kind go with a transaction that writes `count` rows of it: more than come, so that those that are left
    /// become fewer, and no more, since each lies in a place of its own on the disk.
    package static func sweep(with count: Int) -> Int { 2 * count }

    /// The number of rows that are written, by kind.
    package var written: [String: Int] {
        rows.reduce(into: [:]) { if $1.value != nil { $0[$1.key.kind, default: 0] += 1 } }
    }
}

/// Rows that survive what they are kept in: under the state of a server.
///
/// One transaction at a time is run; each call blocks its thread until what it changed is durable.
package protocol RowStore: Sendable {
    /// Runs a transaction. `body` reads, and says what is to change. It may be run more than once: when another process changed meanwhile
    /// what it had read, it starts again from what is there now.
    /// - Throws: what `body` throws, and then nothing has changed; ``StoreError/Code/outcomeUnknown`` when it is not known whether
    ///   the change is there.
    func transact<R>(_ body: (any RowReader) throws(StoreError) -> (R, RowChanges)) throws(StoreError) -> R

    /// Calls `receive` for each signal that another process sent, and with nil when some may have been missed, until the store is
    /// closed. Only for stores that several processes share.
    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void)

    func close()
}

extension RowStore {
    package func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void) {}
}
