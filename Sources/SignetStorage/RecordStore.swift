/// A place for records: bytes under a key. Synchronous and transactional; see the design, section 2.2.
///
/// Both methods run their closure at most once, alone: what one transaction sees, no other changes meanwhile. A closure that
/// calls a method of the same store waits for itself. `RecordStoreConformance` of SignetTesting tests a store of your own.
public protocol RecordStore: Sendable {
    /// Reads a consistent state.
    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Reads and changes. When `body` or the commit throws, nothing has changed, but for
    /// ``StoreError/Code/outcomeUnknown``: then all of it has, or nothing. When it returns, everything is durable.
    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// A store that writes records to a disk as they are: who wants them sealed puts a ``Vault`` in front.
package protocol ClearOnDisk {}

/// What can be done inside ``RecordStore/read(_:)``.
public protocol RecordReader {
    /// The bytes under `key`; nil only when it is certain that there are none.
    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]?
    /// The records of a kind whose names come after `name`, in the order of their names, at most `limit` of them; from the
    /// beginning when `name` is nil. Fewer than `limit` are the last.
    ///
    /// Listing in pages keeps memory small however many records there are, and allows changes between two pages.
    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord]
}

/// A record in a listing.
public struct StoredRecord: Sendable {
    /// The name under which the store keeps it: of a ``RecordKey``, or what a ``Vault`` makes of one.
    public let name: [UInt8]
    private let finding: Finding

    private enum Finding: Sendable {
        case content(Result<[UInt8], StoreError>)
        case sealed(@Sendable () throws(StoreError) -> [UInt8])
    }

    /// Its bytes; or, where they are sealed, why they do not open. One record that is damaged does not end a listing.
    ///
    /// A sealed record is opened when this is read, on the thread that reads it, and again each time.
    public var content: Result<[UInt8], StoreError> {
        switch finding {
        case .content(let content): content
        case .sealed(let open): Result { () throws(StoreError) in try open() }
        }
    }

    /// A record as a store found it.
    public init(name: [UInt8], content: Result<[UInt8], StoreError>) {
        self.name = name
        finding = .content(content)
    }

    /// A record that is sealed: many are opened sooner when each thread opens its own.
    init(name: [UInt8], opening open: @escaping @Sendable () throws(StoreError) -> [UInt8]) {
        self.name = name
        finding = .sealed(open)
    }
}

extension RecordReader {
    /// Every record of a kind, one after another, in the order of their names.
    public func forEachRecord(
        of kind: RecordKind, _ body: (StoredRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        try forEachPage(of: kind) { page throws(StoreError) in
            for record in page { try body(record) }
        }
    }

    /// The same, a few hundred records at a time; the last page may be empty.
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

/// What can be done inside ``RecordStore/write(_:)``.
public protocol RecordWriter: RecordReader {
    /// Writes, or replaces, the bytes under `key`.
    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError)
    /// Removes what is under `key`. It is no error when there is nothing.
    func remove(_ key: RecordKey) throws(StoreError)
    /// Moves what is under `key` out of the way, to ``RecordKind/quarantined``, as it stands there: for what opens and makes no
    /// sense all the same. It is no error when there is nothing.
    func setAside(_ key: RecordKey) throws(StoreError)
}

extension RecordWriter {
    /// Keeps the bytes under a name of their own, and removes them where they stood.
    public func setAside(_ key: RecordKey) throws(StoreError) {
        guard let old = try record(key) else { return }
        try Quarantine.keep(old, of: key, in: self)
        try remove(key)
    }
}

/// What a record is. The kinds are part of the format: a name, once released, keeps its meaning.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    /// The vault's own header.
    case vault
    /// An account of an authenticator.
    case account
    /// A mechanism of an account.
    case mechanism
    /// A push message that came.
    case notification
    /// An item of a `KeychainStorage`.
    case item
    /// Which records belong to which other: made of what is stored, and made again when it is lost.
    case index
    /// The address under which a push service finds the device.
    case deviceToken
    /// An answer that was sent to a server, and whose fate is not known yet.
    case sentAnswer
    /// What stood under a name and did not open, moved out of the way and kept.
    case quarantined
}

/// The name of a record: a kind, and an identity as bytes.
public struct RecordKey: Sendable, Hashable {
    /// What the record is.
    public let kind: RecordKind
    /// Which one it is.
    public let name: [UInt8]

    /// A key whose name is bytes already.
    public init(_ kind: RecordKind, name: [UInt8]) {
        self.kind = kind
        self.name = name
    }

    /// A key for an identity of several parts. Each part is preceded by its length, so that no two identities meet.
    public init(_ kind: RecordKind, _ parts: String...) {
        var name: [UInt8] = []
        name.reserveCapacity(parts.reduce(0) { $0 + 4 + $1.utf8.count })
        for part in parts { LengthPrefixed.append(part.utf8, to: &name) }
        self.init(kind, name: name)
    }

    /// The name in one piece: an array hashes each of its bytes for itself. Few records of different kinds have the same name.
    public func hash(into hasher: inout Hasher) {
        name.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// Bytes with their length in front: four bytes, most significant first.
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
