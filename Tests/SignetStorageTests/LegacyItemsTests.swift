import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("Items of Ping's KeychainStorage")
struct LegacyItemsTests {
    private struct Session: Codable, Sendable, Equatable {
        var token: String
    }

    private static let service = "com.pingidentity.keychainService"

    private static func keychain(_ store: any RecordStore = MemoryStore()) -> VaultProvider {
        VaultProvider { () throws(StoreError) in store }
    }

    /// Returns an exported archive with items of Ping's service and of another one.
    private static func archive(_ items: [String: Data]) throws -> LegacyArchive {
        var list: [[String: Any]] = items.map { ["svce": service, "acct": $0.key, "v_Data": $0.value] }
        list.append(["svce": "com.example", "acct": "other", "v_Data": Data("{}".utf8)])
        return try LegacyArchive(try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
    }

    @Test("A KeychainStorage reads an item that Ping's storage with the same account and encryptor wrote")
    func readsItemOfPing() async throws {
        let keychain = Self.keychain()
        let encryptor = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 7, count: 32)))
        let plain = try JSONEncoder().encode(Session(token: "one"))
        let items = ["plain": plain, "sealed": try await encryptor.encrypt(data: plain)]
        #expect(try await keychain.takeOverItems(from: Self.archive(items)) == 2)
        let session = try await KeychainStorage<Session>(account: "plain", in: keychain).get()
        #expect(session == Session(token: "one"))
        let sealed = try await KeychainStorage<Session>(account: "sealed", encryptor: encryptor, in: keychain).get()
        #expect(sealed == Session(token: "one"))
        let other = try await KeychainStorage<Session>(account: "other", in: keychain).get()
        #expect(other == nil)
    }

    @Test("An item that is stored already stays, and one that was removed since does not come back")
    func takesOverOnce() async throws {
        let keychain = Self.keychain()
        let storage = KeychainStorage<Session>(account: "a", in: keychain)
        try await storage.save(item: Session(token: "new"))
        let old = try JSONEncoder().encode(Session(token: "old"))
        let archive = try Self.archive(["a": old, "b": old])
        #expect(try await keychain.takeOverItems(from: archive) == 1)
        #expect(try await storage.get() == Session(token: "new"))
        let other = KeychainStorage<Session>(account: "b", in: keychain)
        try await other.delete()
        #expect(try await keychain.takeOverItems(from: archive) == 0)
        let removed = try await other.get()
        #expect(removed == nil)
    }

    /// A store of an app that cannot open an item.
    private struct LockedStore: LegacyStore {
        func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem] {
            [LegacyItem(name: "a", content: Data("{}".utf8)), LegacyItem(name: "b", content: nil)]
        }
    }

    @Test("An item that cannot be read now is taken over by a later call, and the others at once")
    func takesOverUnreadableItemLater() async throws {
        let keychain = Self.keychain()
        #expect(try await keychain.takeOverItems(from: LockedStore()) == 1)
        let archive = try Self.archive(["a": Data("{}".utf8), "b": Data("{}".utf8)])
        #expect(try await keychain.takeOverItems(from: archive) == 1)
        #expect(try await keychain.takeOverItems(from: archive) == 0)
    }

    @Test("A vault that fails during the transaction has none of the items, and the next call takes over all")
    func takesOverAllOrNothing() async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = Self.keychain(store)
        let archive = try Self.archive(["a": Data("{}".utf8), "b": Data("{}".utf8)])
        store.inject(StoreFault(.full, at: .commit))
        await #expect(throws: StoreError.self) { try await keychain.takeOverItems(from: archive) }
        store.reset()
        #expect(try await keychain.takeOverItems(from: archive) == 2)
    }

    @Test("An archive without items marks nothing, so that a later one is taken over")
    func ignoresEmptyArchive() async throws {
        let keychain = Self.keychain()
        #expect(try await keychain.takeOverItems(from: Self.archive([:])) == 0)
        #expect(try await keychain.takeOverItems(from: Self.archive(["a": Data("{}".utf8)])) == 1)
    }

    @Test("A damaged list of items is an error with the code corrupt")
    func refusesDamagedArchive() {
        for bytes in [Data(), Data("bplist00".utf8), Data("{}".utf8)] {
            #expect {
                try LegacyArchive(bytes)
            } throws: {
                ($0 as? StoreError)?.code == .corrupt
            }
        }
    }

    @Test("The description of an item shows no content")
    func describesItemWithoutContent() {
        let item = LegacyItem(name: "name", content: Data("secret".utf8))
        var dumped = ""
        dump(item, to: &dumped)
        #expect(!"\(item) \(dumped)".contains("secret"))
    }
}
