import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

/// The record of an item in its keychain: its name, and its behavior when it is damaged or of another type.
@Suite("An item in a keychain")
struct ItemRecordTests {
    private let lucky = Pet(name: "Lucky")

    private func vaultInMemory() throws -> (keychain: VaultProvider, inner: DumpableStore) {
        let inner = DumpableStore()
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let vault = try Vault.create(in: inner, protector: KeyFile.create(path: directory.file("key")))
        return (VaultProvider(over: vault), inner)
    }

    @Test("Keychain items with similar names stay separate")
    func separatesSimilarNames() async throws {
        let (keychain, inner) = try vaultInMemory()
        let names = [
            "a", "a-b", "a-b-c", "a-b\u{0}c", "-", " ", "a ", "A", "é", "è", "犬", "../a", "a/b", "\u{0}", "item", "account",
            String(repeating: "a", count: 4096), String(repeating: "a", count: 4097),
        ]
        for name in names { try await KeychainStorage<String>(account: name, in: keychain).save(item: "of \(name)") }
        for name in names {
            let read = try await KeychainStorage<String>(account: name, in: keychain).get()
            #expect(read == "of \(name)")
        }
        let items = inner.dump().filter { $0.key.kind == .item }
        #expect(items.count == names.count)
        try await KeychainStorage<String>(account: "a-b", in: keychain).delete()
        for name in names where name != "a-b" {
            let read = try await KeychainStorage<String>(account: name, in: keychain).get()
            #expect(read != nil)
        }
    }

    @Test("Keychain items and authenticator accounts in one vault stay separate")
    func separatesItemsFromAccounts() async throws {
        let (keychain, inner) = try vaultInMemory()
        try inner.put([1], RecordKey(.account, "pet"))
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        let absent = try await storage.get()
        #expect(absent == nil)
        try await storage.save(item: lucky)
        try await storage.delete()
        #expect(try inner.get(RecordKey(.account, "pet")) == [1])
    }

    @Test("A keychain item without a name is an error at each call, and the keychain stays closed")
    func refusesEmptyItemName() async throws {
        let store = WatchedStore()
        let storage = KeychainStorage<Pet>(account: "", in: VaultProvider(over: store))
        await #expect { try await storage.save(item: lucky) } throws: { ($0 as? StoreError)?.code == .invalid }
        await #expect { try await storage.get() } throws: { ($0 as? StoreError)?.code == .invalid }
        await #expect { try await storage.delete() } throws: { ($0 as? StoreError)?.code == .invalid }
        #expect(store.reads + store.writes == 0)
    }

    @Test("A keychain item is saved in one transaction")
    func savesItemInOneTransaction() async throws {
        let store = WatchedStore()
        let storage = KeychainStorage<Pet>(account: "pet", in: VaultProvider(over: store))
        try await storage.save(item: lucky)
        #expect((store.reads, store.writes) == (0, 1))
        _ = try await storage.get()
        #expect((store.reads, store.writes) == (1, 1))
        try await storage.delete()
        #expect((store.reads, store.writes) == (1, 2))
    }

    @Test("A keychain item that cannot be read throws the store's own error, never nil", arguments: StoreError.Code.allCases)
    func throwsStoreErrorForItem(code: StoreError.Code) async throws {
        for isCacheable in [false, true] {
            let store = WatchedStore()
            let storage = KeychainStorage<Pet>(account: "pet", cacheable: isCacheable, in: VaultProvider(over: store))
            try await storage.save(item: lucky)
            let failure = StoreError(code, "read", "on purpose")
            store.fail(with: failure)
            await #expect(throws: failure) { try await storage.get() }
            await #expect(throws: failure) { try await storage.save(item: Pet(name: "Rex")) }
            await #expect(throws: failure) { try await storage.delete() }
            store.fail(with: nil)
            let read = try await storage.get()
            #expect(read == lucky)
        }
    }

    @Test("A keychain item with any byte damaged throws an error and stays unchanged")
    func keepsDamagedItem() async throws {
        let (keychain, inner) = try vaultInMemory()
        let storage = KeychainStorage<Pet>(account: "pet", in: keychain)
        try await storage.save(item: lucky)
        let item = inner.dump().first { $0.key.kind == .item }
        let (name, sealed) = try #require(item)
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 0x10
            try inner.put(damaged, name)
            await #expect { try await storage.get() } throws: { error in
                [.corrupt, .keyMismatch, .newerFormat].contains((error as? StoreError)?.code)
            }
            #expect(try inner.get(name) == damaged)
        }
        try inner.put(sealed, name)
        let read = try await storage.get()
        #expect(read == lucky)
    }

    /// The app's `Pet` in its next version.
    private struct RegisteredPet: Codable {
        var name: String
        var chip: String
    }

    @Test("A keychain item of another type throws an error without its content, and stays unchanged")
    func hidesMismatchedItem() async throws {
        let (keychain, inner) = try vaultInMemory()
        try await KeychainStorage<[String: Pet]>(account: "pet", in: keychain).save(item: ["dict-key": lucky])
        let before = inner.dump().map(\.value)
        await #expect {
            _ = try await KeychainStorage<RegisteredPet>(account: "pet", in: keychain).get()
        } throws: { error in
            var text = ""
            dump(error, to: &text)
            return (error as? StoreError)?.code == .typeMismatch && "\(error)".contains("RegisteredPet")
                && !["Lucky", "dict-key", "\"age\""].contains { text.contains($0) || "\(error)".contains($0) }
        }
        #expect(inner.dump().map(\.value) == before)
        let read = try await KeychainStorage<[String: Pet]>(account: "pet", in: keychain).get()
        #expect(read == ["dict-key": lucky])
    }

    @Test("A keychain item can be read as another type that fits, and replaced by one that does not")
    func replacesItemType() async throws {
        let (keychain, _) = try vaultInMemory()
        struct Named: Codable { var name: String }
        try await KeychainStorage<Pet>(account: "pet", in: keychain).save(item: lucky)
        let named = try await KeychainStorage<Named>(account: "pet", in: keychain).get()
        #expect(named?.name == "Lucky")
        try await KeychainStorage<Int>(account: "pet", in: keychain).save(item: 7)
        let number = try await KeychainStorage<Int>(account: "pet", in: keychain).get()
        #expect(number == 7)
    }

    @Test("The files of a vault contain neither the name nor the content of a keychain item")
    func sealsItemOnDisk() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            let storage = KeychainStorage<Pet>(account: "account-canary", in: VaultProvider(over: vault))
            try await storage.save(item: Pet(name: "content-canary"))
            let read = try await storage.get()
            #expect(read?.name == "content-canary")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names.contains("vault.sqlite"))
            var written = 0
            for name in names {
                let bytes = try Data(contentsOf: URL(filePath: "\(directory.path)/\(name)"))
                written += bytes.count
                for text in ["account-canary", "content-canary", "\"name\""] {
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) was found in \(name)")
                }
            }
            #expect(written > 4096)
        }
    }

    @Test("A keychain item can be read after a restart")
    func keepsItemAfterRestart() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            try await KeychainStorage<Pet>(account: "pet", in: VaultProvider(over: directory.createVault(.keyFile))).save(
                item: lucky)
            let read = try await KeychainStorage<Pet>(account: "pet", in: VaultProvider(over: directory.openVault())).get()
            #expect(read == lucky)
        }
    }
}
