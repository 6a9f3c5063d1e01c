import SignetCore

/// A record store that seals each record with AES-256-GCM.
///
/// One or more ``KeyProtector``s protect its data key. Each record is bound to its vault, kind and identity. Without the key, an
/// observer sees kinds and sizes, but no identities or content.
///
/// The vault reads no record before the header has proved that it was written with the data key. A record that does not open is
/// an error, or a failure in a listing; it is never reported as missing. When a new record is written in its place, the old one
/// is moved to ``RecordKind/quarantined`` and kept. The format is in docs/reference/vault-format.md.
///
/// The header counts the records and contains a digest of them, so that a removed record and one from an older copy are noticed:
/// when a vault of at most ``recordsVerifiedAtOpen`` records is opened, otherwise at the first write and by ``verifyRecords()``.
///
/// If the key protector keeps an epoch, the first write after opening sends it a new one. This can take as long as a hardware
/// operation.
public final class Vault: RecordStore, QuickReading, DeferredWriting {
    let store: any RecordStore
    private let rollbackProtector: (any RollbackProtector)?
    private let state: Mutex<VaultState>
    /// The slot through which the vault was opened.
    public let openedBy: VaultHeader.Slot

    /// Creates a vault in an empty store.
    /// - Throws: ``StoreError/Code/exists`` when the store already holds a vault.
    public static func create(in store: any RecordStore, protector: any KeyProtector) throws(StoreError) -> Vault {
        var (keys, draft) = try VaultKeys.make(vault: RandomID.uuid())
        let slot = try draft.addSlot(protector, dataKey: keys.dataKey)
        let stored = StoredHeader(draft, RecordDigest(), provedBy: keys)
        try store.write { (records: any RecordWriter) throws(StoreError) in
            guard try records.record(.vaultHeader) == nil else {
                throw StoreError(.exists, "create vault", "there is a vault here already; nothing was changed")
            }
            try records.put(stored.bytes, .vaultHeader)
        }
        let rollbackProtector = protector as? any RollbackProtector
        try rollbackProtector?.remember(epoch: stored.header.epoch, ofVault: stored.header.id)
        var state = VaultState(keys: keys, stored: stored)
        state.isVerified = true
        return Vault(store: store, state: state, openedBy: slot, rollbackProtector: rollbackProtector)
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

    /// Keeps the keys of the vault out of the swap space until the process ends.
    ///
    /// Returns false when the system refuses, because the limit of locked memory is reached.
    package func lockKeysInMemory() -> Bool { keys.lockInMemory() }

    package var readsQuickly: Bool { (store as? any QuickReading)?.readsQuickly ?? false }

    /// Reads a consistent state of the store.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let (epoch, isDue) = state.withLock { ($0.header.epoch, $0.lookups.isVerificationDue) }
        let verification = isDue ? DueVerification(self, since: epoch) : nil
        return try store.read { (records: any RecordReader) throws(StoreError) in
            let reader = SealedReader(records: records, vault: self, epoch: epoch, verification: verification)
            guard let verification else { return try body(reader) }
            let result = Result { () throws(StoreError) in try body(reader) }
            try verification.refuse()
            return try result.get()
        }
    }

    /// Checks that the store has this vault, with the key that this process knows.
    ///
    /// A list reports the records of another key as damaged, so a process that keeps a vault open checks this first.
    /// - Throws: ``StoreError/Code/keyMismatch`` when another process has rotated the key; ``StoreError/Code/noVault``,
    ///   ``StoreError/Code/rolledBack`` and ``StoreError/Code/corrupt`` when the vault was removed, replaced or changed.
    package func requireCurrent() throws(StoreError) {
        let epoch = header.epoch
        try store.read { (records: any RecordReader) throws(StoreError) in _ = try current(in: records, since: epoch) }
    }

