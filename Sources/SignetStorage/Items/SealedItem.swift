import Foundation

/// A storage that encodes its item as JSON, seals it with an encryptor and keeps the bytes in another storage.
struct SealedItem<T: Codable>: Storage {
    let slot: any Storage<Data>
    let encryptor: any Encryptor

    /// Stores `item`.
    ///
    /// Nothing is written unless the item could be encoded and sealed.
    func save(item: sending T) async throws {
        let sealed = try await encryptor.encrypt(data: Self.json(item))
        try await slot.save(item: sealed)
    }

    func get() async throws -> T? {
        guard let sealed = try await slot.get() else { return nil }
        return try await Self.item(encryptor.decrypt(data: sealed))
    }

    func delete() async throws {
        try await slot.delete()
    }

    // Errors of the JSON coders quote the content, so they are replaced. Errors that the app's own types throw are passed on.

    private static func json(_ item: T) throws -> Data {
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
                "what is stored is no \(T.self); it was left as it is: read it as the type it was saved as, or delete it")
        }
    }
}
