import SignetCore
import Synchronization

/// A record store whose records are sealed: AES-256-GCM under a data key that one or more ``KeyProtector``s keep, each record
/// bound to its vault, kind and identity. Kinds and sizes can be seen from outside; identities and content cannot.
///
/// Nothing is read before the header has proved to be the one that the data key's owner wrote. A record that does not open is
/// an error, or a failure in a listing, and never absent; when something new is written in its place, it is moved to
/// ``RecordKind/quarantined`` and kept. The format is in docs/format.md.
///
/// Where a key protector keeps an epoch, the first write after opening tells it a new one, which may take as long as a hardware
/// operation: an app that must not wait then makes an empty write off its main path.
public final class Vault: RecordStore {
    let store: any RecordStore
    private let rollbackProtector: (any RollbackProtector)?
    private let state: Mutex<VaultState>
    /// Through which slot the vault was opened.
    public let openedBy: VaultHeader.Slot

    /// Makes a vault in an empty store.
    /// - Throws: ``StoreError/Code/exists`` when the store holds a vault already.
    public static func create(in store: any RecordStore, protector: any KeyProtector) throws(StoreError) -> Vault {
        var (keys, header) = try VaultKeys.make(vault: RandomID.uuid())
        let slot = try header.addSlot(protector, dataKey: keys.dataKey)
        header = header.proved(by: keys.headerKey)
        let bytes = JSON.encode(header)
        try store.write { (records: any RecordWriter) throws(StoreError) in
            guard try records.record(.vaultHeader) == nil else {
                throw StoreError(.exists, "create vault", "there is a vault here already; nothing was changed")
            }
            try records.put(bytes, .vaultHeader)
        }
        let rollbackProtector = protector as? any RollbackProtector
        try rollbackProtector?.remember(epoch: header.epoch, ofVault: header.id)
        return Vault(
            store: store, state: VaultState(keys: keys, header: header, bytes: bytes), openedBy: slot,
            rollbackProtector: rollbackProtector)
    }

    init(
        store: any RecordStore, state: sending VaultState, openedBy slot: VaultHeader.Slot,
        rollbackProtector: (any RollbackProtector)?
    ) {
        self.store = store
        self.rollbackProtector = rollbackProtector
        self.state = Mutex(state)
        openedBy = slot
    }

    /// The same vault, whose records are in another place now.
    func moved(to store: any RecordStore) -> Vault {
        Vault(store: store, state: state.withLock { $0 }, openedBy: openedBy, rollbackProtector: rollbackProtector)
    }

    /// What the vault says of itself in clear, as far as this process knows.
    public var header: VaultHeader { state.withLock { $0.header } }

