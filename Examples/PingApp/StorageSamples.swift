import Foundation
// Import the Storage library
import PingStorage

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

/// The samples of the document on storage.
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

    /// Reads an item from the cache of its storage after another storage of the same item has changed it.
    static func saveCached() async throws -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId",
            cacheable: true
        )
        try await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
        let saved = try await customStorage.get()
        let uncached = KeychainStorage<Dog>(account: "myStorageId")
        try await uncached.save(item: Dog(name: "Rex", breed: "Boxer"))
        let cached = try await customStorage.get()
        let changed = try await uncached.get()
        return "\(describe(saved)), \(describe(cached)), \(describe(changed))"
    }

    /// Counts how many of three reads reach the storage of the app, with a cache and without one.
    static func countReads() async throws -> String {
        var counts: [String] = []
        for cacheable in [true, false] {
            let backend = CustomStorage<Dog>()
            let customStorage = StorageDelegate<Dog>(delegate: backend, cacheable: cacheable)
            try await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
            for _ in 1...3 { _ = try await customStorage.get() }
            let reads = await backend.reads
            counts.append("\(reads)")
        }
        return counts.joined(separator: " ")
    }

    static func saveEncrypted() async throws -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "mySecuredStorageId",
            encryptor: SecuredKeyEncryptor() ?? NoEncryptor()
        )
        try await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
        return describe(try await customStorage.get())
    }

    static func getEncrypted() async throws -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "mySecuredStorageId",
            encryptor: SecuredKeyEncryptor() ?? NoEncryptor()
        )
        return describe(try await customStorage.get())
    }

    /// Reads the same item without the secured key.
    static func getUnencrypted() async -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "mySecuredStorageId",
            encryptor: NoEncryptor()
        )
        do {
            return describe(try await customStorage.get())
        } catch {
            return "sealed"
        }
    }

    /// Reads an item with the encryptor that sealed it, and without an encryptor.
    static func saveWithOwnEncryptor() async throws -> String {
        let customStorage = KeychainStorage<Dog>(
            account: "myOwnStorageId",
            encryptor: MyEncryptor()
        )
        try await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
        let stored = try await customStorage.get()
        let unopened = KeychainStorage<Dog>(
            account: "myOwnStorageId",
            encryptor: NoEncryptor()
        )
        do {
            let opened = try await unopened.get()
            return "\(describe(stored)), \(describe(opened))"
        } catch {
            return "\(describe(stored)), sealed"
        }
    }

    static func saveInCustomStorage() async throws -> String {
        let customStorage = CustomStorageDelegate<Dog>(cacheable: true)
        try await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))
        let stored = try await customStorage.get()
        try await customStorage.delete()
        return describe(stored) + ", " + describe(try await customStorage.get())
    }

    private static func describe(_ dog: Dog?) -> String {
        dog.map { "\($0.name) \($0.breed)" } ?? "nothing"
    }
}
