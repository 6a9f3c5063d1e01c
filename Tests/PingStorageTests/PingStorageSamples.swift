import Foundation
import PingStorage
import Testing

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

    @Test("An item may be a collection")
    func keepsCollection() async throws {
        let dogs = [Dog(name: "Lucky"), Dog(name: "Rex")]
        let storage = MemoryStorage<[Dog]>()
        try await storage.save(item: dogs)
        let stored = try await storage.get()
        #expect(stored == dogs)
    }

    @Test("The types below the Ping SDK's storages exist under their names")
    func namesInnerStorages() async throws {
        let lucky = Dog(name: "Lucky")
        let memory = Memory<Dog>()
        let delegate = StorageDelegate<Dog>(delegate: memory, cacheable: true)
        try await delegate.save(item: lucky)
        let stored = try await memory.get()
        #expect(stored == lucky)
        let keychain: Keychain<Dog> = KeychainStorage(account: "myStorageId", encryptor: MyEncryptor())
        #expect(type(of: keychain) == KeychainStorage<Dog>.self)
    }

    @Test("The Ping SDK's errors have texts for people")
    func storageErrorsHaveTexts() {
        let errors: [any LocalizedError] = KeychainError.allCases + EncryptorError.allCases
        for error in errors { #expect(error.localizedDescription == error.errorDescription) }
        #expect(Set(errors.map(\.localizedDescription)).count == 5)
        #expect(KeychainError.unableToSave.errorMessage == KeychainError.unableToSave.localizedDescription)
    }

    @Test("Storages of many tasks keep a whole item", arguments: [1000])
    func concurrentCallsKeepWholeItem(count: Int) async throws {
        let lucky = Dog(name: "Lucky")
        let storage = MemoryStorage<Dog>(cacheable: true)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    if number.isMultiple(of: 3) { try? await storage.delete() } else { try? await storage.save(item: lucky) }
                }
                group.addTask { _ = try? await storage.get() }
            }
        }
        let found = try await storage.get()
        #expect(found == nil || found == lucky)
        try await storage.save(item: lucky)
        let last = try await storage.get()
        #expect(last == lucky)
    }
}
