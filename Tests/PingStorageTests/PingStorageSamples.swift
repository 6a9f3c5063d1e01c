import PingStorage
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Dog: Codable, Equatable {
    let name: String
}

/// An app's own storage, as the storage document shows it.
private class CustomStorage<T: Codable>: Storage {
    private var data: T?

    func save(item: T) async throws { data = item }
    func get() async throws -> T? { data }
    func delete() async throws { data = nil }
}

private class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}

/// An app's own encryptor, as the storage document shows it.
private struct MyEncryptor: Encryptor {
    func encrypt(data: Data) async throws -> Data { Data(data.map { $0 ^ 0x5A }) }
    func decrypt(data: Data) async throws -> Data { Data(data.map { $0 ^ 0x5A }) }
}

/// The storage document's samples in an app that imports the Ping SDK's module.
///
/// `StorageSamples` runs all of them.
@Suite("Samples under the module name PingStorage")
struct PingStorageSamples {
    @Test("Built-in and custom storages of an app that imports PingStorage save, read and delete an item")
    func savesInEveryKindOfStorage() async throws {
        let lucky = Dog(name: "Lucky")
        let storages: [any Storage<Dog>] = [
            MemoryStorage<Dog>(account: "myStorageId", encryptor: MyEncryptor(), cacheable: true),
            MemoryStorage<Dog>(account: "myStorageId", cacheStrategy: CacheStrategy.NO_CACHE),
            CustomStorage<Dog>(),
            CustomStorageDelegate<Dog>(cacheable: true),
        ]
        for storage in storages {
            try await storage.save(item: lucky)
            let stored = try await storage.get()
            #expect(stored == lucky)
            try await storage.delete()
            let gone = try await storage.get()
            #expect(gone == nil)
        }
    }
}
