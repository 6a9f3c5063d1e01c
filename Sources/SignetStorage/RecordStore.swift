/// A place for records: bytes under a key. Synchronous and transactional; see the design, section 2.2.
///
/// Both methods run their closure exactly once, alone: what one transaction sees, no other changes meanwhile.
public protocol RecordStore: Sendable {
    /// Reads a consistent state.
    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Reads and changes. When `body` or the commit throws, nothing has changed; when it returns, everything is durable.
    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// What can be done inside ``RecordStore/read(_:)``.
public protocol RecordReader {
    /// The bytes under `key`; nil only when it is certain that there are none.
    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]?
    /// The bytes of every record of a kind, in no order.
    func records(_ kind: RecordKind) throws(StoreError) -> [[UInt8]]
}

/// What can be done inside ``RecordStore/write(_:)``.
public protocol RecordWriter: RecordReader {
    /// Writes, or replaces, the bytes under `key`.
    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError)
    /// Removes what is under `key`. It is no error when there is nothing.
    func remove(_ key: RecordKey) throws(StoreError)
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
        self.init(kind, name: parts.flatMap { LengthPrefixed.bytes(Array($0.utf8)) })
    }
}

/// Bytes with their length in front: four bytes, most significant first.
enum LengthPrefixed {
    static func bytes(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
    }
}
