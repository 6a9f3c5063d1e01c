public import Foundation

/// A storage that encodes its item as JSON, encrypts it with an encryptor and keeps the bytes in another storage.
///
/// The built-in storages take an encryptor themselves. With this one, a storage of the app gets encrypted bytes too:
///
///     class SecretDelegate<T: Codable>: StorageDelegate<T> {
///         init(encryptor: any Encryptor) {
///             super.init(delegate: EncryptedStorage<T>(storage: CustomStorage<Data>(), encryptor: encryptor))
///         }
///     }
public struct EncryptedStorage<T: Codable>: Storage {
    private let storage: any Storage<Data>
    private let encryptor: any Encryptor

    /// Creates a storage that takes over `storage`.
    ///
    /// Other code must not use `storage` afterwards.
    /// - Parameters:
    ///   - storage: The storage that keeps the encrypted bytes.
    ///   - encryptor: The encryptor of the encoded item.
    public init(storage: sending any Storage<Data>, encryptor: any Encryptor) {
        self.storage = storage
        self.encryptor = encryptor
    }

    /// Stores `item` in place of the old item.
    ///
    /// Nothing is written unless the item could be encoded and encrypted.
    /// - Throws: ``StoreError/Code/invalid`` when JSON cannot express the item; the error of the encryptor or of the storage.
    public func save(item: sending T) async throws {
        let sealed = try await encryptor.encrypt(data: Self.json(item))
        try await storage.save(item: sealed)
    }

    /// Returns the item, or nil if the storage is empty.
    /// - Throws: ``StoreError/Code/typeMismatch`` when the bytes do not decode as a `T`; the error of the encryptor or of the storage.
    public func get() async throws -> T? {
        guard let sealed = try await storage.get() else { return nil }
        return try await Self.item(encryptor.decrypt(data: sealed))
    }

    /// Removes the item.
    ///
    /// Does nothing if it does not exist.
    public func delete() async throws {
        try await storage.delete()
    }

    // Errors of the JSON coders quote the content, so they are replaced. Errors that the app's own types throw are passed on.

    static func json(_ item: T) throws -> Data {
        do {
            return try JSONEncoder().encode(item)
        } catch is EncodingError {
            throw StoreError(
                .invalid, "save an item",
                "JSON cannot express this \(T.self), for example a number that is infinite; nothing was changed")
        }
    }

    private static func item(_ json: Data) throws -> T {
        do {
            return try JSONDecoder().decode(T.self, from: json)
        } catch is DecodingError {
            throw StoreError(
                .typeMismatch, "get an item",
                "what is stored is of another type than \(T.self); it was left as it is: read it as its own type, or delete it")
        }
    }
}
