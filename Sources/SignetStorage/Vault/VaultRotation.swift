import SignetCore

extension Vault {
    /// Makes a new data key and seals every record with it, in one transaction: who is interrupted has the old vault or the new.
    /// Records that do not open are moved to ``RecordKind/quarantined``.
    ///
    /// Every slot needs its key protector, so that none is left with a key that no longer opens anything; a slot that cannot be had
    /// any more is to be removed first.
    /// - Parameter key protector: Gives the key protector of a slot.
    /// - Throws: what a key protector or the store throws; ``StoreError/Code/busy`` when somebody else changed the slots meanwhile.
    public func rotateKey(
        _ protector: (VaultHeader.Slot) throws(StoreError) -> any KeyProtector
    ) throws(StoreError) {
        let old = try store.read { (records: any RecordReader) throws(StoreError) in try current(in: records) }
        let (keys, draft) = try VaultKeys.make(vault: old.0.id, replacing: old.1)
        var header = draft
        for slot in old.0.slots {
            let protector = try protector(slot)
            // Who cannot open the old slot, for one because of a slip in a passphrase, would lock everybody out of the new.
            let known = try protector.unwrap(slot.wrapped, context: old.0.context(protector: protector.name))
            guard protector.name == slot.protector, known == old.1.dataKey else {
                throw StoreError(.keyMismatch, "rotate key", "slot \(slot.number) belongs to another \(slot.protector)")
            }
            _ = try header.addSlot(protector, dataKey: keys.dataKey, number: slot.number)
        }
        learn(keys)
        let told = try store.write { (records: any RecordWriter) throws(StoreError) in
            let now = try current(in: records).0
            guard now.slots == old.0.slots, now.keyID == old.0.keyID else {
                throw StoreError(.busy, "rotate key", "somebody else changed the vault's slots; nothing was changed")
            }
            header.epoch = now.epoch + 1
            header.lastBackup = now.lastBackup
            for kind in RecordKind.allCases where kind != .vault && kind != .quarantined {
                header.seals += try reseal(kind, from: old.1, to: keys, in: records)
            }
            return try put(header, provedBy: keys, in: records)
        }
        try tell(told)
    }

    /// Returns how many records were sealed.
    private func reseal(
        _ kind: RecordKind, from old: VaultKeys, to new: VaultKeys, in records: any RecordWriter
    ) throws(StoreError) -> UInt64 {
        var count: UInt64 = 0
        try records.forEachRecord(of: kind) { (record) throws(StoreError) in
            let hidden = RecordKey(kind, name: record.name)
            let sealed = try record.content.get()
            if let bytes = try? old.open(sealed, hidden) {
                try records.put(new.seal(bytes, hidden), hidden)
                count += 1
            } else {
                try Quarantine.keep(sealed, of: hidden, in: records)
                try records.remove(hidden)
            }
        }
        return count
    }
}

/// A record of a vault that does not open.
public struct DamagedRecord: Sendable, Hashable {
    /// What it should be.
    public let kind: RecordKind
    /// Why it does not open.
    public let error: StoreError

    /// A record that a reader could not make sense of.
    public init(kind: RecordKind, error: StoreError) {
        self.kind = kind
        self.error = error
    }
}

extension Vault {
    /// Every record that stands in its place and does not open. Looking changes nothing.
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

    /// Removes the vault and everything in it from `store`, openable or not. There is no way back.
    /// - Parameters:
    ///   - store: Where the vault is.
    ///   - id: The vault's id, so that nobody removes another vault than the one he means; nil for one whose header is
    ///     damaged.
    /// - Throws: ``StoreError/Code/failed`` when `id` is not the vault's; nothing is removed then.
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
