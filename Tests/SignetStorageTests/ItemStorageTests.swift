import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

/// The common behavior of the storages in the package, whatever their backend.
@Suite("A built-in storage")
struct ItemStorageTests {
    enum BackendKind: String, CaseIterable, CustomTestStringConvertible {
        case memory, keychainOverMemory, keychainOverVault, keychainOverVaultInSQLite
        var testDescription: String { rawValue }

        /// Runs `body` with a storage of this kind for one item.
        func withStorage<T: Codable & Sendable>(
            of type: T.Type, cacheable: Bool, encryptor: any Encryptor = NoEncryptor(),
            _ body: (any Storage<T> & Sendable) async throws -> Void
        ) async throws {
            try await TemporaryDirectory.with { directory in
                func inKeychain(_ store: any RecordStore) -> KeychainStorage<T> {
                    KeychainStorage(account: "item", encryptor: encryptor, cacheable: cacheable, in: VaultProvider(over: store))
                }
                switch self {
                case .memory: try await body(MemoryStorage<T>(encryptor: encryptor, cacheable: cacheable))
                case .keychainOverMemory: try await body(inKeychain(MemoryStore()))
                case .keychainOverVault:
                    let key = try KeyFile.create(path: directory.file("key"))
                    try await body(inKeychain(try Vault.create(in: MemoryStore(), protector: key)))
                case .keychainOverVaultInSQLite:
                    try await body(inKeychain(try VaultDirectory(path: directory.file("vault")).createVault(.keyFile)))
                }
            }
        }
    }

    @Test(
        "A built-in storage saves, gets, replaces and deletes; an absent item is nil and may be deleted",
        arguments: BackendKind.allCases, [false, true])
    func savesAndDeletesItem(backend: BackendKind, isCacheable: Bool) async throws {
        try await backend.withStorage(of: Pet.self, cacheable: isCacheable) { storage in
            try await storage.delete()
            let absent = try await storage.get()
            #expect(absent == nil)
            for name in ["Lucky", "Rex"] {
                try await storage.save(item: Pet(name: name))
                for _ in 0..<2 {
                    let read = try await storage.get()
                    #expect(read == Pet(name: name))
                }
            }
            try await storage.delete()
            try await storage.delete()
            let gone = try await storage.get()
            #expect(gone == nil)
        }
    }

    @Test("A built-in storage returns texts of every kind, and a mebibyte, unchanged", arguments: BackendKind.allCases)
    func keepsTexts(backend: BackendKind) async throws {
        let texts = [
            "", " ", "null", "\"", "\u{0}", "é", "e\u{301}", "🐕‍🦺", "שלום", "line\nline", "\u{FFFF}\u{10FFFF}",
            String(repeating: "0123456789abcdef", count: 65536),
        ]
        try await backend.withStorage(of: String.self, cacheable: false) { storage in
            for text in texts {
                try await storage.save(item: text)
                let read = try await storage.get()
                let readBytes = read.map { Array($0.utf8) }
                #expect(readBytes == Array(text.utf8))
            }
        }
    }

    @Test(
        "A built-in storage keeps values that are not objects: numbers, lists, dates, an optional",
        arguments: BackendKind.allCases)
    func keepsPlainTypes(backend: BackendKind) async throws {
        func keep<T: Codable & Sendable & Equatable>(_ item: T) async throws {
            try await backend.withStorage(of: T.self, cacheable: true) { storage in
                try await storage.save(item: item)
                let read = try await storage.get()
                #expect(read == item)
            }
        }
        try await keep(Int64.max)
        try await keep(0.1)
        try await keep([1, 2, 3])
        try await keep(["a-b": "c"])
        try await keep(Date(timeIntervalSince1970: 1_735_689_600.123))
        try await keep(Data([0, 255]))
        try await keep(Optional<Int>.none)
    }

