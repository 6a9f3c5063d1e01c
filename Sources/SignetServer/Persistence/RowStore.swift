import SignetStorage

/// The key of a row: its kind and its name.
///
/// A name has at most ``maxNameLength`` bytes. Names are equal when their bytes are equal, as in a database. The `==` of Swift's
/// `String` also matches strings that are only canonically equivalent.
struct RowKey: Sendable, Hashable {
    let kind: String
    let name: String

    init(kind: String, name: String) { (self.kind, self.name) = (kind, name) }

    init(_ kind: RowKind, _ name: String) { self.init(kind: kind.rawValue, name: name) }

    static func == (one: RowKey, other: RowKey) -> Bool {
        one.kind == other.kind && one.name.utf8.elementsEqual(other.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The length of the longest name, in bytes of UTF-8, which the index of every engine accepts.
    static let maxNameLength = 1000
}

/// A row as it is stored.
struct StoredRow: Sendable, Hashable {
    /// The group by which the row can be found together with others of its kind; empty if it belongs to no group.
    var group = ""
    /// The time from which the row is expired and may be removed, in microseconds since 1970; ``never`` for a row that does not
    /// expire.
    var expiresAt = never
    /// The row when it is in memory and may not be sealed yet; nil for a row with ``sealed`` bytes.
    private(set) var unsealed: UnsealedRow?
    private var sealed: [UInt8]

    static let never = Int64.max

    init(group: String = "", expiresAt: Int64 = never, bytes: [UInt8]) {
        (self.group, self.expiresAt, sealed) = (group, expiresAt, bytes)
    }

    init(group: String, expiresAt: Int64, _ unsealed: UnsealedRow) {
        (self.group, self.expiresAt, self.unsealed, sealed) = (group, expiresAt, unsealed, [])
    }

    /// The sealed bytes (``RowCoder``).
    var bytes: [UInt8] {
        get { unsealed?.bytes ?? sealed }
        set { (unsealed, sealed) = (nil, newValue) }
    }

    static func == (one: StoredRow, other: StoredRow) -> Bool {
        one.group == other.group && one.expiresAt == other.expiresAt
            && ((one.unsealed != nil && one.unsealed === other.unsealed) || one.bytes == other.bytes)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(group)
        hasher.combine(expiresAt)
    }
}

/// A row together with its name.
struct NamedRow: Sendable, Hashable {
    let name: String
    let row: StoredRow
}

/// A selection among the rows of a kind.
enum RowSelection: Sendable, Hashable {
    /// All rows of a group.
    case group(String)
    /// The rows that expire last, latest first, without those that never expire. If all rows have the same lifetime, these are
    /// the newest.
    case newest
    /// The rows in the order of their names, after this name, or from the first when it is nil.
    case after(String?)
}

/// Reads rows inside of a transaction.
///
/// All reads see the same state.
protocol RowReader {
    /// Returns the row, or nil if it does not exist. The result may be an expired row: the caller checks that.
    func row(_ key: RowKey) throws(StoreError) -> StoredRow?
    /// Returns at most `limit` rows that expire after `now`, in microseconds since 1970.
    func rows(_ kind: String, _ selection: RowSelection, at now: Int64, limit: Int) throws(StoreError) -> [NamedRow]
    /// Returns the number of rows that expire after `now`. Counting ends at `limit`.
    func count(_ kind: String, at now: Int64, limit: Int) throws(StoreError) -> Int
    /// True when one more row of the kind would push another row out. Only a store in memory, whose capacity is limited, ever
    /// returns true.
    func isFull(_ kind: String, at now: Int64) throws(StoreError) -> Bool
}

/// The changes that a transaction makes.
struct RowChanges: Sendable {
    /// The new rows by key; nil for a row to remove.
    var rows: [RowKey: StoredRow?] = [:]
    /// The signals to send to the other processes that share the rows, once these changes are committed.
    var signals: [String] = []
    /// True when the changes must survive a failure of the power or of the operating system.
    ///
    /// Otherwise they only survive the end of this process. A store may make such changes durable too.
    var survivesPowerFailure = true
    /// The current time, in microseconds since 1970.
    ///
    /// The transaction may also remove some rows that expired before this time, few enough not to slow it down.
    var now: Int64 = 0

    /// Returns the number of expired rows of a kind that a transaction which writes `count` rows of it removes.
    ///
    /// It is larger than `count`, so that the number of expired rows falls. It is limited because each removed row is at a
    /// different place on the disk.
    static func sweep(with count: Int) -> Int { 2 * count }

    /// The number of rows that are written, by kind.
    var written: [String: Int] {
        rows.reduce(into: [:]) { if $1.value != nil { $0[$1.key.kind, default: 0] += 1 } }
    }
}

/// A store of rows, for the state of a server.
///
/// It runs one transaction at a time. Each call blocks its thread until its changes are committed.
protocol RowStore: Sendable {
    /// Runs a transaction. `body` reads, and returns the changes to make. It may run more than once: when another process changed
    /// rows that it had read, it runs again on the new state.
    /// - Throws: The error that `body` throws, in which case nothing has changed; ``StoreError/Code/outcomeUnknown`` when it is
    ///   unknown whether the changes were made.
    func transact<R>(_ body: (any RowReader) throws(StoreError) -> (R, RowChanges)) throws(StoreError) -> R

    /// Calls `receive` with each signal that another process sent, and with nil when signals may have been missed, until the
    /// store is closed. Only a store that several processes share sends signals.
    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void)

    func close()

    /// The number of rows that the store itself has removed before they expired, because their kind was full; nil when other
    /// processes also change the rows.
    var displacements: Int? { get }

    /// True when a transaction waits neither for a disk nor for another process, so that it may run on any thread, and when rows need
    /// not be sealed at once (``UnsealedRow``).
    var isImmediate: Bool { get }
}

extension RowStore {
    var displacements: Int? { nil }
    var isImmediate: Bool { false }

    func listen(_ receive: @escaping @Sendable (_ signal: String?) -> Void) {}
}
