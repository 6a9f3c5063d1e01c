// The samples stand here as their documents have them.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, OmitExplicitReturns

import Foundation
import SignetStorage
import SignetTesting
// The samples' classes are public, so the modules of their types are imported publicly.
public import Storage
import TestSupport
import Testing

struct Dog: Codable, Equatable {
    let name: String
    let breed: String
}

public class CustomStorage<T: Codable>: Storage {
    private var data: T?

    public func save(item: T) async throws {
        data = item
    }

    public func get() async throws -> T? {
        return data
    }

    public func delete() async throws {
        data = nil
    }
}

public class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    public init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}

struct MyEncryptor: Encryptor {
    func encrypt(data: Data) async throws -> Data {
        Data(data.map { $0 ^ 0x5A })
    }

    func decrypt(data: Data) async throws -> Data {
        Data(data.map { $0 ^ 0x5A })
    }
}

/// The storage samples of the Ping documentation, word for word, each inside a test.
///
/// They name one item of the default keychain, so they run one after another.
@Suite("Storage samples of the Ping documentation", .serialized)
struct StorageSamples {
    private let lucky = Dog(name: "Lucky", breed: "Golden Retriever")

    init() async throws {
        try await Self.openDefaultKeychain()
        try await KeychainStorage<Dog>(account: "myStorageId").delete()
    }

