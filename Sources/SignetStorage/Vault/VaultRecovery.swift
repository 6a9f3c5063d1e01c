public import SignetCore

extension Vault {
    /// Adds a slot with a new recovery key, and returns the key.
    ///
    /// The user writes it down or prints it, and keeps it apart from the machine. It opens the vault wherever a passphrase does,
    /// for example after the TPM or the keyring is lost. It consists of 160 random bits and is not stored.
    ///
    ///     let key = try vault.addRecoveryKey()
    ///     key.withUnsafeBytes { show(String(decoding: $0, as: UTF8.self)) }
    ///
    /// Each call adds another slot; earlier recovery keys stay valid until ``removeSlot(_:)``.
    /// - Returns: The recovery key as ASCII text: eight groups of four characters, with a hyphen between two groups.
    /// - Throws: The errors of ``addSlot(_:)``.
    public func addRecoveryKey() throws(StoreError) -> Secret {
        let key = Self.recoveryKey()
        _ = try addSlot(PassphraseProtector { () throws(StoreError) in key })
        return key
    }

    /// Returns a new recovery key.
    ///
    /// Base32 has neither 0 nor 1, which a reader could confuse with O and I.
    private static func recoveryKey() -> Secret {
        let text = Array(Base32.encode(Secret.random(byteCount: 20).bytes).lowercased().utf8)
        let groups = stride(from: 0, to: text.count, by: 4).map { text[$0..<min($0 + 4, text.count)] }
        return Secret(groups.joined(separator: [UInt8(ascii: "-")]))
    }
}

extension VaultProvider {
    /// Adds a recovery key to the vault and returns it; see ``Vault/addRecoveryKey()``.
    /// - Throws: ``StoreError/Code/noVault`` when nothing was stored yet, and the vault does not exist; the errors of
    ///   ``Vault/addRecoveryKey()``.
    public func addRecoveryKey() async throws(StoreError) -> Secret {
        let store = try await store()
        return try await Blocking.run { () throws(StoreError) in
            guard let vault = try Self.vault(in: store) else {
                throw StoreError(.noVault, "add recovery key", "there is no vault yet: store an item first")
            }
            return try vault.addRecoveryKey()
        }
    }

    /// Returns the protection of the vault's key; nil when nothing was stored yet, or the store is not a vault.
    public func protection() async throws(StoreError) -> VaultProtection? {
        let store = try await store()
        return try await Blocking.run { () throws(StoreError) in try Self.vault(in: store)?.protection }
    }

    private static func vault(in store: any RecordStore) throws(StoreError) -> Vault? {
        switch store {
        case let store as FirstUseStore: try store.opened()
        case let store as CheckedVault: try store.opened()
        default: nil
        }
    }
}
