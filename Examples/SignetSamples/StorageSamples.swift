import Foundation
// The product of the document. That of the Ping SDK's Swift package is PingStorage.
import Storage

// Define the custom data to store
struct Dog: Codable, Sendable {
    let name: String
    let breed: String
}

struct MyEncryptor: Encryptor {
    func encrypt(data: Data) async throws -> Data {
        Data(data.reversed())
    }

    func decrypt(data: Data) async throws -> Data {
        Data(data.reversed())
    }
}

// The two classes as the document writes them. The Ping SDK's protocol needs a storage and an item that are Sendable.
class CustomStorage<T: Codable>: Storage {
    private var data: T?

    func save(item: T) async throws {
        data = item
    }

    func get() async throws -> T? {
        data
    }

    func delete() async throws {
        data = nil
    }
}

class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}

/// The samples of the document on storage in the forms that the Ping SDK does not have.
enum StorageSamples {
    static func save() async -> String {
        // Create custom storage for custom data
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId"
        )

        // Persist custom data
        try? await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))

        // Retrieve custom data
        let storedData = try? await customStorage.get()

        return describe(storedData)
    }

    static func get() async -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId"
        )
        return describe(try? await customStorage.get())
    }

    /// Saves with each property in the document's tables.
    static func saveWithProperties() async throws -> String {
        let storages: [any Storage<Dog>] = [
            MemoryStorage<Dog>(account: "myStorageId", encryptor: MyEncryptor(), cacheable: true),
            MemoryStorage<Dog>(account: "myStorageId", cacheStrategy: CacheStrategy.NO_CACHE),
            KeychainStorage<Dog>(account: "myOwnStorageId", encryptor: MyEncryptor(), cacheable: true),
            KeychainStorage<Dog>(account: "myStorageId", cacheStrategy: CacheStrategy.NO_CACHE),
        ]
        var names: [String] = []
        for storage in storages { names.append(try await saveAndDelete(in: storage)) }
        return names.joined(separator: " ")
    }

    static func saveInCustomStorage() async throws -> String {
        try await saveAndDelete(in: CustomStorage<Dog>())
    }

    static func saveInCustomDelegate() async throws -> String {
        let uncached = try await saveAndDelete(in: CustomStorageDelegate<Dog>())
        let cached = try await saveAndDelete(in: CustomStorageDelegate<Dog>(cacheable: true))
        return "\(uncached) \(cached)"
    }

    /// Saves in each kind of storage by way of a parameter of type `Storage`.
    static func saveInEveryKind() async throws -> String {
        let storages: [any Storage<Dog>] = [
            CustomStorage<Dog>(), CustomStorageDelegate<Dog>(cacheable: true), MemoryStorage<Dog>(),
            KeychainStorage<Dog>(account: "myStorageId"),
        ]
        var names: [String] = []
        for storage in storages { names.append(try await saveAndDelete(in: storage)) }
        return names.joined(separator: " ")
    }

    /// Saves an item, reads it and deletes it, and returns its name; another text when it is still there.
    private static func saveAndDelete(in storage: any Storage<Dog>) async throws -> String {
        try await storage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
        let stored = try await storage.get()
        try await storage.delete()
        let left = try await storage.get()
        return left == nil ? stored?.name ?? "nothing" : "not deleted"
    }

    private static func describe(_ dog: Dog?) -> String {
        dog.map { "\($0.name) \($0.breed)" } ?? "nothing"
    }
}
