import Foundation
import SignetCore

/// Keeps an item in the memory of the process, for data that must not outlive it. Each instance has its own item.
///
/// Without an encryptor, an attacker with a memory dump can read the item. With an encryptor and without a cache, the attacker
/// also needs the key.
public actor MemoryStorage<T: Codable & Sendable>: Storage {
    /// The name that the app gave the storage.
    ///
    /// Two storages with the same name do not share an item.
    public nonisolated let account: String

    private let item: StorageDelegate<T>

    /// Creates an empty storage.
    /// - Parameters:
    ///   - account: A name for the app's own use.
    ///   - encryptor: Seals the bytes while they are stored.
    ///   - cacheable: Pass true to keep the item itself too, which saves opening and decoding it at each ``get()``.
    public init(account: String = "", encryptor: any Encryptor = NoEncryptor(), cacheable: Bool = false) {
        self.init(account: account, encryptor: encryptor, cacheStrategy: cacheable ? .cache : .noCache)
    }

    /// Creates an empty storage.
    /// - Parameters:
    ///   - account: A name for the app's own use.
    ///   - encryptor: Seals the bytes while they are stored.
    ///   - cacheStrategy: The choice to keep the item itself too.
    public init(account: String = "", encryptor: any Encryptor = NoEncryptor(), cacheStrategy: CacheStrategy) {
        self.account = account
        item = StorageDelegate(
            delegate: EncryptedStorage(storage: MemorySlot<Data>(), encryptor: encryptor), cacheStrategy: cacheStrategy)
    }

    /// Stores `item` in place of the old item.
    /// - Throws: ``StoreError/Code/invalid`` when JSON cannot express it; the error of the encryptor.
    public func save(item: T) async throws {
        try await self.item.save(item: item)
    }

    /// Returns the item, or nil if the storage is empty.
    /// - Throws: The error of the encryptor.
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

/// A storage in memory.
///
/// It keeps the item without encoding it, so its secrets stay in `Secret` values.
package final class MemorySlot<T: Codable & Sendable>: Storage, Sendable {
    private let item = Mutex<T?>(nil)

    package init() {}
    package func save(item: T) { self.item.withLock { $0 = item } }
    package func get() -> T? { item.withLock { $0 } }
    package func delete() { item.withLock { $0 = nil } }
}
