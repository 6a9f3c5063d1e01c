import SignetCore

extension Vault {
    /// The number of records up to which a vault is verified when it is opened.
    ///
    /// A vault with more records is verified at the first write of the process and by ``verifyRecords()``.
    public static let recordsVerifiedAtOpen = 16_384

    /// Verifies that the store is not damaged, and that it holds exactly the records that were written last.
    ///
    /// It does not open the records: one that is damaged behind its first 20 bytes is reported when it is read, and by
    /// ``damagedRecords()``. A vault of format 1 does not tell which records it has; for it, only the store is checked.
    /// - Throws: ``StoreError/Code/corrupt`` when the store or the beginning of a record is damaged; ``StoreError/Code/rolledBack`` when a record was removed,
    ///   or another one, for example from an older copy, was put in its place.
    public func verifyRecords() throws(StoreError) {
        try (store as? any SelfCheckingStore)?.checkIntegrity()
        try verifyDigest()
    }

    /// Verifies the records against the header, both as one transaction reads them.
    func verifyDigest() throws(StoreError) {
        let epoch = header.epoch
        let mechanisms = try store.read { (records: any RecordReader) throws(StoreError) in
            try verifiedMechanisms(in: records, since: epoch)
        }
        markVerified(mechanisms)
    }

    /// Verifies the records against the header in a transaction, after the check that the store has postponed.
    /// - Parameters:
    ///   - records: The transaction.
    ///   - epoch: The epoch of the header before the transaction began; nil in a transaction that writes.
    /// - Returns: The beginnings of the mechanisms by their hidden names.
    /// - Throws: The errors of ``verify(_:_:in:)`` and of ``current(in:since:)``.
    func verifiedMechanisms(
        in records: any RecordReader, since epoch: UInt64?
    ) throws(StoreError) -> [RecordKey: KnownRecord] {
        try (records as? any PostponingReader)?.checkPostponed()
        let (header, keys) = try current(in: records, since: epoch)
        guard let summary = header.records else {
            try refuseNewerRecords(than: header, in: records)
            return [:]
        }
        return try verify(digest(in: summary, keys), keys, in: records)
    }

    /// Verifies that the store has exactly the records with this digest.
    /// - Returns: The beginnings of the mechanisms by their hidden names.
    /// - Throws: ``StoreError/Code/corrupt`` when as many records are there as should be, and some of them do not open;
    ///   ``StoreError/Code/rolledBack`` when other records are there.
    @discardableResult
    func verify(
        _ expected: RecordDigest, _ keys: VaultKeys, in records: any RecordReader
    ) throws(StoreError) -> [RecordKey: KnownRecord] {
        let (found, mechanisms) = try digest(of: records, keys)
        if found == expected { return mechanisms }
        let damaged = found.count == expected.count ? try countOfDamaged(in: records, keys) : 0
        guard damaged == 0 else {
            throw StoreError(
                .corrupt, "verify vault",
                "\(damaged) of its \(found.count) records are damaged, and the others can't be verified: they may be from an "
                    + "older copy. Nothing was changed. Restore a backup, or accept the records that are there")
        }
        throw StoreError(
            .rolledBack, "verify vault",
            "its records are not those that were written last: \(found.count) are there, \(expected.count) should be, and records "
                + "were removed, damaged or put back from an older copy; codes of counters in them may have been used. "
                + "Nothing was changed. Restore a backup, or accept the records that are there")
    }

    /// Returns the number of records that do not open.
    private func countOfDamaged(in records: any RecordReader, _ keys: VaultKeys) throws(StoreError) -> Int {
        var count = 0
        for kind in RecordKind.allCases where kind != .vault && kind != .quarantined {
            try records.forEachRecord(of: kind) { (record) throws(StoreError) in
                let opened = try? keys.open(record.content.get(), RecordKey(kind, name: record.name))
                if opened == nil { count += 1 }
            }
        }
        return count
    }

