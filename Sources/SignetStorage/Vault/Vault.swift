import SignetCore
import Synchronization

/// A record store that seals each record with AES-256-GCM.
///
/// One or more ``KeyProtector``s protect its data key. Each record is bound to its vault, kind and identity. Without the key, an
/// observer sees kinds and sizes, but no identities or content.
///
/// The vault reads no record before the header has proved that it was written with the data key. A record that does not open is
/// an error, or a failure in a listing; it is never reported as missing. When a new record is written in its place, the old one
/// is moved to ``RecordKind/quarantined`` and kept. The format is in docs/reference/vault-format.md.
///
/// If the key protector keeps an epoch, the first write after opening sends it a new one. This can take as long as a hardware
/// operation.
public final class Vault: RecordStore {
    let store: any RecordStore
    private let rollbackProtector: (any RollbackProtector)?
    private let state: Mutex<VaultState>
    /// The slot through which the vault was opened.
    public let openedBy: VaultHeader.Slot

    /// Creates a vault in an empty store.
    /// - Throws: ``StoreError/Code/exists`` when the store already holds a vault.
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

    /// Returns the same vault on another store, to which its records were moved.
    func moved(to store: any RecordStore) -> Vault {
        Vault(store: store, state: state.withLock { $0 }, openedBy: openedBy, rollbackProtector: rollbackProtector)
    }

    /// The unencrypted header of the vault, as this process last read or wrote it.
    public var header: VaultHeader { state.withLock { $0.header } }

    /// Reads a consistent state of the store.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try store.read { (records: any RecordReader) throws(StoreError) in
            try body(SealedReader(records: records, vault: self))
        }
    }

    /// Reads and changes records in one transaction.
    ///
    /// It is as durable as the underlying store. A transaction that neither puts nor removes a record writes nothing.
    /// - Throws: The error that `body` throws; ``StoreError/Code/keyMismatch`` when another process has rotated the key since
    ///   this vault was opened. Open the vault again then.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let (value, written, sealed) = try store.write { (records: any RecordWriter) throws(StoreError) in
            let (header, keys) = try current(in: records)
            let writer = SealedWriter(records: records, vault: self, keys: keys)
            let value = try body(writer)
            let written = writer.hasChanges ? try begin(header, keys, seals: writer.seals, in: records) : nil
            return (value, written, writer.sealed)
        }
        state.withLock { $0.remember(sealed) }
        if let written { try adopt(written) }
        return value
    }

    /// Counts the sealed records and starts a new epoch with the first write.
    ///
    /// Returns the header if it had to be changed.
    private func begin(
        _ header: VaultHeader, _ keys: VaultKeys, seals: UInt64, in records: any RecordWriter
    ) throws(StoreError) -> VaultHeader? {
        let (blocks, isFirst) = state.withLock { ($0.blocks(for: seals), rollbackProtector != nil && !$0.hasWritten) }
        guard blocks > 0 || isFirst else { return nil }
        var header = header
        header.seals += blocks
        guard header.seals < VaultState.maxSeals else {
            throw StoreError(.failed, "write", "the data key has sealed as much as it safely can; rotate it")
        }
        if isFirst { header.epoch += 1 }
        return try put(header, provedBy: keys, in: records)
    }

    /// Proves a header and writes it inside a transaction.
    ///
    /// Returns the proved header.
    func put(_ header: VaultHeader, provedBy keys: VaultKeys, in records: any RecordWriter) throws(StoreError) -> VaultHeader {
        let header = header.proved(by: keys.headerKey)
        try records.put(JSON.encode(header), .vaultHeader)
        return header
    }

    /// Stores a durable header in the state of this process.
    ///
    /// If its epoch is new, sends it to the rollback protector.
    func adopt(_ header: VaultHeader) throws(StoreError) {
        let isNewEpoch = state.withLock { $0.take(header) }
        if isNewEpoch, let rollbackProtector { try advance(rollbackProtector, to: header) }
    }

    /// Sends the epoch of `header` to the rollback protector.
    ///
    /// If another process has meanwhile written and sent a later epoch, the call does nothing.
    func advance(_ rollbackProtector: any RollbackProtector, to header: VaultHeader) throws(StoreError) {
        do throws(StoreError) {
            try rollbackProtector.remember(epoch: header.epoch, ofVault: header.id)
        } catch {
            guard error.code == .rolledBack else { throw error }
            let (outside, newest) = try epochs(rollbackProtector)
            guard newest.epoch >= outside ?? 0 else { throw error }
        }
    }

    /// Returns the epoch that the rollback protector has, and the header that is read after it.
    ///
    /// Other processes write their epoch before they send it. If the header still has a smaller epoch than the protector, it is
    /// therefore an old one.
    func epochs(_ rollbackProtector: any RollbackProtector) throws(StoreError) -> (outside: UInt64?, header: VaultHeader) {
        let outside = try rollbackProtector.epoch(ofVault: header.id)
        return (outside, try store.read { (records: any RecordReader) throws(StoreError) in try current(in: records).0 })
    }

    /// Returns the header in this transaction, and the keys it belongs to.
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

    /// Returns the keys with this ID, if this vault was opened with them or has rotated to or from them.
    func keys(_ id: [UInt8]) -> VaultKeys? { state.withLock { $0.ring[id] } }

    /// The keys that seal records now.
    var keys: VaultKeys { state.withLock { $0.current } }

    /// Returns the keys whose ID the sealed record contains, or the current keys when that ID is unknown.
    func keys(for sealed: [UInt8]) -> VaultKeys {
        state.withLock { state in
            let id = VaultKeys.id(of: sealed)
            return id.elementsEqual(state.current.id) ? state.current : state.ring[Array(id)] ?? state.current
        }
    }

    /// Returns true when this process sealed the record under this name and has not found it damaged since.
    ///
    /// The process remembers only its last few thousand records.
    func hasSealed(_ hidden: RecordKey) -> Bool { state.withLock { $0.sealed.contains(hidden) } }

    /// Marks the record under this name as one that does not open.
    func markDamaged(_ hidden: RecordKey) { state.withLock { $0.markDamaged(hidden) } }

    /// Adds keys to the key ring, so that records which are sealed with them can be opened.
    func learn(_ keys: VaultKeys) { state.withLock { $0.ring[keys.id] = keys } }
}