    /// Opens the default keychain as an app does when it starts, here with a vault in memory.
    private static func openDefaultKeychain() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let key = directory.file("key")
        do {
            try await VaultProvider.default.open { () throws(StoreError) in
                try Vault.create(in: MemoryStore(), protector: KeyFile.create(path: key))
            }
        } catch {
            // `exists`: an earlier sample has opened it.
            guard error.code == .exists else { throw error }
        }
    }

    @Test("KeychainStorage stores an item of the app's own type")
    func storesItemOfCustomType() async throws {
        // Create custom storage for custom data
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId"
        )

        // Persist custom data
        try? await customStorage.save(item: Dog(name: "Lucky", breed: "Golden Retriever"))

        // Retrieve custom data
        let storedData = try? await customStorage.get()

        #expect(storedData == lucky)
        let seenByAnother = try await KeychainStorage<Dog>(account: "myStorageId").get()
        #expect(seenByAnother == lucky)
    }

    @Test("KeychainStorage works with a cache")
    func storesItemWithCache() async throws {
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId",
            cacheable: true
        )

        try await customStorage.save(item: lucky)
        let stored = try await customStorage.get()
        #expect(stored == lucky)

        // A storage without a cache has none to be out of date.
        let uncached = KeychainStorage<Dog>(account: "myStorageId")
        let rex = Dog(name: "Rex", breed: "Boxer")
        try await uncached.save(item: rex)
        let fromCache = try await customStorage.get()
        let fromKeychain = try await uncached.get()
        #expect(fromCache == lucky && fromKeychain == rex)

        try await customStorage.delete()
        let gone = try await customStorage.get()
        #expect(gone == nil)
    }

    @Test("KeychainStorage works with SecuredKeyEncryptor, or with the fallback that the app chooses")
    func storesItemWithSecuredKeyEncryptor() async throws {
        let storage = KeychainStorage<Dog>(account: "securedStorageId", encryptor: SecuredKeyEncryptor() ?? NoEncryptor())
        try await storage.save(item: lucky)
        #expect(try await storage.get() == lucky)
        try await storage.delete()
    }

    @Test("Without hardware there is no secured key", .enabled(if: !hasHardware, "this machine has a TPM"))
    func createsNoSecuredKeyWithoutHardware() {
        #expect(!SecuredKey.isAvailable())
        #expect(SecuredKeyEncryptor() == nil)
        #expect(SecuredKey(applicationTag: SecuredKey.defaultTag) == nil)
    }

    /// True on a machine with a TPM, and where a test run is given one.
    private static var hasHardware: Bool {
        FileManager.default.fileExists(atPath: "/dev/tpmrm0")
            || ProcessInfo.processInfo.environment[DefaultKeyProtectors.tctiVariable] != nil
    }

    #if os(Linux)
    @Test(
        "With a TPM, the item is sealed to a key that never leaves it",
        .enabled(if: SoftwareTPM.missing() == nil, "\(SoftwareTPM.missing() ?? "")"))
    func storesItemSealedByTPM() async throws {
        try await TemporaryDirectory.with { directory in
            try await SoftwareTPM.with { tpm in
                let hardware = HardwareKeys(tcti: tpm.tcti)
                #expect(hardware.availability() == .usable)
                let location = VaultDirectory(path: directory.file("home"))
                let data = Data("Test data".utf8)
                let sealed = try await sealed(data, in: location, of: hardware)
                // The key is found again by its tag.
                let again = try SecuredKey(tag: SecuredKey.defaultTag, in: location, of: hardware)
                #expect(again.decrypt(data: sealed) == data)
                await tpm.stop()
                #expect(again.decrypt(data: sealed) == nil)
            }
        }
    }

    /// Stores an item that the key seals, and returns data that it sealed.
    ///
    /// The TPM serves one connection at a time, and the key keeps its own: it ends with this function.
    private func sealed(_ data: Data, in location: VaultDirectory, of hardware: HardwareKeys) async throws -> Data {
        let key = try SecuredKey(tag: SecuredKey.defaultTag, in: location, of: hardware)
        let storage = KeychainStorage<Dog>(account: "securedStorageId", encryptor: SecuredKeyEncryptor(key))
        try await storage.save(item: lucky)
        #expect(try await storage.get() == lucky)
        let unopened = KeychainStorage<Dog>(account: "securedStorageId")
        await #expect(throws: StoreError.self) { try await unopened.get() }
        try await storage.delete()
        let sealed = try #require(key.encrypt(data: data))
        #expect(sealed != data && key.decrypt(data: sealed) == data)
        #expect(key.decrypt(data: data) == nil)
        return sealed
    }
    #endif

    @Test("KeychainStorage works with the app's own encryptor and with NoEncryptor")
    func storesItemWithCustomEncryptor() async throws {
        let customStorage = KeychainStorage<Dog>(
            account: "myStorageId",
            encryptor: MyEncryptor()
        )

        try await customStorage.save(item: lucky)
        let stored = try await customStorage.get()
        #expect(stored == lucky)
        let unopened = KeychainStorage<Dog>(account: "myStorageId", encryptor: NoEncryptor())
        await #expect(throws: StoreError.self) { try await unopened.get() }
    }

    @Test("MemoryStorage and KeychainStorage take the properties in the table of the Ping documentation")
    func takesDocumentedProperties() async throws {
        let storages: [any Storage<Dog>] = [
            MemoryStorage<Dog>(account: "myStorageId", encryptor: MyEncryptor(), cacheable: true),
            MemoryStorage<Dog>(account: "myStorageId", cacheStrategy: CacheStrategy.NO_CACHE),
            KeychainStorage<Dog>(account: "myStorageId", encryptor: MyEncryptor(), cacheable: true),
            KeychainStorage<Dog>(account: "myStorageId", cacheStrategy: CacheStrategy.NO_CACHE),
        ]
        for storage in storages {
            try await storage.save(item: lucky)
            let stored = try await storage.get()
            #expect(stored == lucky)
        }
    }

    @Test("A class of the app that conforms to Storage saves, reads and deletes an item")
    func savesInCustomStorage() async throws {
        let customStorage = CustomStorage<Dog>()
        try? await customStorage.save(item: lucky)
        let stored = try? await customStorage.get()
        #expect(stored == lucky)
        try? await customStorage.delete()
        let gone = try await customStorage.get()
        #expect(gone == nil)
    }

    @Test("A subclass of StorageDelegate is a storage with its own backend and a cache", arguments: [false, true])
    func savesInCustomDelegate(isCacheable: Bool) async throws {
        let storages: [any Storage<Dog>] = [
            CustomStorageDelegate<Dog>(), CustomStorageDelegate<Dog>(cacheable: isCacheable),
        ]
        for storage in storages {
            try? await storage.save(item: lucky)
            let stored = try? await storage.get()
            #expect(stored == lucky)
            try? await storage.delete()
            let gone = try await storage.get()
            #expect(gone == nil)
        }
    }

    /// An owner of an app's storage, taken as `sending`: the app's class does not have to be Sendable.
    private actor Owner {
        private let storage: any Storage<Dog>

        init(storage: sending any Storage<Dog>) {
            self.storage = storage
        }

        func savedAndRead(_ dog: Dog) async throws -> Dog? {
            try await storage.save(item: dog)
            return try await storage.get()
        }
    }

    @Test("A parameter of type Storage takes a custom storage, a custom delegate and the built-in storages")
    func takesEveryKindOfStorage() async throws {
        let owners = [
            Owner(storage: CustomStorage<Dog>()),
            Owner(storage: CustomStorageDelegate<Dog>(cacheable: true)),
            Owner(storage: MemoryStorage<Dog>()),
            Owner(storage: KeychainStorage<Dog>(account: "myStorageId")),
        ]
        for owner in owners {
            let read = try await owner.savedAndRead(lucky)
            #expect(read == lucky)
        }
    }
}