    /// Reads a consistent state.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.read { (records: any RecordReader) throws(StoreError) in
            try body(SealedReader(records: records, vault: self))
        }
    }

    /// Reads and changes, all or nothing; as durable as the store beneath.
    /// - Throws: what `body` throws; ``StoreError/Code/keyMismatch`` when another process has rotated the key since this vault
    ///   was opened: open it again.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let (value, told, sealed) = try store.write { (records: any RecordWriter) throws(StoreError) in
            let (header, keys) = try current(in: records)
            let writer = SealedWriter(records: records, vault: self, keys: keys)
            let value = try body(writer)
            return (value, try begin(header, keys, seals: writer.seals, in: records), writer.sealed)
        }
        state.withLock { $0.note(sealed) }
        if let told { try tell(told) }
        return value
    }

    /// Counts what was sealed, and begins a new epoch with the first write. Returns the header if it had to be changed.
    private func begin(
        _ header: VaultHeader, _ keys: VaultKeys, seals: UInt64, in records: any RecordWriter
    ) throws(StoreError) -> VaultHeader? {
        let (blocks, isFirst) = state.withLock { ($0.blocks(for: seals), rollbackProtector != nil && !$0.hasWritten) }
        guard blocks > 0 || isFirst else { return nil }
        var header = header
        header.seals += blocks
        guard header.seals < VaultState.mostSeals else {
            throw StoreError(.failed, "write", "the data key has sealed as much as it safely can; rotate it")
        }
        if isFirst { header.epoch += 1 }
        return try put(header, provedBy: keys, in: records)
    }

    /// Writes a header inside a transaction, and remembers it for those that follow.
    func put(_ header: VaultHeader, provedBy keys: VaultKeys, in records: any RecordWriter) throws(StoreError) -> VaultHeader {
        let header = header.proved(by: keys.headerKey)
        try records.put(JSON.encode(header), .vaultHeader)
        return header
    }

    /// Takes note of a header that is durable, and tells its epoch to who keeps it.
    func tell(_ header: VaultHeader) throws(StoreError) {
        let isNews = state.withLock { $0.take(header) }
        if isNews, let rollbackProtector { try tell(rollbackProtector, header) }
    }

    /// Tells an epoch to who keeps it. Another process may have written after this one and told before it: then there is nothing to tell.
    func tell(_ rollbackProtector: any RollbackProtector, _ header: VaultHeader) throws(StoreError) {
        do throws(StoreError) {
            try rollbackProtector.remember(epoch: header.epoch, ofVault: header.id)
        } catch {
            guard error.code == .rolledBack else { throw error }
            let (outside, newest) = try epochs(rollbackProtector)
            guard newest.epoch >= outside ?? 0 else { throw error }
        }
    }

    /// What the rollback protector knows, and the header as it stands after it was asked: other processes write their epoch before they tell it, so that
    /// a header which is behind then is an old one.
    func epochs(_ rollbackProtector: any RollbackProtector) throws(StoreError) -> (outside: UInt64?, header: VaultHeader) {
        let outside = try rollbackProtector.epoch(ofVault: header.id)
        return (outside, try store.read { (records: any RecordReader) throws(StoreError) in try current(in: records).0 })
    }

    /// The header as it stands in this transaction, and the keys it belongs to.
    func current(in records: any RecordReader) throws(StoreError) -> (VaultHeader, VaultKeys) {
        guard let bytes = try records.record(.vaultHeader) else {
            throw StoreError(.noVault, "use vault", "the vault was removed since it was opened")
        }
        if let known = state.withLock({ $0.known(bytes) }) { return known }
        let header = try Self.header(from: bytes)
        guard let keys = keys(header.keyID) else {
            throw StoreError(.keyMismatch, "use vault", "its key was rotated since it was opened; open it again")
        }
        guard header.isProved(by: keys.headerKey) else {
            throw StoreError(.corrupt, "use vault", "its header was changed since it was opened; nothing was written")
        }
        return (header, keys)
    }

    /// The keys with this id, if this vault was opened with them or has rotated to or from them.
    func keys(_ id: [UInt8]) -> VaultKeys? { state.withLock { $0.ring[id] } }

    /// The keys that records are sealed with now.
    var keys: VaultKeys { state.withLock { $0.current } }

    /// The keys that a record says it was sealed with; those of now where they are not known.
    func keys(for sealed: [UInt8]) -> VaultKeys {
        state.withLock { state in
            let id = VaultKeys.id(of: sealed)
            return id.elementsEqual(state.current.id) ? state.current : state.ring[Array(id)] ?? state.current
        }
    }

    /// Whether this process has sealed what stands there, as far as it remembers, and has not found it damaged since.
    func hasSealed(_ hidden: RecordKey) -> Bool { state.withLock { $0.sealed.contains(hidden) } }

    /// Takes note that what stands there does not open.
    func doubt(_ hidden: RecordKey) { state.withLock { $0.doubt(hidden) } }

    /// Lets records that are sealed with new keys be opened.
    func learn(_ keys: VaultKeys) { state.withLock { $0.ring[keys.id] = keys } }
}

/// What a process knows of a vault that it has opened.
struct VaultState {
    /// The data keys by their ids: one, and after a rotation the one before, for those who read meanwhile.
    var ring: [[UInt8]: VaultKeys]
    private(set) var header: VaultHeader
    private var bytes: [UInt8]
    /// Whether this process has begun an epoch of its own.
    private(set) var hasWritten = false
    /// How many more records may be sealed before the header must count another block, and how large the next block is.
    private var sealsLeft: UInt64 = 0
    private var block: UInt64 = 64

    /// With 2^32 random nonces of 96 bits the odds that two are equal reach 2^-33; beyond that a key may not be used.
    static let mostSeals: UInt64 = 1 << 32
    static let sealsUntilDue: UInt64 = 1 << 30
    /// Where this process has sealed records, the last few thousand of them.
    private(set) var sealed: Set<RecordKey> = []

    init(keys: VaultKeys, header: VaultHeader, bytes: [UInt8]) {
        ring = [keys.id: keys]
        current = keys
        self.header = header
        self.bytes = bytes
    }

    private(set) var current: VaultKeys

    /// The header with these bytes, if it is the one known already.
    func known(_ bytes: [UInt8]) -> (VaultHeader, VaultKeys)? { bytes == self.bytes ? (header, current) : nil }

    /// Counts `seals`. Returns how many the header has to count beforehand.
    mutating func blocks(for seals: UInt64) -> UInt64 {
        guard seals > sealsLeft else {
            sealsLeft -= seals
            return 0
        }
        let more = max(block, seals)
        sealsLeft += more - seals
        block = min(block * 2, 1 << 16)
        return more
    }

    /// Takes note of records that are durable.
    mutating func note(_ sealed: Set<RecordKey>) {
        if self.sealed.count + sealed.count > 4_096 { self.sealed = [] }
        if sealed.count <= 4_096 { self.sealed.formUnion(sealed) }
    }

    mutating func doubt(_ hidden: RecordKey) { sealed.remove(hidden) }

    /// Takes a header that is durable. Returns whether its epoch is news.
    mutating func take(_ header: VaultHeader) -> Bool {
        let isNews = header.epoch != self.header.epoch || !hasWritten
        hasWritten = true
        self.header = header
        bytes = JSON.encode(header)
        if let keys = ring[header.keyID] { current = keys }
        return isNews
    }
}

extension RecordKey {
    /// Where a vault keeps its header in the store beneath.
    static let vaultHeader = RecordKey(.vault, name: [])
}
