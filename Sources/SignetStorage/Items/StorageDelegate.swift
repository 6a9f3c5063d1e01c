import SignetCore

/// A storage that wraps another one.
///
/// It passes calls on one at a time, in the order in which they came, and can keep the item in memory.
///
/// Subclass it to give your own storage a descriptive initializer, or override a method to extend it:
///
///     class SettingsStorage<T: Codable>: StorageDelegate<T> {
///         init(cacheable: Bool = false) { super.init(delegate: SettingsFile<T>(), cacheable: cacheable) }
///     }
///
/// Guarantees:
/// - The cache only ever holds the last item that the wrapped storage returned. A save or a delete empties it first. It therefore
///   stays empty after a save or delete that failed or was interrupted, and the next `get` reads the storage.
/// - A missing item is not cached: the next `get` reads the storage again.
/// - A call whose task was canceled is still executed, unless the wrapped storage stops. For example, a logout is completed
///   although the window was closed.
/// - Two delegates with the same storage are independent. Without a cache, each sees every change. With a cache, each sees the
///   changes of the other one after its own next save or delete.
///
/// The wrapped storage and its encryptor must not call this delegate, because such a call would wait for itself. Prefer value
/// types for items: an object is cached by reference, so that changes to it change the result of `get`.
open class StorageDelegate<T: Codable>: Storage {
    private let delegate: any Storage<T>
    private let cacheStrategy: CacheStrategy
    private let lock = AsyncLock()
    // Protected by `lock`.
    private var cached: T?

    /// Creates a delegate that takes over `delegate`.
    ///
    /// Other code must not use `delegate` afterwards.
    /// - Parameters:
    ///   - delegate: The storage that keeps the item.
    ///   - cacheable: Pass true to keep the item in memory too, in plain text.
    public init(delegate: sending any Storage<T>, cacheable: Bool = false) {
        self.delegate = delegate
        cacheStrategy = cacheable ? .cache : .noCache
    }

    /// Creates a delegate that takes over `delegate`.
    ///
    /// Other code must not use `delegate` afterwards.
    /// - Parameters:
    ///   - delegate: The storage that keeps the item.
    ///   - cacheStrategy: The choice to keep the item in memory too, in plain text.
    public init(delegate: sending any Storage<T>, cacheStrategy: CacheStrategy) {
        self.delegate = delegate
        self.cacheStrategy = cacheStrategy
    }

    /// Stores `item`.
    /// - Throws: The error of the wrapped storage. Call ``get()`` to find out which item is stored then.
    open func save(item: sending T) async throws {
        await lock.lock()
        defer { lock.unlock() }
        cached = nil
        try await delegate.save(item: item)
    }

    /// Returns the item, from memory if it is cached, or nil if the storage is empty.
    /// - Throws: The error of the wrapped storage. An error is never replaced by a cached item or by nil.
    open func get() async throws -> T? {
        await lock.lock()
        defer { lock.unlock() }
        if let cached { return cached }
        let item = try await delegate.get()
        if cacheStrategy == .cache { cached = item }
        return item
    }

    /// Removes the item.
    ///
    /// Does nothing if it does not exist.
    /// - Throws: The error of the wrapped storage. Call ``get()`` to find out if the item is still stored then.
    open func delete() async throws {
        await lock.lock()
        defer { lock.unlock() }
        cached = nil
        try await delegate.delete()
    }
}
