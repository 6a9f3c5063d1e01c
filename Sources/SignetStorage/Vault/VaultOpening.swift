import SignetCore

extension Vault {
    /// Opens the vault in `store` with the first key protector that unwraps its key.
    ///
    /// Each key protector is tried for each slot that has its name. If one fails, the next one is tried. If the user cancels, the
    /// call fails at once.
    /// - Parameters:
    ///   - store: The store that holds the vault.
    ///   - protectors: The key protectors to try, in this order.
    ///   - acceptingRollback: Pass true to accept an older copy of the store, or the records that are there, after the user has
    ///     restored a backup on purpose. The epoch then continues from the highest one that the rollback protector has.
    /// - Returns: The open vault. Its ``openedBy`` is the slot that opened it.
    /// - Throws: ``StoreError/Code/noVault``, ``StoreError/Code/keyUnavailable`` with every reason, ``StoreError/Code/cancelled``,
    ///   ``StoreError/Code/keyMismatch``, ``StoreError/Code/rolledBack``, ``StoreError/Code/newerFormat``,
    ///   ``StoreError/Code/corrupt``. Nothing is changed then.
    public static func open(
        _ store: any RecordStore, protectors: [any KeyProtector], acceptingRollback: Bool = false
    ) throws(StoreError) -> Vault {
        let vault = try openUnverified(store, protectors: protectors, acceptingRollback: acceptingRollback)
        if acceptingRollback {
            try vault.acceptRecords()
        } else if vault.header.records?.count ?? 0 <= recordsVerifiedAtOpen {
            try vault.verifyDigest()
        }
        return vault
    }

    /// Opens the vault like ``open(_:protectors:acceptingRollback:)``, and does not verify its records.
    static func openUnverified(
        _ store: any RecordStore, protectors: [any KeyProtector], acceptingRollback: Bool = false
    ) throws(StoreError) -> Vault {
        let bytes = try headerBytes(of: store)
        let header = try header(from: bytes)
        let (slot, protector, dataKey) = try unwrap(header, protectors)
        let keys = try VaultKeys(dataKey: dataKey, header: header)
        let rollbackProtector = protector as? any RollbackProtector
        let vault = Vault(
            store: store, state: VaultState(keys: keys, stored: StoredHeader(verified: header, bytes: bytes)), openedBy: slot,
            rollbackProtector: rollbackProtector)
        if let rollbackProtector { try vault.check(rollbackProtector, acceptingRollback: acceptingRollback) }
        return vault
    }

    /// Opens the vault like ``open(_:protectors:acceptingRollback:)``, on a thread of its own.
    ///
    /// A TPM operation takes a second and a keyring may ask the user; meanwhile the other tasks of the app keep their threads.
    public static func unlock(
        _ store: any RecordStore, protectors: [any KeyProtector], acceptingRollback: Bool = false
    ) async throws(StoreError) -> Vault {
        try await Blocking.run { () throws(StoreError) in
            try open(store, protectors: protectors, acceptingRollback: acceptingRollback)
        }
    }

    /// Returns the header of the vault in `store` without opening the vault.
    ///
    /// The header is not authenticated.
    public static func header(of store: any RecordStore) throws(StoreError) -> VaultHeader {
        try header(from: headerBytes(of: store))
    }

    private static func headerBytes(of store: any RecordStore) throws(StoreError) -> [UInt8] {
        let found = try store.read { (records: any RecordReader) throws(StoreError) in try records.record(.vaultHeader) }
        guard let found else { throw StoreError(.noVault, "open vault", "the store holds no vault") }
        return found
    }

    static func header(from bytes: [UInt8]) throws(StoreError) -> VaultHeader {
        guard let json = try? JSON.value(of: bytes), let format = json["format"]?.lenientInteger else {
            throw StoreError(.corrupt, "open vault", "the header is damaged")
        }
        guard format <= VaultHeader.currentFormat else {
            throw StoreError(
                .newerFormat, "open vault",
                "format \(format) was written by a newer version; this one knows \(VaultHeader.currentFormat)")
        }
        guard let header = try? JSON.decode(VaultHeader.self, from: bytes) else {
            throw StoreError(.corrupt, "open vault", "the header is damaged")
        }
        return header
    }

    private static func unwrap(
        _ header: VaultHeader, _ protectors: [any KeyProtector]
    ) throws(StoreError) -> (VaultHeader.Slot, any KeyProtector, Secret) {
        var failures: [StoreError] = []
        for protector in protectors {
            for slot in header.slots where slot.protector == protector.name {
                do {
                    let context = header.context(protector: protector.name)
                    return (slot, protector, try protector.unwrap(slot.wrapped, context: context))
                } catch {
                    if error.code == .cancelled { throw error }
                    failures.append(error)
                }
            }
        }
        if failures.count == 1 { throw failures[0] }
        guard failures.isEmpty else {
            let isMismatch = failures.allSatisfy { $0.code == .keyMismatch }
            throw StoreError(
                isMismatch ? .keyMismatch : .keyUnavailable, "open vault", failures.map(\.reason).joined(separator: "; "))
        }
        let names = header.slots.map(\.protector).joined(separator: ", ")
        throw StoreError(
            .keyUnavailable, "open vault",
            "the vault is sealed by \(names), and none of these works here; the vault was not changed")
    }

    private func check(_ rollbackProtector: any RollbackProtector, acceptingRollback: Bool) throws(StoreError) {
        let (outside, header) = try epochs(rollbackProtector)
        guard let outside, outside > header.epoch else {
            // The rollback protector has a smaller epoch or none: the last writer was interrupted before it sent its epoch, or is
            // about to send it.
            if outside != header.epoch { try advance(rollbackProtector, to: header) }
            return
        }
        guard acceptingRollback else {
            throw StoreError(
                .rolledBack, "open vault",
                "it is an older copy of this vault (epoch \(header.epoch), the last was \(outside)); "
                    + "codes of counters in it may have been used. If you restored a backup on purpose, accept the older copy")
        }
        try acceptRecords(since: outside)
    }
}
