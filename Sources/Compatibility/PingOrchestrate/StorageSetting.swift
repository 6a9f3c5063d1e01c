import SignetCore
package import SignetStorage

/// A storage that an app gave to a configuration by assignment, as the Ping SDK's API has it.
///
/// An assignment can't state that the storage passes to the SDK, although it does: the app must not use the storage elsewhere
/// afterwards. The calls of this type run one at a time.
private final class OwnedStorage<T: Codable & Sendable>: @unchecked Sendable {
    let storage: any Storage<T>
    private let lock = AsyncLock()

    init(_ storage: any Storage<T>) { self.storage = storage }

    func save(item: T) async throws {
        await lock.lock()
        defer { lock.unlock() }
        try await storage.save(item: item)
    }

    func get() async throws -> T? {
        await lock.lock()
        defer { lock.unlock() }
        return try await storage.get()
    }

    func delete() async throws {
        await lock.lock()
        defer { lock.unlock() }
        try await storage.delete()
    }
}

/// The storage setting of a configuration: a storage of the app, or an item of the user's vault.
///
/// An item of the vault takes over the one that the Ping SDK stored (``LegacyItemStorage``).
package final class StorageSetting<T: Codable & Sendable>: Sendable {
    private struct State {
        var owned: OwnedStorage<T>
        /// The item of the vault; nil for a storage of the app.
        var item: LegacyItemStorage<T>?
        var isDefault: Bool
    }

    private let state: Mutex<State>
    /// The name of the item in the Ping SDK.
    private let account: String

    /// Creates a setting for an item of the user's vault.
    /// - Parameters:
    ///   - account: The name of the item.
    ///   - isDefault: True when the app didn't choose the name.
    package init(account: String, isDefault: Bool) {
        let item = LegacyItemStorage<T>(account: account)
        self.account = account
        state = Mutex(State(owned: OwnedStorage<T>(item), item: item, isDefault: isDefault))
    }

    /// The storage.
    package var storage: any Storage<T> {
        get { owned.storage }
        set {
            let (owned, item) = (OwnedStorage<T>(newValue), newValue as? LegacyItemStorage<T>)
            state.withLock { $0 = State(owned: owned, item: item, isDefault: false) }
        }
    }

    /// True when the app chose neither the storage nor its name.
    package var isDefault: Bool { state.withLock { $0.isDefault } }

    /// Sets the name of the item in the vault, unless the app chose the storage or its name.
    /// - Parameters:
    ///   - account: The name, with the identity of the server. The item that the Ping SDK stored without it is taken over.
    ///   - keychain: The vault.
    ///   - encryptor: The encryptor of the Ping SDK's items; nil for the app's key in the Secure Enclave.
    ///   - accepts: Returns false for an item that stays for another account; nil to accept each item.
    ///   - adapt: Returns the item to store for an item that was taken over.
    package func useAccount(
        _ account: String, in keychain: VaultProvider, openedBy encryptor: (any Encryptor)? = nil,
        accepting accepts: (@Sendable (T) async throws -> Bool)? = nil,
        adapting adapt: @escaping @Sendable (T) async throws -> T = { $0 }
    ) {
        let item = LegacyItemStorage<T>(
            account: account, of: self.account, in: keychain, openedBy: encryptor, accepting: accepts, adapting: adapt)
        let owned = OwnedStorage<T>(item)
        state.withLock { if $0.isDefault { ($0.owned, $0.item) = (owned, item) } }
    }

    private var owned: OwnedStorage<T> { state.withLock { $0.owned } }

    /// Stores an item.
    package func save(item: T) async throws { try await owned.save(item: item) }
    /// Returns the item; nil when the storage is empty.
    package func get() async throws -> T? { try await owned.get() }
    /// Removes the item.
    package func delete() async throws { try await owned.delete() }

    /// Returns the item as the Ping SDK stored it; nil when it stored nothing that opens, and for a storage of the app.
    package func original() async throws -> T? {
        guard let item = state.withLock({ $0.item }) else { return nil }
        return try await item.original()
    }
}
