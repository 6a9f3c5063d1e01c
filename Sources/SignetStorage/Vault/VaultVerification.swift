import SignetCore

extension Vault {
    /// The number of records up to which a vault is verified when it is opened.
    ///
    /// A vault with more records is verified at the first write of the process and by ``verifyRecords()``.
    public static let recordsVerifiedAtOpen = 16_384

    /// Verifies that the store is not damaged, and that it holds exactly the records that were written last.
    ///
    /// It does not open the records: one that is damaged in itself is reported when it is read, and by ``damagedRecords()``. A
    /// vault of format 1 does not tell which records it has; for it, only the store is checked.
    /// - Throws: ``StoreError/Code/corrupt`` when the store is damaged; ``StoreError/Code/rolledBack`` when a record was removed,
    ///   or another one, for example from an older copy, was put in its place.
    public func verifyRecords() throws(StoreError) {
        try (store as? any SelfCheckingStore)?.checkIntegrity()
        try verifyDigest()
    }

    /// Verifies the records against the header, both as one transaction reads them.
    func verifyDigest() throws(StoreError) {
        let epoch = header.epoch
        try store.read { (records: any RecordReader) throws(StoreError) in
            let (header, keys) = try current(in: records, since: epoch)
            guard let summary = header.records else { return try refuseNewerRecords(than: header, in: records) }
            try verify(keys.digest(in: summary), keys, in: records)
        }
        markVerified()
    }

    /// Verifies that the store has exactly the records with this digest.
    private func verify(_ expected: RecordDigest, _ keys: VaultKeys, in records: any RecordReader) throws(StoreError) {
        try Self.require(digest(of: records, keys), expected)
    }

    /// Requires that the digest of the records in the store is the one that the header has.
    static func require(_ found: RecordDigest, _ expected: RecordDigest) throws(StoreError) {
        guard found != expected else { return }
        throw StoreError(
            .rolledBack, "verify vault",
            "its records are not those that were written last: \(found.count) are there, \(expected.count) should be, and records "
                + "were removed, damaged or put back from an older copy; codes of counters in them may have been used. "
                + "Nothing was changed. Restore a backup, or say that the records that are there are to be used")
    }

    /// Returns the digest of all records in the store.
    func digest(of records: any RecordReader, _ keys: VaultKeys) throws(StoreError) -> RecordDigest {
        var digest = RecordDigest()
        try records.forEachCovered { key, prefix in digest += keys.digest(of: prefix, key) }
        return digest
    }

    /// Refuses records of a newer format than the header: a header of format 1 was put back, to do without the digest.
    /// - Parameters:
    ///   - header: The header.
    ///   - records: The transaction.
    ///   - own: The hidden names of the records that the transaction itself has sealed.
    /// - Throws: ``StoreError/Code/rolledBack`` for such a record.
    func refuseNewerRecords(
        than header: VaultHeader, in records: any RecordReader, except own: Set<RecordKey> = []
    ) throws(StoreError) {
        try records.forEachCovered { (key, prefix) throws(StoreError) in
            guard key.kind != .quarantined, let format = VaultKeys.format(of: prefix), format > header.format else { return }
            guard !own.contains(key) else { return }
            throw StoreError(
                .rolledBack, "verify vault", "its header is older than its records: it was put back from an older copy")
        }
    }

    /// Brings the digest in a header up to date at the end of a transaction, and gives a vault of format 1 the current format.
    ///
    /// The store is verified first when this process has not done so, or when the changes are suspect.
    func update(
        _ header: inout VaultHeader, _ keys: VaultKeys, with changes: VaultChanges, in records: any RecordWriter
    ) throws(StoreError) {
        let version = header.records?.accountsVersion ?? 0
        var digest: RecordDigest
        if let summary = header.records {
            digest = keys.digest(in: summary)
            digest += changes.digest
            if changes.isSuspect || !isVerified { try verify(digest, keys, in: records) }
        } else {
            try refuseNewerRecords(than: header, in: records, except: changes.sealed)
            digest = try self.digest(of: records, keys)
            header.format = VaultHeader.currentFormat
        }
        header.records = keys.summary(of: digest, accountsVersion: version + (changes.changesAccounts ? 1 : 0))
    }

    /// Takes the records that are in the store as those of the vault.
    ///
    /// Changes nothing when they are, and `outside` is not later than the header's epoch.
    /// - Parameter outside: The epoch that the rollback protector has.
    /// - Throws: ``StoreError`` when the store fails.
    func acceptRecords(since outside: UInt64 = 0) throws(StoreError) {
        let written = try store.write { (records: any RecordWriter) throws(StoreError) -> StoredHeader? in
            var (header, keys) = try current(in: records)
            let found = try digest(of: records, keys)
            let summary = header.records
            if let summary, outside <= header.epoch, keys.digest(in: summary) == found { return nil }
            header.format = VaultHeader.currentFormat
            header.records = keys.summary(of: found, accountsVersion: (summary?.accountsVersion ?? 0) + 1)
            header.epoch = max(header.epoch, outside) + 1
            return try put(header, provedBy: keys, in: records)
        }
        if let written { try adopt(written) }
        markVerified()
    }
}

/// The changes of a transaction on which the header depends.
struct VaultChanges {
    /// The difference between the digests of the records after and before the transaction.
    var digest = RecordDigest()
    /// The hidden names of the records that were sealed.
    var sealed: Set<RecordKey> = []
    /// True when the transaction wrote or removed an account, or added or removed a mechanism.
    var changesAccounts = false
    /// True when the transaction replaced a record that did not open.
    var isSuspect = false
}

/// A store that can find damage below its records, for example in the pages of its file.
protocol SelfCheckingStore: RecordStore {
    /// Checks the whole store.
    /// - Throws: ``StoreError/Code/corrupt`` when it is damaged.
    func checkIntegrity() throws(StoreError)
}
