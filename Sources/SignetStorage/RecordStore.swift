/// A synchronous, transactional store of records: bytes under a key.
///
/// docs/decisions/004-record-stores.md explains isolation and failed commits.
///
/// Both methods run their closure at most once and in isolation: during a transaction, no other transaction changes what it
/// reads. A closure must not call a method of the same store, because that call would wait for its own transaction to end. To
/// test your own store, use `RecordStoreConformance` of SignetTesting.
public protocol RecordStore: Sendable {
    /// Reads a consistent state of the store.
    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Reads and changes records in one transaction, and returns when all changes are durable. When `body` or the commit throws,
    /// nothing has changed. The exception is ``StoreError/Code/outcomeUnknown``: either all changes were made or none.
    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// A store that writes records to disk unencrypted.
///
/// Put a ``Vault`` on top of it to encrypt them.
package protocol ClearOnDisk {}

/// A store whose reads take microseconds while no other call uses it, so that a task need not give up its thread for one.
package protocol QuickReading {
    /// True when the records are in memory or in a local file.
    var readsQuickly: Bool { get }
}

/// A store that can commit a transaction without waiting until it is durable.
package protocol DeferredWriting: RecordStore {
    /// Reads and changes records in one transaction, and returns when every process sees the changes. They may not be durable yet.
    ///
    /// The end of a process loses none of these changes. They become durable in their order, at the latest with the next change that
    /// ``RecordStore/write(_:)`` makes. Until then a power failure, or a crash of the system or of the database server, can undo
    /// the last of these transactions, each one completely.
    /// - Parameter body: The transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of ``RecordStore/write(_:)``.
    func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// The time at which the changes of a transaction are durable.
package enum Durability: Sendable {
    /// The changes are durable when the call returns.
    case atReturn
    /// The changes may become durable later, as ``DeferredWriting/writeDeferred(_:)`` says.
    case deferred
}

extension RecordStore {
    /// Reads and changes records in one transaction that may be deferred.
    ///
    /// In a store without ``DeferredWriting``, the changes are durable when the call returns.
    package func write<R>(
        _ durability: Durability, _ body: (any RecordWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard durability == .deferred, let store = self as? any DeferredWriting else { return try write(body) }
        return try store.writeDeferred(body)
    }
}

/// The operations that are available inside ``RecordStore/read(_:)``.
public protocol RecordReader {
    /// Returns the bytes under `key`, or nil if the store has no such record. It throws when it cannot find out.
    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]?
    /// Returns at most `limit` records of a kind, in the order of their names, starting after `name`, or at the beginning when
    /// `name` is nil. A result of fewer than `limit` records is the last page.
    ///
    /// Listing in pages limits the use of memory, however many records there are, and allows changes between two pages.
    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord]
}

/// A record in a listing.
public struct StoredRecord: Sendable {
    /// The name under which the store keeps the record: the name of a ``RecordKey``, or the name that a ``Vault`` derives from
    /// it.
    public let name: [UInt8]
    private let finding: Finding

    private enum Finding: Sendable {
        case content(Result<[UInt8], StoreError>)
        case sealed(@Sendable () throws(StoreError) -> [UInt8])
    }

    /// The bytes of the record, or the error if a sealed record does not open.
    ///
    /// A damaged record does not end a listing.
    ///
    /// A sealed record is opened each time this property is read, on the thread that reads it.
    public var content: Result<[UInt8], StoreError> {
        switch finding {
        case .content(let content): content
        case .sealed(let open): Result { () throws(StoreError) in try open() }
        }
    }

    /// Creates a record with the content that a store has read.
    public init(name: [UInt8], content: Result<[UInt8], StoreError>) {
        self.name = name
        finding = .content(content)
    }

    /// Creates a record that is opened when its content is read.
    ///
    /// With many records, each thread can open its own.
    init(name: [UInt8], opening open: @escaping @Sendable () throws(StoreError) -> [UInt8]) {
        self.name = name
        finding = .sealed(open)
    }
}

extension RecordReader {
    /// Calls `body` with every record of a kind, in the order of their names.
    public func forEachRecord(
        of kind: RecordKind, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        try forEachPage(of: kind) { page throws(StoreError) in
            for record in page { try body(record) }
        }
    }

    /// Calls `body` with the records of a kind in pages of at most 256 records, in the order of their names.
    ///
    /// The last page may be empty.
    package func forEachPage(
        of kind: RecordKind, _ body: ([StoredRecord]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let limit = 256
        var last: [UInt8]?
        while true {
            let page = try records(kind, after: last, limit: limit)
            try body(page)
            guard page.count == limit, let name = page.last?.name else { return }
            last = name
        }
    }
}

/// The operations that are available inside ``RecordStore/write(_:)``.
public protocol RecordWriter: RecordReader {
    /// Writes the bytes under `key`, or replaces them.
    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError)
    /// Removes the record under `key`. Does nothing if the record does not exist.
    func remove(_ key: RecordKey) throws(StoreError)
    /// Moves the record under `key`, unchanged, to ``RecordKind/quarantined``. Use it for a record that opens but has content
    /// that makes no sense. Does nothing if the record does not exist.
    func setAside(_ key: RecordKey) throws(StoreError)
}

extension RecordWriter {
    /// Keeps the bytes under a new name of the kind ``RecordKind/quarantined``, and removes the original record.
    public func setAside(_ key: RecordKey) throws(StoreError) {
        guard let old = try record(key) else { return }
        try Quarantine.keep(old, of: key, in: self)
        try remove(key)
    }
}

/// The kind of a record.
///
/// The kinds are part of the format: once a name is released, its meaning does not change.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    /// The header of the vault.
    case vault
    /// An account of an authenticator.
    case account
    /// A mechanism of an account.
    case mechanism
    /// A push message that was received.
    case notification
    /// An item of a `KeychainStorage`.
    case item
    /// The relations between other records. The index is built from stored records, and is rebuilt when it is lost.
    case index
    /// The address under which a push service reaches the device.
    case deviceToken
    /// A response that was sent to a server and whose outcome is not known yet.
    case sentAnswer
    /// A group of accounts. Reserved for a later version: an account has the names of its groups.
    case group
    /// The picture of an account.
    case icon
    /// The mark that a record was removed, for copies that are merged. Reserved for a later version.
    case tombstone
    /// A record that could not be opened or read, which was moved away from its name and kept.
    case quarantined
}

/// The key of a record: a kind, and an identity as bytes.
public struct RecordKey: Sendable, Hashable {
    /// The kind of the record.
    public let kind: RecordKind
    /// The identity of the record within its kind.
    public let name: [UInt8]

    /// Creates a key from a name that is already bytes.
    public init(_ kind: RecordKind, name: [UInt8]) {
        self.kind = kind
        self.name = name
    }

    /// Creates a key for an identity of several parts.
    ///
    /// Each part is preceded by its length, so that different identities never have the same name.
    public init(_ kind: RecordKind, _ parts: String...) {
        var name: [UInt8] = []
        name.reserveCapacity(parts.reduce(0) { $0 + 4 + $1.utf8.count })
        for part in parts { LengthPrefixed.append(part.utf8, to: &name) }
        self.init(kind, name: name)
    }

    /// Hashes the name in one call, because an array would hash each of its bytes separately.
    ///
    /// The kind is left out: few records of different kinds have the same name.
    public func hash(into hasher: inout Hasher) {
        name.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// Bytes that are preceded by their length: four bytes, most significant first.
enum LengthPrefixed {
    static func bytes(_ part: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + part.count)
        append(part, to: &bytes)
        return bytes
    }

    static func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: part)
    }
}