    /// Reads and changes records in one transaction.
    ///
    /// It is as durable as the underlying store. A transaction that neither puts nor removes a record writes nothing.
    /// - Throws: The error that `body` throws; ``StoreError/Code/keyMismatch`` when another process has rotated the key since
    ///   this vault was opened, in which case it must be opened again; ``StoreError/Code/rolledBack`` when the records are not
    ///   those that were written last.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try transact(.atReturn, body)
    }

    /// Reads and changes records in one transaction, which is deferred if the underlying store can do that and the state of the
    /// vault allows it.
    ///
    /// When a power failure undoes the transaction, the header is the one of the transaction before, so the records agree with it.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try transact(state.withLock { $0.mayDefer } ? .deferred : .atReturn, body)
    }

    private func transact<R>(
        _ durability: Durability, _ body: (any RecordWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let (value, written, sealed) = try store.write(durability) { (records: any RecordWriter) throws(StoreError) in
            let (header, keys) = try current(in: records)
            if isVerificationDue { try verifyDue(in: records, since: nil) }
            let writer = SealedWriter(records: records, vault: self, header: header, keys: keys)
            let value = try body(writer)
            let written =
                writer.hasChanges
                ? try end(header, keys, seals: writer.seals, durability, changes: writer.changes, in: records) : nil
            return (value, written, writer.sealed)
        }
        if let written { try adopt(written, sealed: sealed) }
        return value
    }

    /// Writes the header at the end of a transaction: with the new digest, the number of sealed records, and a new epoch for the
    /// first write.
    private func end(
        _ header: VaultHeader, _ keys: VaultKeys, seals: UInt64, _ durability: Durability, changes: VaultChanges,
        in records: any RecordWriter
    ) throws(StoreError) -> StoredHeader {
        let (blocks, isFirst) = state.withLock { ($0.blocks(for: seals, durability), rollbackProtector != nil && !$0.hasWritten) }
        var header = header
        header.seals += blocks
        guard header.seals < VaultState.maxSeals else {
            throw StoreError(.failed, "write", "the data key has sealed as much as it safely can; rotate it")
        }
        if isFirst { header.epoch += 1 }
        return try put(header, provedBy: keys, after: changes, in: records)
    }

    /// Completes a header with the digest of the records, proves it and writes it inside a transaction.
    func put(
        _ header: VaultHeader, _ digest: RecordDigest, accountsVersion: UInt64, provedBy keys: VaultKeys,
        in records: any RecordWriter
    ) throws(StoreError) -> StoredHeader {
        var header = header
        header.records = keys.summary(of: digest, accountsVersion: accountsVersion)
        let stored = StoredHeader(header, digest, provedBy: keys, after: state.withLock { $0.stored })
        try records.put(stored.bytes, .vaultHeader)
        return stored
    }

    /// Returns the digest of all records in a header.
    func digest(in summary: VaultHeader.Records, _ keys: VaultKeys) -> RecordDigest {
        state.withLock { $0.stored.digest(in: summary) } ?? keys.digest(in: summary)
    }

    /// Stores a durable header in the state of this process, and the beginnings of the records that were sealed with it.
    ///
    /// If the epoch of the header is new, sends it to the rollback protector.
    func adopt(_ stored: StoredHeader, sealed: [RecordKey: KnownRecord] = [:]) throws(StoreError) {
        let isNewEpoch = state.withLock { $0.take(stored, sealed: sealed) }
        if isNewEpoch, let rollbackProtector { try advance(rollbackProtector, to: stored.header) }
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
        let known = header
        let outside = try rollbackProtector.epoch(ofVault: known.id)
        return (
            outside,
            try store.read { (records: any RecordReader) throws(StoreError) in try current(in: records, since: known.epoch).0 }
        )
    }

    /// Returns the header in this transaction, and the keys it belongs to.
    /// - Parameters:
    ///   - records: The transaction.
    ///   - epoch: The epoch that the header had before the transaction began; nil in a transaction that writes, which no other
    ///     thread of this process can overtake.
    /// - Returns: The header, and the keys that prove it.
    /// - Throws: ``StoreError/Code/rolledBack`` for an older header than the one that this process knows, also one with a key
    ///   that was replaced since; ``StoreError/Code/keyMismatch``; ``StoreError/Code/corrupt``; ``StoreError/Code/noVault``.
    func current(in records: any RecordReader, since epoch: UInt64? = nil) throws(StoreError) -> (VaultHeader, VaultKeys) {
        guard let bytes = try records.record(.vaultHeader) else {
            throw StoreError(.noVault, "use vault", "the vault was removed since it was opened")
        }
        if let known = state.withLock({ $0.known(bytes) }) { return known }
        let header = try Self.header(from: bytes)
        guard let keys = keys(header.keyID) else {
            throw StoreError(.keyMismatch, "use vault", "its key was rotated since it was opened; open it again")
        }
        guard header.isProved(by: keys) else {
            throw StoreError(.corrupt, "use vault", "its header was changed since it was opened; nothing was written")
        }
        guard header.format >= self.header.format, header.epoch >= epoch ?? self.header.epoch else {
            throw StoreError(.rolledBack, "use vault", "it was replaced by an older copy since it was opened; open it again")
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

    /// True when the store was verified, and every change since then is one of this vault.
    var isVerified: Bool { state.withLock { $0.isVerified } }

    /// Marks the store as verified, and remembers the beginnings of the mechanisms that were verified.
    func markVerified(_ mechanisms: [RecordKey: KnownRecord] = [:]) { state.withLock { $0.markVerified(mechanisms) } }

    /// Returns the record under this name when this process sealed it or, for a mechanism, verified it, has not found it damaged
    /// since, and no other process has written to the vault since.
    ///
    /// The process remembers only some thousands of records.
    func knownRecord(_ hidden: RecordKey) -> KnownRecord? { state.withLock { $0.knownRecords[hidden] } }

    /// Marks the record under this name as one that does not open.
    func markDamaged(_ hidden: RecordKey) { state.withLock { $0.markDamaged(hidden) } }

    /// Reads or changes what this process knows from indexes.
    func withLookups<R>(_ body: (inout VaultLookups) -> R) -> R { state.withLock { body(&$0.lookups) } }

    /// Adds keys to the key ring, so that records which are sealed with them can be opened.
    func learn(_ keys: VaultKeys) { state.withLock { $0.ring[keys.id] = keys } }
}

/// A proved header and its bytes in the store.
///
/// It is a class, because each write reads the one of the last write several times.
final class StoredHeader: Sendable {
    let header: VaultHeader
    let bytes: [UInt8]
    /// The digest of the records; nil when it was not computed.
    private let digest: RecordDigest?
    private let frame: HeaderFrame

    /// Proves a header with the key of the vault.
    /// - Parameters:
    ///   - header: The header.
    ///   - digest: The digest that is masked in the header.
    ///   - keys: The keys of the vault.
    ///   - last: The last header of the vault, nil for a new vault.
    init(_ header: VaultHeader, _ digest: RecordDigest, provedBy keys: VaultKeys, after last: StoredHeader? = nil) {
        self.digest = digest
        frame = last.flatMap { $0.frame.fits(header) ? $0.frame : nil } ?? HeaderFrame(header)
        (self.header, bytes) = header.encoded(provedBy: keys, in: frame)
    }

    /// Creates a value for a header whose proof was verified.
    init(verified header: VaultHeader, bytes: [UInt8]) {
        self.header = header
        self.bytes = bytes
        digest = nil
        frame = HeaderFrame(header)
    }

    /// Returns the digest if it is known and `summary` is this header's.
    func digest(in summary: VaultHeader.Records) -> RecordDigest? { header.records == summary ? digest : nil }
}

/// The beginning that a record in the store must have.
struct KnownRecord: Sendable {
    let beginning: ArraySlice<UInt8>
    /// The digest of the beginning.
    let digest: RecordDigest
    /// True when this process has sealed the record, so that it opens.
    let isSealed: Bool

    /// Returns true when the stored record has this beginning.
    func isBeginning(of stored: [UInt8]) -> Bool { stored.prefix(VaultKeys.coveredLength) == beginning }
}

/// The state of an open vault in this process.
struct VaultState {
    /// The data keys by their IDs.
    ///
    /// After a rotation, the ring also keeps the previous key for concurrent readers.
    var ring: [[UInt8]: VaultKeys]
    private(set) var stored: StoredHeader
    var header: VaultHeader { stored.header }
    /// True when this process has started an epoch of its own.
    private(set) var hasWritten = false
    /// True when the store was verified against the header.
    var isVerified = false
    var lookups = VaultLookups()
    /// The number of records that may still be sealed before the header must count another block of `block` records.
    private var sealsLeft: UInt64 = 0
    private var block: UInt64 = 64

    /// The maximum number of records that one key may seal.
    ///
    /// With 2^32 random nonces of 96 bits, the probability that two are equal reaches 2^-33.
    static let maxSeals: UInt64 = 1 << 32
    static let sealsUntilDue: UInt64 = 1 << 30
    /// The records that this process has sealed, and the mechanisms that it has verified, by their hidden names.
    private(set) var knownRecords: [RecordKey: KnownRecord] = [:]
    private static let maxKnown = 2 * Vault.recordsVerifiedAtOpen

    init(keys: VaultKeys, stored: StoredHeader) {
        ring = [keys.id: keys]
        current = keys
        self.stored = stored
    }

    private(set) var current: VaultKeys

    /// Returns the known header and the current keys if `bytes` are its encoding, otherwise nil: another process has written.
    mutating func known(_ bytes: [UInt8]) -> (VaultHeader, VaultKeys)? {
        guard bytes == stored.bytes else {
            knownRecords = [:]
            return nil
        }
        return (header, current)
    }

    /// The number of seals that each durable transaction leaves for deferred ones.
    private static let deferredSeals: UInt64 = 4

    /// True when the next transaction need not be durable at once.
    ///
    /// A rollback protector must not learn an epoch that a power failure can undo, so the first write of a process is durable. So is
    /// a write that may have to count further seals in the header, because the count must stay an upper bound.
    var mayDefer: Bool { hasWritten && sealsLeft >= Self.deferredSeals }

    /// Counts `seals` sealed records.
    ///
    /// Returns the number of records to add to the header's count in advance, or 0.
    mutating func blocks(for seals: UInt64, _ durability: Durability) -> UInt64 {
        let needed = durability == .deferred ? seals : seals + Self.deferredSeals
        guard needed > sealsLeft else {
            sealsLeft -= seals
            return 0
        }
        let more = max(block, needed)
        sealsLeft += more - seals
        block = min(block * 2, 1 << 16)
        return more
    }

    mutating func markDamaged(_ hidden: RecordKey) { knownRecords[hidden] = nil }

    mutating func markVerified(_ mechanisms: [RecordKey: KnownRecord]) {
        isVerified = true
        remember(mechanisms.filter { knownRecords[$0.key] == nil })
    }

    private mutating func remember(_ records: [RecordKey: KnownRecord]) {
        if knownRecords.count + records.count > Self.maxKnown { knownRecords = [:] }
        guard records.count <= Self.maxKnown else { return }
        for (hidden, record) in records { knownRecords[hidden] = record }
    }

    /// Stores a header that is now durable, and the beginnings of the records that were sealed with it.
    ///
    /// Returns true when its epoch must be sent to the rollback protector.
    mutating func take(_ stored: StoredHeader, sealed: [RecordKey: KnownRecord]) -> Bool {
        let isNewEpoch = stored.header.epoch != self.stored.header.epoch || !hasWritten
        hasWritten = true
        isVerified = true
        self.stored = stored
        if stored.header.keyID != current.id, let keys = ring[stored.header.keyID] { current = keys }
        remember(sealed)
        return isNewEpoch
    }
}

extension RecordKey {
    /// The key under which a vault keeps its header in the underlying store.
    static let vaultHeader = RecordKey(.vault, name: [])
}
