/// A storage for one item in the user's vault, under the Ping SDK's name of the type below its `KeychainStorage`.
public typealias Keychain<T: Codable & Sendable> = KeychainStorage<T>

/// A storage for one item in memory, under the Ping SDK's name of the type below its `MemoryStorage`.
public typealias Memory<T: Codable & Sendable> = MemoryStorage<T>
