#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A place for the bytes of one item.
protocol ItemSlot: Sendable {
    /// Returns the bytes, or nil if the slot is empty. It throws when it cannot find out.
    func contents() async throws(StoreError) -> Data?
    /// Stores `bytes` in place of the old bytes, all or nothing.
    func replace(with bytes: Data) async throws(StoreError)
    /// Empties the slot. The slot may be empty already.
    func clear() async throws(StoreError)
}

/// A storage that encodes its item as JSON, seals it with an encryptor and keeps it in a slot.
struct SealedItem<T: Codable>: Storage {
    let slot: any ItemSlot
    let encryptor: any Encryptor

    /// Stores `item`. Nothing is written unless the item could be encoded and sealed.
    func save(item: sending T) async throws {
        let sealed = try await encryptor.encrypt(data: Self.json(item))
        try await slot.replace(with: sealed)
    }

    func get() async throws -> T? {
        guard let sealed = try await slot.contents() else { return nil }
        return try await Self.item(encryptor.decrypt(data: sealed))
    }

    func delete() async throws {
        try await slot.clear()
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
