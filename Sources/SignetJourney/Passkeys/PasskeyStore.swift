import SignetCore
public import SignetStorage

/// The passkeys in a vault, for a list from which the user removes some.
public struct PasskeyStore: Sendable {
    private let keychain: VaultProvider

    /// Creates a view of the passkeys in a vault.
    /// - Parameter vault: The vault. Stores that don't seal their records aren't accepted.
    public init(_ vault: Vault) {
        self.init(VaultProvider { () throws(StoreError) in vault })
    }

    init(_ keychain: VaultProvider) {
        self.keychain = keychain
    }

    /// An entry of the list of passkeys.
    public struct Entry: Sendable {
        /// The credential ID.
        public let id: [UInt8]
        /// The ID of the relying party.
        public let relyingPartyID: String
        /// The passkey, or the error of a damaged record.
        public let passkey: Result<Passkey, StoreError>
    }

    /// Returns all passkeys, the oldest first.
    /// - Returns: The passkeys, also the damaged ones.
    /// - Throws: `StoreError` when the list of passkeys is damaged, and the errors of the vault.
    public func entries() async throws(StoreError) -> [Entry] {
        try await keychain.read { (records) throws(StoreError) in
            var entries: [Entry] = []
            for entry in try PasskeyRecords.entries(in: records) {
                let passkey = Result { () throws(StoreError) in try PasskeyRecords.passkey(entry, in: records).passkey }
                entries.append(Entry(id: entry.id, relyingPartyID: entry.relyingPartyID, passkey: passkey))
            }
            return entries
        }
    }

    /// Removes a passkey, also a damaged one.
    ///
    /// The server still knows its public key: remove it there too.
    /// - Parameter id: The credential ID.
    /// - Returns: True when the vault had the passkey.
    /// - Throws: `StoreError`.
    @discardableResult
    public func remove(_ id: [UInt8]) async throws(StoreError) -> Bool {
        try await keychain.write { (records) throws(StoreError) in try PasskeyRecords.remove(id, in: records) }
    }
}