/// The state of an open vault in this process.
struct VaultState {
    /// The data keys by their IDs.
    ///
    /// After a rotation, the ring also keeps the previous key for concurrent readers.
    var ring: [[UInt8]: VaultKeys]
    private(set) var header: VaultHeader
    private var bytes: [UInt8]
    /// True when this process has started an epoch of its own.
    private(set) var hasWritten = false
    /// The number of records that may still be sealed before the header must count another block of `block` records.
    private var sealsLeft: UInt64 = 0
    private var block: UInt64 = 64

    /// The maximum number of records that one key may seal.
    ///
    /// With 2^32 random nonces of 96 bits, the probability that two are equal reaches 2^-33.
    static let maxSeals: UInt64 = 1 << 32
    static let sealsUntilDue: UInt64 = 1 << 30
    /// The names under which this process has sealed records: the last few thousand.
    private(set) var sealed: Set<RecordKey> = []

    init(keys: VaultKeys, header: VaultHeader, bytes: [UInt8]) {
        ring = [keys.id: keys]
        current = keys
        self.header = header
        self.bytes = bytes
    }

    private(set) var current: VaultKeys

    /// Returns the known header and the current keys if `bytes` are its encoding, otherwise nil.
    func known(_ bytes: [UInt8]) -> (VaultHeader, VaultKeys)? { bytes == self.bytes ? (header, current) : nil }

    /// Counts `seals` sealed records.
    ///
    /// Returns the number of records to add to the header's count in advance, or 0.
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

    /// Adds records that are now durable to ``sealed``.
    mutating func remember(_ sealed: Set<RecordKey>) {
        if self.sealed.count + sealed.count > 4_096 { self.sealed = [] }
        if sealed.count <= 4_096 { self.sealed.formUnion(sealed) }
    }

    mutating func markDamaged(_ hidden: RecordKey) { sealed.remove(hidden) }

    /// Stores a header that is now durable.
    ///
    /// Returns true when its epoch must be sent to the rollback protector.
    mutating func take(_ header: VaultHeader) -> Bool {
        let isNewEpoch = header.epoch != self.header.epoch || !hasWritten
        hasWritten = true
        self.header = header
        bytes = JSON.encode(header)
        if let keys = ring[header.keyID] { current = keys }
        return isNewEpoch
    }
}

extension RecordKey {
    /// The key under which a vault keeps its header in the underlying store.
    static let vaultHeader = RecordKey(.vault, name: [])
}
