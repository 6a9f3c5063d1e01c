import Foundation

/// Keeps an item under a name in a keychain. In the default keychain, the item is a record in the user's vault.
///
///     let storage = KeychainStorage<Session>(account: "com.example.app.session")
///     try await storage.save(item: session)
///
/// Two storages with the same account in the same keychain share one item. All programs of the user share the default keychain,
/// so begin the account with a prefix that belongs to your app.
///
/// Every method throws ``StoreError`` or the error of the encryptor. Common codes are ``StoreError/Code/keyUnavailable`` and
/// ``StoreError/Code/keyMismatch`` when it cannot be opened, ``StoreError/Code/corrupt`` when the record is not what was written,
/// and ``StoreError/Code/invalid`` when the account is empty. None of these errors changes what is stored.
public actor KeychainStorage<T: Codable & Sendable>: Storage {
    private let item: StorageDelegate<T>

    /// Creates a storage for the item with the name `account`.
    ///
    /// The keychain is opened at the first use.
    /// - Parameters:
    ///   - account: The name of the item; not empty.
    ///   - encryptor: Seals the item before the keychain does. The vault seals its records in any case, so the default seals
    ///     nothing.
    ///   - cacheable: Pass true to keep the item in memory too, in plain text.
    ///   - keychain: The keychain that holds the item.
    public init(
        account: String, encryptor: any Encryptor = NoEncryptor(), cacheable: Bool = false, in keychain: VaultProvider = .default
    ) {
        self.init(account: account, encryptor: encryptor, cacheStrategy: cacheable ? .cache : .noCache, in: keychain)
    }

    /// Creates a storage for the item with the name `account`.
    ///
    /// The keychain is opened at the first use.
    /// - Parameters:
    ///   - account: The name of the item; not empty.
    ///   - encryptor: Seals the item before the keychain does.
    ///   - cacheStrategy: The choice to keep the item in memory too, in plain text.
    ///   - keychain: The keychain that holds the item.
    public init(
        account: String, encryptor: any Encryptor = NoEncryptor(), cacheStrategy: CacheStrategy,
        in keychain: VaultProvider = .default
    ) {
        let slot = KeychainSlot(keychain: keychain, account: account)
        item = StorageDelegate(delegate: EncryptedStorage(storage: slot, encryptor: encryptor), cacheStrategy: cacheStrategy)
    }

    /// Stores `item` in place of the old item, in one step.
    ///
    /// The item is durable when this returns.
    /// - Throws: ``StoreError/Code/invalid`` also when JSON cannot express the item.
    public func save(item: T) async throws {
        try await self.item.save(item: item)
    }

    /// Returns the item, or nil if the keychain does not contain it.
    /// - Throws: ``StoreError/Code/typeMismatch`` when the stored item does not decode as a `T`.
    public func get() async throws -> T? {
        try await item.get()
    }

    /// Removes the item.
    ///
    /// Does nothing if it does not exist.
    public func delete() async throws {
        try await item.delete()
    }
}

/// The record of an item in a keychain.
struct KeychainSlot: Storage {
    let keychain: VaultProvider
    let account: String

    func get() async throws(StoreError) -> Data? {
        let key = try Self.key(account)
        return try await keychain.read { (records) throws(StoreError) in try records.record(key).map { Data($0) } }
    }

    func save(item bytes: Data) async throws(StoreError) {
        let key = try Self.key(account)
        try await keychain.write { (records) throws(StoreError) in try records.put(Array(bytes), key) }
    }

    func delete() async throws(StoreError) {
        let key = try Self.key(account)
        try await keychain.write { (records) throws(StoreError) in try records.remove(key) }
    }

    /// Returns the key of the item with the name `account`.
    /// - Throws: ``StoreError/Code/invalid`` when the account is empty.
    static func key(_ account: String) throws(StoreError) -> RecordKey {
        guard !account.isEmpty else {
            throw StoreError(.invalid, "find an item", "its account is empty: give each item of the keychain a name")
        }
        return RecordKey(.item, account)
    }
}
