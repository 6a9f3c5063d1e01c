import SignetCore

extension Vault {
    /// Adds a slot in which `protector` wraps the data key.
    ///
    /// From then on, this key protector can open the vault too.
    public func addSlot(_ protector: any KeyProtector) throws(StoreError) -> VaultHeader.Slot {
        try changeSlots { (header, dataKey) throws(StoreError) in try header.addSlot(protector, dataKey: dataKey) }
    }

    /// Removes a slot.
    ///
    /// The data key stays the same, and an attacker with a copy of it does not need the slot; see ``rotateKey(_:)``.
    /// - Throws: ``StoreError/Code/invalid`` for the last slot, without which the vault could not be opened, and for a slot that
    ///   does not exist.
    public func removeSlot(_ number: Int) throws(StoreError) {
        try changeSlots { (header, _) throws(StoreError) in
            guard let index = header.slots.firstIndex(where: { $0.number == number }) else {
                throw StoreError(.invalid, "remove slot", "the vault has no slot \(number)")
            }
            guard header.slots.count > 1 else {
                throw StoreError(.invalid, "remove slot", "the vault has no other slot; add another first")
            }
            header.slots.remove(at: index)
        }
    }

    /// Replaces a slot with one in which `protector` wraps the data key, for example with a new passphrase.
    ///
    /// The new slot gets a new number.
    /// - Throws: ``StoreError/Code/invalid`` for a slot that does not exist.
    public func replaceSlot(_ number: Int, with protector: any KeyProtector) throws(StoreError) -> VaultHeader.Slot {
        try changeSlots { (header, dataKey) throws(StoreError) in
            guard header.slots.contains(where: { $0.number == number }) else {
                throw StoreError(.invalid, "replace slot", "the vault has no slot \(number)")
            }
            let slot = try header.addSlot(protector, dataKey: dataKey)
            header.slots.removeAll { $0.number == number }
            return slot
        }
    }

    /// Records in the header that a backup of the whole vault was made.
    /// - Parameter seconds: The time of the backup, in seconds since 1970.
    /// - Throws: ``StoreError`` when the header cannot be written, or the rollback protector cannot store its epoch.
    public func recordBackup(at seconds: Int) throws(StoreError) {
        try changeHeader { (header, _) in header.lastBackup = seconds }
    }

    private func changeSlots<R>(
        _ change: (inout VaultHeader, _ dataKey: Secret) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try changeHeader { (header, keys) throws(StoreError) in try change(&header, keys.dataKey) }
    }

    /// Changes the header and starts a new epoch in one transaction.
    func changeHeader<R>(
        _ change: (inout VaultHeader, VaultKeys) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let (value, written) = try store.write { (records: any RecordWriter) throws(StoreError) in
            var (header, keys) = try current(in: records)
            let value = try change(&header, keys)
            header.epoch += 1
            return (value, try put(header, provedBy: keys, after: VaultChanges(), in: records))
        }
        try adopt(written)
        return value
    }
}

extension VaultHeader {
    /// Wraps the data key with a key protector and adds a slot with the result.
    mutating func addSlot(
        _ protector: any KeyProtector, dataKey: Secret, number: Int? = nil
    ) throws(StoreError) -> Slot {
        let wrapped = try protector.wrap(dataKey, context: context(protector: protector.name))
        let number = number ?? (slots.map(\.number).max() ?? 0) + 1
        let slot = Slot(number: number, protector: protector.name, wrapped: wrapped)
        slots.append(slot)
        return slot
    }
}
