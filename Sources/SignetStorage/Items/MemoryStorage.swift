import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps an item in the memory of the process, for what must not outlive it. Each instance has an item of its own.
///
/// Without an encryptor the item can be read in a dump of the memory; with one, as long as it is not cached, only by who also
/// finds the key.
public actor MemoryStorage<T: Codable & Sendable>: Storage {
    /// What the app calls it. Two storages of one name are two storages.
    public nonisolated let account: String

    private let item: StorageDelegate<T>

    /// An empty storage.
    /// - Parameters:
    ///   - account: What the app calls it.
    ///   - encryptor: Seals the bytes while nobody uses them.
    ///   - cacheable: Whether to keep the item itself too, which saves opening and decoding it at each ``get()``.
    public init(account: String = "", encryptor: any Encryptor = NoEncryptor(), cacheable: Bool = false) {
        self.init(account: account, encryptor: encryptor, cacheStrategy: cacheable ? .cache : .noCache)
    }

    /// An empty storage.
    /// - Parameters:
    ///   - account: What the app calls it.
    ///   - encryptor: Seals the bytes while nobody uses them.
    ///   - cacheStrategy: Whether to keep the item itself too.
    public init(account: String = "", encryptor: any Encryptor = NoEncryptor(), cacheStrategy: CacheStrategy) {
        self.account = account
        item = StorageDelegate(
            delegate: SealedItem(slot: MemorySlot(), encryptor: encryptor), cacheStrategy: cacheStrategy)
    }

    /// Stores `item` in place of what was there.
    /// - Throws: ``StoreError/Code/invalid`` when JSON cannot express it; what the encryptor throws.
    public func save(item: T) async throws {
        try await self.item.save(item: item)
    }

    /// The item; nil when there is none.
    /// - Throws: what the encryptor throws.
    public func get() async throws -> T? {
        try await item.get()
    }

    /// Removes the item. It is no error when there is none.
    public func delete() async throws {
        try await item.delete()
    }
}

/// Bytes in memory.
private final class MemorySlot: ItemSlot {
    private let bytes = Mutex<Data?>(nil)

    func contents() -> Data? { bytes.withLock { $0 } }
    func replace(with bytes: Data) { self.bytes.withLock { $0 = bytes } }
    func clear() { bytes.withLock { $0 = nil } }
}
