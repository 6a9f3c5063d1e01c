/// The choice to keep a storage's item in the memory of the process too, in plain text.
public enum CacheStrategy: Sendable, Hashable, CaseIterable {
    /// Every `get` reads the storage itself.
    case noCache
    /// The first `get` reads the storage, and later calls return the item from memory. Changes that another process, or another
    /// storage at the same place, makes are not seen until this storage saves or deletes.
    case cache

    // The ForgeRock documentation and the Android SDK spell the names in capitals.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// An alias of ``noCache``, as the ForgeRock documentation spells it.
    public static let NO_CACHE = CacheStrategy.noCache
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// An alias of ``cache``, as the ForgeRock documentation spells it.
    public static let CACHE = CacheStrategy.cache
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Unavailable.
    ///
    /// With it, `get` would return an item that was never stored and that is lost when the process ends.
    @available(
        *, unavailable, message: "an item that could not be saved is an error here: catch it, and keep the item yourself"
    )
    public static var CACHE_ON_FAILURE: CacheStrategy { .cache }
}
