#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps an item under a name in the user's keychain: on Linux a record in their vault.
///
///     let storage = KeychainStorage<Session>(account: "com.example.app.session")
///     try await storage.save(item: session)
///
/// Two storages with the same account in the same keychain are the same item. The standard keychain is shared by the user's
/// programs, so begin the account with a name that is yours.
///
/// Every method throws ``StoreError``, or what the encryptor throws: ``StoreError/Code/noVault`` when there is no vault yet
/// (``Keychain/open(_:)`` makes one), ``StoreError/Code/keyUnavailable`` and ``StoreError/Code/keyMismatch`` when it cannot be
/// opened, ``StoreError/Code/corrupt`` when the record is not what was written, ``StoreError/Code/invalid`` when the account is
/// empty. None of them changes what is stored.
public actor KeychainStorage<T: Codable & Sendable>: Storage {
    private let item: StorageDelegate<T>

    /// The item that is called `account`. Nothing is opened or read before it is needed.
    /// - Parameters:
    ///   - account: The item's name; not empty.
    ///   - encryptor: Seals the item before the keychain does. The vault seals its records in any case, so there is none
    ///     by default.
    ///   - cacheable: Whether to keep the item in memory too, in plain text.
    ///   - keychain: Where the item is.
    public init(
        account: String, encryptor: any Encryptor = NoEncryptor(), cacheable: Bool = false, in keychain: Keychain = .standard
    ) {
        self.init(account: account, encryptor: encryptor, cacheStrategy: cacheable ? .cache : .noCache, in: keychain)
    }

    /// The item that is called `account`. Nothing is opened or read before it is needed.
    /// - Parameters:
    ///   - account: The item's name; not empty.
    ///   - encryptor: Seals the item before the keychain does.
    ///   - cacheStrategy: Whether to keep the item in memory too, in plain text.
    ///   - keychain: Where the item is.
    public init(
        account: String, encryptor: any Encryptor = NoEncryptor(), cacheStrategy: CacheStrategy,
        in keychain: Keychain = .standard
    ) {
        let slot = KeychainSlot(keychain: keychain, account: account)
        item = StorageDelegate(delegate: SealedItem(slot: slot, encryptor: encryptor), cacheStrategy: cacheStrategy)
    }

    /// Stores `item` in place of what was there, in one step; it is durable when this returns.
    /// - Throws: ``StoreError/Code/invalid`` also when JSON cannot express the item.
    public func save(item: T) async throws {
        try await self.item.save(item: item)
    }

    /// The item; nil only when the keychain was asked and has none.
    /// - Throws: ``StoreError/Code/otherType`` when what is there does not decode as a `T`.
    public func get() async throws -> T? {
        try await item.get()
    }

    /// Removes the item. It is no error when there is none.
    public func delete() async throws {
        try await item.delete()
    }
}

/// The record of an item in a keychain.
private struct KeychainSlot: ItemSlot {
    let keychain: Keychain
    let account: String

    func contents() async throws(StoreError) -> Data? {
        let key = try key()
        return try await keychain.read { (records) throws(StoreError) in try records.record(key).map { Data($0) } }
    }

    func replace(with bytes: Data) async throws(StoreError) {
        let key = try key()
        try await keychain.write { (records) throws(StoreError) in try records.put(Array(bytes), key) }
    }

    func clear() async throws(StoreError) {
        let key = try key()
        try await keychain.write { (records) throws(StoreError) in try records.remove(key) }
    }

    private func key() throws(StoreError) -> RecordKey {
        guard !account.isEmpty else {
            throw StoreError(.invalid, "find an item", "its account is empty: give each item of the keychain a name")
        }
        return RecordKey(.item, account)
    }
}