    @Test("A built-in storage equals its backend after 16 tasks with 2000 cached saves each", arguments: [1, 2, 3] as [UInt64])
    func storageEqualsBackendConcurrently(seed: UInt64) async throws {
        let keychain = VaultProvider(over: MemoryStore())
        let cached = KeychainStorage<Int>(account: "number", cacheable: true, in: keychain)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(task))
                    for step in 0..<2000 {
                        try await cached.save(item: task * 2000 + step)
                        if Int.random(in: 0..<4, using: &generator) == 0 { _ = try await cached.get() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let fromCache = try await cached.get()
        let fromStore = try await KeychainStorage<Int>(account: "number", in: keychain).get()
        #expect(fromCache == fromStore)
        let lastStep = fromStore.map { $0 % 2000 }
        #expect(lastStep == 1999)
    }

    @Test("A built-in storage refuses an item that JSON cannot express, and keeps the old one", arguments: BackendKind.allCases)
    func refusesInexpressibleItem(backend: BackendKind) async throws {
        try await backend.withStorage(of: Double.self, cacheable: true) { storage in
            try await storage.save(item: 1.5)
            await #expect { try await storage.save(item: .infinity) } throws: { ($0 as? StoreError)?.code == .invalid }
            let read = try await storage.get()
            #expect(read == 1.5)
        }
    }

    // MARK: Encryptors

    /// An encryptor that reverses the bytes and adds a mark before them, until it is told to refuse.
    private final class ReversingEncryptor: Encryptor {
        struct Refused: Error, Equatable {}
        private let refused = Mutex<Direction?>(nil)

        enum Direction { case encrypting, decrypting }

        func refuse(_ direction: Direction?) {
            refused.withLock { $0 = direction }
        }

        func encrypt(data: Data) async throws -> Data {
            if refused.withLock({ $0 }) == .encrypting { throw Refused() }
            return Data([0x01]) + Data(data.reversed())
        }

        func decrypt(data: Data) async throws -> Data {
            if refused.withLock({ $0 }) == .decrypting { throw Refused() }
            return Data(data.dropFirst().reversed())
        }
    }

    @Test("A built-in storage stores the encryptor's output only", arguments: [false, true])
    func storesEncryptedItem(isCacheable: Bool) async throws {
        let store = DumpableStore()
        let storage = KeychainStorage<Pet>(
            account: "pet", encryptor: ReversingEncryptor(), cacheable: isCacheable, in: VaultProvider(over: store))
        try await storage.save(item: Pet(name: "Lucky"))
        let read = try await storage.get()
        #expect(read == Pet(name: "Lucky"))
        let stored = try #require(store.dump().first).value
        #expect(stored.first == 0x01)
        let plain = try JSONDecoder().decode(Pet.self, from: Data(stored.dropFirst().reversed()))
        #expect(plain == Pet(name: "Lucky"))
    }

    /// A storage of an app, as the document on storage has it.
    private final class CustomStorage<T: Codable>: Storage {
        private var data: T?

        func save(item: T) async throws { data = item }
        func get() async throws -> T? { data }
        func delete() async throws { data = nil }
    }

    @Test("A delegate over a storage of the app encrypts its item", arguments: [false, true])
    func encryptsItemOfCustomDelegate(isCacheable: Bool) async throws {
        let bytes = MemoryStorage<Data>()
        let delegate = StorageDelegate<Pet>(
            delegate: EncryptedStorage(storage: bytes, encryptor: ReversingEncryptor()), cacheable: isCacheable)
        try await delegate.save(item: Pet(name: "Lucky"))
        let stored = try #require(try await bytes.get())
        #expect(stored.first == 0x01 && !String(decoding: stored, as: UTF8.self).contains("Lucky"))
        let custom = EncryptedStorage<Pet>(storage: CustomStorage<Data>(), encryptor: ReversingEncryptor())
        try await custom.save(item: Pet(name: "Rex"))
        let (first, second) = (try await delegate.get(), try await custom.get())
        #expect(first == Pet(name: "Lucky") && second == Pet(name: "Rex"))
        try await delegate.delete()
        let gone = try await bytes.get()
        #expect(gone == nil)
    }

    @Test(
        "A built-in storage keeps the old item when the encryptor fails during a save", arguments: BackendKind.allCases,
        [false, true])
    func keepsItemWhenEncryptionFails(backend: BackendKind, isCacheable: Bool) async throws {
        let reverser = ReversingEncryptor()
        try await backend.withStorage(of: Pet.self, cacheable: isCacheable, encryptor: reverser) { storage in
            try await storage.save(item: Pet(name: "Lucky"))
            reverser.refuse(.encrypting)
            await #expect(throws: ReversingEncryptor.Refused()) { try await storage.save(item: Pet(name: "Rex")) }
            let read = try await storage.get()
            #expect(read == Pet(name: "Lucky"))
        }
    }

    @Test(
        "A built-in storage throws the encryptor's error when an item does not open, and deletes nothing",
        arguments: BackendKind.allCases)
    func throwsDecryptionError(backend: BackendKind) async throws {
        let reverser = ReversingEncryptor()
        try await backend.withStorage(of: Pet.self, cacheable: false, encryptor: reverser) { storage in
            try await storage.save(item: Pet(name: "Lucky"))
            reverser.refuse(.decrypting)
            await #expect(throws: ReversingEncryptor.Refused()) { try await storage.get() }
            reverser.refuse(nil)
            let read = try await storage.get()
            #expect(read == Pet(name: "Lucky"))
        }
    }

    @Test("Memory storages with the same name share nothing")
    func memoryStoragesAreSeparate() async throws {
        let (first, second) = (MemoryStorage<Pet>(account: "pet"), MemoryStorage<Pet>(account: "pet"))
        try await first.save(item: Pet(name: "Lucky"))
        let read = try await second.get()
        #expect(read == nil)
        #expect(first.account == second.account)
    }
}
