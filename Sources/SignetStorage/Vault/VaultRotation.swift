extension Vault {
    /// Creates a new data key and seals every record with it, in one transaction.
    ///
    /// An interruption leaves either the old vault or the new one. Records that do not open are moved to
    /// ``RecordKind/quarantined``.
    ///
    /// The rotation needs the key protector of every slot, because a slot with the old key would no longer open the vault. First
    /// remove a slot whose key protector cannot be used any more.
    /// - Parameter protector: Returns the key protector for a slot.
    /// - Throws: The errors of the key protectors and of the store; ``StoreError/Code/busy`` when another process changed the
    ///   slots meanwhile; ``StoreError/Code/rolledBack`` when the records are not those that were written last.
    public func rotateKey(
        _ protector: (VaultHeader.Slot) throws(StoreError) -> any KeyProtector
    ) throws(StoreError) {
        let epoch = self.header.epoch
        let old = try store.read { (records: any RecordReader) throws(StoreError) in try current(in: records, since: epoch) }
        let (keys, draft) = try VaultKeys.make(vault: old.0.id, replacing: old.1)
        var header = draft
        for slot in old.0.slots {
            let protector = try protector(slot)
            // A key protector that cannot open the old slot, for example because of a mistyped passphrase, would lock the user
            // out of the new vault.
            let known = try protector.unwrap(slot.wrapped, context: old.0.context(protector: protector.name))
            guard protector.name == slot.protector, known == old.1.dataKey else {
                throw StoreError(.keyMismatch, "rotate key", "slot \(slot.number) belongs to another \(slot.protector)")
            }
            _ = try header.addSlot(protector, dataKey: keys.dataKey, number: slot.number)
        }
        learn(keys)
        let written = try store.write { (records: any RecordWriter) throws(StoreError) in
            let now = try current(in: records).0
            guard now.slots == old.0.slots, now.keyID == old.0.keyID else {
                throw StoreError(.busy, "rotate key", "another process changed the vault's slots; nothing was changed")
            }
            // The new header vouches for the records, so they must be those of the old one.
            if let summary = now.records {
                try verify(digest(in: summary, old.1), old.1, in: records)
            } else {
                try refuseNewerRecords(than: now, in: records)
            }
            let (after, seals) = try reseal(from: old.1, to: keys, in: records)
            header.epoch = now.epoch + 1
            header.lastBackup = now.lastBackup
            header.seals = seals
            return try put(
                header, after, accountsVersion: now.records?.accountsVersion ?? 0, provedBy: keys, in: records)
        }
        try adopt(written)
    }

    /// Seals all records again with the new keys.
    ///
    /// Returns the digest of the records with the new keys, and the number of records that were sealed.
    private func reseal(
        from old: VaultKeys, to new: VaultKeys, in records: any RecordWriter
    ) throws(StoreError) -> (digest: RecordDigest, seals: UInt64) {
        var (after, seals) = (RecordDigest(), UInt64(0))
        try records.forEachRecord(of: .quarantined) { (record) throws(StoreError) in
            let (name, bytes) = (RecordKey(.quarantined, name: record.name), try record.content.get())
            after += new.digest(of: bytes, name)
        }
        let kept = DigestedWriter(records: records, keys: new)
        for kind in RecordKind.allCases where kind != .vault && kind != .quarantined {
            try records.forEachRecord(of: kind) { (record) throws(StoreError) in
                let (hidden, sealed) = (RecordKey(kind, name: record.name), try record.content.get())
                if let bytes = try? old.open(sealed, hidden) {
                    let resealed = try new.seal(bytes, hidden)
                    try records.put(resealed, hidden)
                    after += new.digest(of: resealed, hidden)
                    seals += 1
                } else {
                    try Quarantine.keep(sealed, of: hidden, in: kept)
                    try records.remove(hidden)
                }
            }
        }
        after += kept.change
        return (after, seals)
    }
}

/// A record of a vault that does not open.
public struct DamagedRecord: Sendable, Hashable {
    /// The kind of the record.
    public let kind: RecordKind
    /// The reason why it does not open.
    public let error: StoreError

    /// Creates a value for a record that a reader could not open or decode.
    public init(kind: RecordKind, error: StoreError) {
        self.kind = kind
        self.error = error
    }
}

extension Vault {
    /// Returns every record that does not open.
    ///
    /// Does not change anything.
    public func damagedRecords() throws(StoreError) -> [DamagedRecord] {
        try read { (records: any RecordReader) throws(StoreError) in
            var damaged: [DamagedRecord] = []
            for kind in RecordKind.allCases where kind != .vault && kind != .quarantined {
                try records.forEachRecord(of: kind) { record in
                    if case .failure(let error) = record.content { damaged.append(DamagedRecord(kind: kind, error: error)) }
                }
            }
            return damaged
        }
    }

    /// Removes the vault and everything in it from `store`, even if it cannot be opened.
    ///
    /// This cannot be undone.
    /// - Parameters:
    ///   - store: The store that holds the vault.
    ///   - id: The ID of the vault, which protects against removing the wrong one; nil for a vault whose header is damaged.
    /// - Throws: ``StoreError/Code/failed`` when `id` is not the ID of the vault; nothing is removed then.
    public static func reset(_ store: any RecordStore, confirming id: String?) throws(StoreError) {
        guard (try? header(of: store).id) == id else {
            throw StoreError(.failed, "reset vault", "the vault has another id; nothing was removed")
        }
        try store.write { (records: any RecordWriter) throws(StoreError) in
            for kind in RecordKind.allCases {
                var names: [[UInt8]] = []
                try records.forEachRecord(of: kind) { names.append($0.name) }
                for name in names { try records.remove(RecordKey(kind, name: name)) }
            }
        }
    }
}
