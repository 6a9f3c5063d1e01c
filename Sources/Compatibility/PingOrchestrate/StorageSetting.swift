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
package final class StorageSetting<T: Codable & Sendable>: Sendable {
    private struct State {
        var owned: OwnedStorage<T>
        var isDefault: Bool
    }

    private let state: Mutex<State>

    /// Creates a setting for an item of the user's vault.
    /// - Parameters:
    ///   - account: The name of the item.
    ///   - isDefault: True when the app didn't choose the name.
    package init(account: String, isDefault: Bool) {
        state = Mutex(State(owned: OwnedStorage(KeychainStorage<T>(account: account)), isDefault: isDefault))
    }

    /// The storage.
    package var storage: any Storage<T> {
        get { owned.storage }
        set {
            let owned = OwnedStorage(newValue)
            state.withLock { $0 = State(owned: owned, isDefault: false) }
        }
    }

    /// True when the app chose neither the storage nor its name.
    package var isDefault: Bool { state.withLock { $0.isDefault } }

    /// Sets the name of the item in the vault, unless the app chose the storage or its name.
    package func useAccount(_ account: String, in keychain: VaultProvider) {
        let owned = OwnedStorage(KeychainStorage<T>(account: account, in: keychain))
        state.withLock { if $0.isDefault { $0.owned = owned } }
    }

    private var owned: OwnedStorage<T> { state.withLock { $0.owned } }

    /// Stores an item.
    package func save(item: T) async throws { try await owned.save(item: item) }
    /// Returns the item; nil when the storage is empty.
    package func get() async throws -> T? { try await owned.get() }
    /// Removes the item.
    package func delete() async throws { try await owned.delete() }
}
