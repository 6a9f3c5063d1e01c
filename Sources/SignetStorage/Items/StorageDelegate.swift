import SignetCore

/// A storage in front of another one. It lets one call at a time through to it, in the order in which they came, and keeps
/// the item in memory when asked to.
///
/// Subclass it to give a storage of your own an initializer that says what it is, or override a method to add to what it does:
///
///     class SettingsStorage<T: Codable>: StorageDelegate<T> {
///         init(cacheable: Bool = false) { super.init(delegate: SettingsFile<T>(), cacheable: cacheable) }
///     }
///
/// What holds:
/// - The cache is only ever what the storage behind answered last. A save or a delete empties it before it begins, so it is
///   empty too after one that failed, or that ended in the middle; the next `get` asks the storage.
/// - What is absent is not remembered: the next `get` asks again.
/// - A call whose task was cancelled is carried out all the same when its turn comes, unless the storage behind gives up: who
///   logs out and closes the window is logged out.
/// - Two delegates over one storage do not know of each other. Without a cache both see every change. With one, each sees the
///   other's changes after its own next save or delete.
///
/// The storage behind, and its encryptor, must not call this delegate: they would wait for their own turn to end. An item that
/// is an object is cached as that object: change it, and what `get` answers has changed; prefer values.
open class StorageDelegate<T: Codable>: Storage {
    private let delegate: any Storage<T>
    private let cacheStrategy: CacheStrategy
    private let lock = AsyncLock()
    // Read and written only while the lock is held.
    private var cached: T?

    /// A delegate that takes over `delegate`: nobody else is to use it from now on.
    /// - Parameters:
    ///   - delegate: Where the item is kept.
    ///   - cacheable: Whether to keep the item in memory, in plain text.
    public init(delegate: sending any Storage<T>, cacheable: Bool = false) {
        self.delegate = delegate
        cacheStrategy = cacheable ? .cache : .noCache
    }

    /// A delegate that takes over `delegate`: nobody else is to use it from now on.
    public init(delegate: sending any Storage<T>, cacheStrategy: CacheStrategy) {
        self.delegate = delegate
        self.cacheStrategy = cacheStrategy
    }

    /// Stores `item`.
    /// - Throws: what the storage behind throws. Which item is there then, the next ``get()`` finds out.
    open func save(item: sending T) async throws {
        await lock.lock()
        defer { lock.unlock() }
        cached = nil
        try await delegate.save(item: item)
    }

    /// The item, from memory if it is there; nil when there is none.
    /// - Throws: what the storage behind throws. An error is never answered from memory, and never as nil.
    open func get() async throws -> T? {
        await lock.lock()
        defer { lock.unlock() }
        if let cached { return cached }
        let item = try await delegate.get()
        if cacheStrategy == .cache { cached = item }
        return item
    }

    /// Removes the item. It is no error when there is none.
    /// - Throws: what the storage behind throws. Whether the item is still there then, the next ``get()`` finds out.
    open func delete() async throws {
        await lock.lock()
        defer { lock.unlock() }
        cached = nil
        try await delegate.delete()
    }
}
