#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Room for the bytes of one item.
protocol ItemSlot: Sendable {
    /// The bytes; nil only when it is certain that there are none.
    func contents() async throws(StoreError) -> Data?
    /// Puts `bytes` in place of what is there, all or nothing.
    func replace(with bytes: Data) async throws(StoreError)
    /// Makes the slot empty; it may be empty already.
    func clear() async throws(StoreError)
}

/// An item as it is kept: JSON, then sealed by an encryptor, in a slot.
struct SealedItem<T: Codable>: Storage {
    let slot: any ItemSlot
    let encryptor: any Encryptor

    /// Nothing is written unless the item could be expressed and sealed.
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

    // The errors of the coders quote what they could not read, so they stay here. Those of the app's own types go through.

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
                .otherType, "get an item",
                "what is stored is no \(T.self); it was left as it is: read it as the type it was saved as, or delete it")
        }
    }
}