    /// Returns the digest of all records in the store, and the beginnings of the mechanisms by their hidden names.
    func digest(
        of records: any RecordReader, _ keys: VaultKeys
    ) throws(StoreError) -> (digest: RecordDigest, mechanisms: [RecordKey: KnownRecord]) {
        var (digest, mechanisms) = (RecordDigest(), [RecordKey: KnownRecord]())
        try records.forEachCovered { key, prefix in
            let one = keys.digest(of: prefix, key)
            digest += one
            if key.kind == .mechanism {
                mechanisms[key] = KnownRecord(beginning: prefix[...], digest: one, isSealed: false)
            }
        }
        return (digest, mechanisms)
    }

    /// Refuses records of a newer format than the header: a header of format 1 was put back, to do without the digest.
    /// - Parameters:
    ///   - header: The header.
    ///   - records: The transaction.
    ///   - own: The records that the transaction itself has sealed, by their hidden names.
    /// - Throws: ``StoreError/Code/rolledBack`` for such a record.
    func refuseNewerRecords(
        than header: VaultHeader, in records: any RecordReader, except own: [RecordKey: KnownRecord] = [:]
    ) throws(StoreError) {
        try records.forEachCovered { (key, prefix) throws(StoreError) in
            guard key.kind != .quarantined, let format = VaultKeys.format(of: prefix), format > header.format else { return }
            guard own[key] == nil else { return }
            throw StoreError(
                .rolledBack, "verify vault", "its header is older than its records: it was put back from an older copy")
        }
    }

    /// Writes the header at the end of a transaction, with the digest of the records after it, and gives a vault of format 1 the
    /// current format.
    ///
    /// The store is verified first when this process has not done so, or when the changes are suspect.
    func put(
        _ header: VaultHeader, provedBy keys: VaultKeys, after changes: VaultChanges, in records: any RecordWriter
    ) throws(StoreError) -> StoredHeader {
        var (header, digest) = (header, changes.digest)
        let version = (header.records?.accountsVersion ?? 0) + (changes.changesAccounts ? 1 : 0)
        if let summary = header.records {
            digest += self.digest(in: summary, keys)
            if changes.isSuspect || !isVerified { try verify(digest, keys, in: records) }
        } else {
            try refuseNewerRecords(than: header, in: records, except: changes.sealed)
            digest = try self.digest(of: records, keys).digest
            header.format = VaultHeader.currentFormat
        }
        return try put(header, digest, accountsVersion: version, provedBy: keys, in: records)
    }

    /// Takes the records that are in the store as those of the vault.
    ///
    /// Changes nothing when they are, and `outside` is not later than the header's epoch.
    /// - Parameter outside: The epoch that the rollback protector has.
    /// - Throws: ``StoreError`` when the store fails.
    func acceptRecords(since outside: UInt64 = 0) throws(StoreError) {
        let written = try store.write { (records: any RecordWriter) throws(StoreError) -> StoredHeader? in
            var (header, keys) = try current(in: records)
            let found = try digest(of: records, keys).digest
            let summary = header.records
            if let summary, outside <= header.epoch, digest(in: summary, keys) == found { return nil }
            header.format = VaultHeader.currentFormat
            header.epoch = max(header.epoch, outside) + 1
            return try put(
                header, found, accountsVersion: (summary?.accountsVersion ?? 0) + 1, provedBy: keys, in: records)
        }
        if let written { try adopt(written) }
        markVerified()
    }
}

/// The changes of a transaction on which the header depends.
struct VaultChanges {
    /// The difference between the digests of the records after and before the transaction.
    var digest = RecordDigest()
    /// The beginnings of the records that were sealed, by their hidden names.
    var sealed: [RecordKey: KnownRecord] = [:]
    /// True when the transaction wrote or removed an account, or added or removed a mechanism.
    var changesAccounts = false
    /// True when the transaction replaced a record that did not open, or a mechanism that may not be the last one written.
    var isSuspect = false
}

/// A store that can find damage below its records, for example in the pages of its file.
protocol SelfCheckingStore: RecordStore {
    /// Checks the whole store.
    /// - Throws: ``StoreError/Code/corrupt`` when it is damaged.
    func checkIntegrity() throws(StoreError)
}
