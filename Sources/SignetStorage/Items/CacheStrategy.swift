/// Whether a storage also keeps its item in the memory of the process, in plain text.
public enum CacheStrategy: Sendable, Hashable, CaseIterable {
    /// Every `get` asks the storage itself.
    case noCache
    /// `get` answers from memory after the first time. What another process, or another storage over the same place, writes
    /// meanwhile is not seen until this one saves or deletes.
    case cache

    // The documents and the sister SDK for Android write the names in capitals.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``noCache``, as the documents spell it.
    public static let NO_CACHE = CacheStrategy.noCache
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``cache``, in the same spelling.
    public static let CACHE = CacheStrategy.cache
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Not offered: it would answer with an item that was never stored, and is gone with the process.
    @available(
        *, unavailable, message: "an item that could not be saved is an error here: catch it, and keep the item yourself"
    )
    public static var CACHE_ON_FAILURE: CacheStrategy { .cache }
}
