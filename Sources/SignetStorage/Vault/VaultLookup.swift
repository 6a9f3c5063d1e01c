/// The state of the accounts of a vault.
///
/// An index of the accounts that has the state of the header is the one that was written last.
package struct AccountsState: Sendable, Hashable {
    /// A number that grows with each transaction that changes the accounts, as the header has it.
    package let version: UInt64
    /// The ID of the data key, four bytes.
    ///
    /// A rotation seals all records again, so it changes the marks of records in an index, and not the version.
    package let keyID: [UInt8]

    /// Creates a state.
    package init(version: UInt64, keyID: [UInt8]) {
        (self.version, self.keyID) = (version, keyID)
    }

    init(_ header: VaultHeader, _ summary: VaultHeader.Records) {
        self.init(version: summary.accountsVersion, keyID: header.keyID)
    }
}

/// A reader that can prove single records with an index, without verifying all records.
package protocol LookupReader: RecordReader {
    /// Returns the state of the accounts in this transaction; nil for a vault of format 1.
    func accountsState() throws(StoreError) -> AccountsState?

    /// Returns a record without verifying the other ones: it may be from an older copy.
    ///
    /// An index is proved by the state in it, because the header has the same one and each state has one index.
    func unverifiedRecord(_ key: RecordKey) throws(StoreError) -> [UInt8]?

    /// Lets this process read a record without verifying the other ones, as long as the stored record has this mark.
    func trust(_ key: RecordKey, mark: [UInt8])
}

/// A writer that gives an index what proves the records in it.
package protocol LookupWriter: RecordWriter {
    /// Returns the state of the accounts before this transaction; nil for a vault of format 1.
    func accountsState() throws(StoreError) -> AccountsState?

    /// Returns the state of the accounts after this transaction, which changes it.
    func nextAccountsState() throws(StoreError) -> AccountsState

    /// Returns the mark of a record: the 12 bytes of its nonce, which are new each time the record is sealed.
    ///
    /// Returns nil for a missing record.
    func mark(of key: RecordKey) throws(StoreError) -> [UInt8]?
}

/// The lookups in an open vault.
struct VaultLookups {
    /// True until the verification that ``Vault/openForLookup(_:protectors:)`` has postponed.
    var isVerificationDue = false
    /// The marks of the records that an index has proved, by their hidden names.
    var marks: [RecordKey: [UInt8]] = [:]
}

extension Vault {
    /// The number of records up to which ``openForLookup(_:protectors:)`` verifies a vault at once, which takes less than a
    /// millisecond.
    static let recordsVerifiedAtLookup = 1_024

    /// Opens the vault like ``open(_:protectors:acceptingRollback:)``, and postpones the verification of more than
    /// ``recordsVerifiedAtLookup`` records.
    ///
    /// It is for a process that finds an account through an index and ends. The records that the index proves are read at once.
    /// The first read of any other record, the first list, and the first write verify in their transaction what
    /// ``open(_:protectors:acceptingRollback:)`` verifies, and fail with its errors.
    static func openForLookup(_ store: any RecordStore, protectors: [any KeyProtector]) throws(StoreError) -> Vault {
        let vault = try openUnverified(store, protectors: protectors)
        if vault.header.records?.count ?? 0 <= recordsVerifiedAtLookup {
            try vault.verifyDigest()
        } else {
            vault.withLookups { $0.isVerificationDue = true }
        }
        return vault
    }

    /// True until the verification that ``openForLookup(_:protectors:)`` has postponed.
    package var isVerificationDue: Bool { withLookups { $0.isVerificationDue } }

    /// Verifies what ``open(_:protectors:acceptingRollback:)`` verifies, in a transaction that has not changed anything.
    /// - Parameters:
    ///   - records: The transaction.
    ///   - epoch: The epoch of the header before the transaction began; nil in a transaction that writes.
    /// - Throws: The errors of ``open(_:protectors:acceptingRollback:)`` for damaged, removed and replaced records.
    func verifyDue(in records: any RecordReader, since epoch: UInt64?) throws(StoreError) {
        let isLarge = header.records?.count ?? 0 > Self.recordsVerifiedAtOpen
        if isLarge {
            try (records as? any PostponingReader)?.checkPostponed()
        } else {
            markVerified(try verifiedMechanisms(in: records, since: epoch))
        }
        withLookups { $0.isVerificationDue = false }
    }

    /// Returns true when an index has proved the stored record.
    fileprivate func trusts(_ sealed: [UInt8]?, _ hidden: RecordKey) -> Bool {
        guard let sealed, let mark = withLookups({ $0.marks[hidden] }) else { return false }
        return VaultKeys.nonce(of: sealed).elementsEqual(mark)
    }
}

extension VaultKeys {
    /// Returns the nonce of a sealed record.
    static func nonce(of sealed: some Collection<UInt8>) -> some Collection<UInt8> {
        sealed.dropFirst(mark.count + 2 + idLength).prefix(12)
    }
}

/// The postponed verification of a vault in one transaction.
final class DueVerification {
    private let vault: Vault
    private let epoch: UInt64
    private var outcome: Result<Void, StoreError>?

    /// Creates the verification of a vault whose header had an epoch before the transaction began.
    init(_ vault: Vault, since epoch: UInt64) {
        (self.vault, self.epoch) = (vault, epoch)
    }

    /// Verifies all records unless an index has proved the one that was read.
    func verify(before sealed: [UInt8]?, _ hidden: RecordKey, in records: any RecordReader) throws(StoreError) {
        if !vault.trusts(sealed, hidden) { try verify(in: records) }
    }

    /// Verifies all records, once for this transaction.
    func verify(in records: any RecordReader) throws(StoreError) {
        if let outcome { return try outcome.get() }
        let outcome = Result { () throws(StoreError) in try vault.verifyDue(in: records, since: epoch) }
        self.outcome = outcome
        try outcome.get()
    }

    /// Throws the error of the verification, also when the transaction has taken it for that of one record.
    func refuse() throws(StoreError) { try outcome?.get() }
}

extension SealedReader: LookupReader {
    func accountsState() throws(StoreError) -> AccountsState? {
        let header = try vault.current(in: records, since: epoch).0
        return header.records.map { AccountsState(header, $0) }
    }

    func unverifiedRecord(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        let hidden = vault.keys.hiddenName(key)
        return try records.record(hidden).map { (sealed) throws(StoreError) in
            try vault.open(sealed, hidden, vault.keys(for: sealed))
        }
    }

    func trust(_ key: RecordKey, mark: [UInt8]) {
        guard verification != nil else { return }
        let hidden = vault.keys.hiddenName(key)
        vault.withLookups { $0.marks[hidden] = mark }
    }
}

/// A reader of a store that has postponed the check of its pages.
protocol PostponingReader: RecordReader {
    /// Makes the postponed check, once.
    /// - Throws: ``StoreError/Code/corrupt`` when the store is damaged.
    func checkPostponed() throws(StoreError)
}
