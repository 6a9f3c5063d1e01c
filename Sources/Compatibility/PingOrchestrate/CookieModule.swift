package import SignetCore
public import SignetStorage

/// A module that stores cookies of the server.
///
/// A journey sends the server's cookies back in any case. Without this module, and for cookies that ``CookieConfig/persist`` doesn't
/// name, they stay in memory.
public enum CookieModule {
    /// The module.
    public static let config: Module<CookieConfig> = Module.of(CookieConfig.init) { setup in
        let (config, context) = (setup.config, setup.context)
        setup.initialize { context.set(key: SharedContext.Keys.cookieStorage, value: config) }
    }
}

extension SharedContext.Keys {
    /// The name of the configuration of ``CookieModule``, and of the storage in the user's vault.
    public static let cookieStorage = "COOKIE_STORAGE"
}

/// The configuration of ``CookieModule``.
public final class CookieConfig: Sendable {
    private struct State {
        var persist: [String] = []
        var memory: [Cookie] = []
    }

    private let state = Mutex(State())
    /// The setting for ``cookieStorage``.
    package let stored: StorageSetting<[CustomHTTPCookie]>

    /// Creates the default configuration, whose storage is in the user's vault.
    public init() {
        stored = StorageSetting(account: SharedContext.Keys.cookieStorage, isDefault: true)
    }

    /// Creates a configuration whose storage has a name of its own in the user's vault.
    public init(account: String) {
        stored = StorageSetting(account: account, isDefault: false)
    }

    /// The names of the cookies that are stored; empty when cookies stay in memory.
    public var persist: [String] {
        get { state.withLock { $0.persist } }
        set { state.withLock { $0.persist = newValue } }
    }

    /// The storage for the cookies that ``persist`` names.
    ///
    /// The app must not use a storage elsewhere after it assigned it.
    public var cookieStorage: any Storage<[CustomHTTPCookie]> {
        get { stored.storage }
        set { stored.storage = newValue }
    }

    /// Returns the cookies in memory and in the storage.
    package func jar() async throws -> CookieJar {
        let memory = state.withLock { $0.memory }
        let persistent = persist.isEmpty ? [] : try await stored.get() ?? []
        return CookieJar(persistent.compactMap(\.cookie) + memory)
    }

    /// Replaces the cookies in memory and in the storage.
    package func keep(_ jar: CookieJar) async throws {
        let persist = persist
        state.withLock { $0.memory = jar.cookies.filter { !persist.contains($0.name) } }
        guard !persist.isEmpty else { return }
        try await stored.save(item: jar.cookies.filter { persist.contains($0.name) }.map { CustomHTTPCookie($0) })
    }

    /// Removes the cookies from memory and from the storage.
    package func removeAll() async throws {
        state.withLock { $0.memory = [] }
        if !persist.isEmpty { try await stored.delete() }
    }
}

extension Workflow {
    /// Returns true when the storage of ``CookieModule`` has cookies.
    public func hasCookies() async -> Bool {
        guard let config = sharedContext.get(key: SharedContext.Keys.cookieStorage) as? CookieConfig else { return false }
        return (try? await config.jar())?.cookies.isEmpty == false
    }
}
