import Foundation
import PingOidc
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("Tokens and cookies that the Ping SDK stored")
struct StoredTokensTests {
    private static let tokens = Data(
        #"{"access_token":"A","token_type":"Bearer","scope":null,"expires_in":600,"refresh_token":"R","expires_at":4102444800}"#
            .utf8)
    private static let cookies = Data(
        #"[{"version":0,"name":"c","value":"V","isSessionOnly":true,"domain":"a.test","isSecure":true,"isHTTPOnly":true}]"#.utf8)

    private static func encryptor() throws -> SoftwareKeyEncryptor {
        try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 7, count: 32)))
    }

    /// Returns a vault that took over the items of an exported archive.
    private static func keychain(
        _ items: [String: Data], in store: any RecordStore = MemoryStore()
    ) async throws -> VaultProvider {
        let keychain = VaultProvider { () throws(StoreError) in store }
        _ = try await keychain.takeOverItems(from: archive(items))
        return keychain
    }

    private static func archive(_ items: [String: Data]) throws -> LegacyArchive {
        let list: [[String: Any]] = items.map {
            ["svce": "com.pingidentity.keychainService", "acct": $0.key, "v_Data": $0.value]
        }
        return try LegacyArchive(PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
    }

    /// An encryptor whose key cannot be used the first time.
    private final class LockedEncryptor: Encryptor {
        private let encryptor: SoftwareKeyEncryptor
        private let isLocked = Mutex(true)

        init(_ encryptor: SoftwareKeyEncryptor) { self.encryptor = encryptor }

        func encrypt(data: Data) async throws -> Data { try await encryptor.encrypt(data: data) }

        func decrypt(data: Data) async throws -> Data {
            let wasLocked = isLocked.withLock { isLocked -> Bool in
                defer { isLocked = false }
                return isLocked
            }
            if wasLocked { throw StoreError(.keyUnavailable, "decrypt", "the device is locked") }
            return try await encryptor.decrypt(data: data)
        }
    }

    /// Returns the storage of tokens of a client at its start.
    private static func storage(
        of client: String, in keychain: VaultProvider, openedBy encryptor: (any Encryptor)? = nil
    ) -> StorageSetting<Token> {
        let config = OidcClientConfig()
        config.tokens.useAccount(
            "\(OidcClientConfig.account)/\(client)", in: keychain, openedBy: encryptor, accepting: { $0.isIssued(to: client) })
        return config.tokens
    }

    private static func record(_ name: String, in keychain: VaultProvider) async throws -> Data? {
        try await keychain.read { (records) throws(StoreError) -> Data? in
            try records.record(RecordKey(.item, name)).map { Data($0) }
        }
    }

    private static func token(_ value: String) -> Token {
        Token(accessToken: value, tokenType: "Bearer", scope: nil, expiresIn: 60, refreshToken: nil, idToken: nil)
    }

    @Test("The first client takes over the tokens, and another client does not get them", arguments: [false, true])
    func takesOverTokensForFirstClient(isSealed: Bool) async throws {
        let encryptor = try Self.encryptor()
        let stored = try await isSealed ? encryptor.encrypt(data: Self.tokens) : Self.tokens
        let keychain = try await Self.keychain([OidcClientConfig.account: stored])
        let first = try await Self.storage(of: "a", in: keychain, openedBy: encryptor).get()
        #expect(first?.accessToken == "A" && first?.refreshToken == "R" && first?.expiresAt == 4_102_444_800)
        let other = try await Self.storage(of: "b", in: keychain, openedBy: encryptor).get()
        #expect(other == nil)
        let again = try await Self.storage(of: "a", in: keychain).get()
        #expect(again?.accessToken == "A")
        let original = try await Self.record(OidcClientConfig.account, in: keychain)
        #expect(original == stored)
    }

    @Test("Tokens that were removed or replaced are not taken over again")
    func takesOverTokensOnce() async throws {
        let removed = try await Self.keychain([OidcClientConfig.account: Self.tokens])
        try await Self.storage(of: "a", in: removed).delete()
        let afterRemoval = try await Self.storage(of: "a", in: removed).get()
        #expect(afterRemoval == nil)

        let replaced = try await Self.keychain([OidcClientConfig.account: Self.tokens])
        let storage = Self.storage(of: "a", in: replaced)
        try await storage.save(item: Self.token("new"))
        let new = try await storage.get()
        #expect(new?.accessToken == "new")
        try await storage.delete()
        let afterLogOut = try await Self.storage(of: "a", in: replaced).get()
        #expect(afterLogOut == nil)
    }

    @Test("Tokens that were stored before the takeover stay, and no other client gets those of the Ping SDK")
    func keepsNewerTokens() async throws {
        let keychain = try await Self.keychain([OidcClientConfig.account: Self.tokens])
        try await KeychainStorage<Token>(account: "\(OidcClientConfig.account)/a", in: keychain).save(item: Self.token("new"))
        let first = try await Self.storage(of: "a", in: keychain).get()
        #expect(first?.accessToken == "new")
        let other = try await Self.storage(of: "b", in: keychain).get()
        #expect(other == nil)
    }

    @Test("Tokens that do not open stay for the first client, which has none until they open")
    func leavesUnreadableTokens() async throws {
        let encryptor = try Self.encryptor()
        let wrong = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 8, count: 32)))
        let sealed = try await encryptor.encrypt(data: Self.tokens)
        let keychain = try await Self.keychain([OidcClientConfig.account: sealed])
        let storage = Self.storage(of: "a", in: keychain, openedBy: wrong)
        for _ in 1...2 {
            let none = try await storage.get()
            #expect(none == nil)
        }
        let left = try await Self.record(OidcClientConfig.account, in: keychain)
        #expect(left == sealed)
        let other = try await Self.storage(of: "b", in: keychain, openedBy: encryptor).get()
        #expect(other == nil)
        let later = try await Self.storage(of: "a", in: keychain, openedBy: encryptor).get()
        #expect(later?.accessToken == "A")
    }

    @Test("While the key cannot be used, the read fails and changes nothing, and the next read takes over the tokens")
    func takesOverTokensAfterUnlock() async throws {
        let encryptor = try Self.encryptor()
        let keychain = try await Self.keychain([OidcClientConfig.account: try await encryptor.encrypt(data: Self.tokens)])
        let storage = Self.storage(of: "a", in: keychain, openedBy: LockedEncryptor(encryptor))
        await #expect(throws: StoreError.self) { _ = try await storage.get() }
        let tokens = try await storage.get()
        #expect(tokens?.accessToken == "A")
    }

    @Test("Tokens for another client stay for it, also after this client stored and removed its own")
    func leavesTokensOfOtherClient() async throws {
        // {"alg":"none"}.{"aud":"b"}
        let idToken = "eyJhbGciOiJub25lIn0.eyJhdWQiOiJiIn0."
        let stored = Data(
            #"{"access_token":"A","scope":null,"expires_in":600,"expires_at":4102444800,"id_token":"\#(idToken)"}"#.utf8)
        let encryptor = try Self.encryptor()
        let keychain = try await Self.keychain([OidcClientConfig.account: try await encryptor.encrypt(data: stored)])
        let first = Self.storage(of: "a", in: keychain, openedBy: encryptor)
        let none = try await first.get()
        #expect(none == nil)
        try await first.save(item: Self.token("own"))
        // The next start of the client.
        let next = Self.storage(of: "a", in: keychain, openedBy: encryptor)
        let own = try await next.get()
        #expect(own?.accessToken == "own")
        try await next.delete()
        let other = try await Self.storage(of: "b", in: keychain, openedBy: encryptor).get()
        #expect(other?.accessToken == "A")
    }

    @Test("A log-out removes the copy of the taken-over tokens too, and a second archive does not bring them back")
    func removesCopy() async throws {
        let keychain = try await Self.keychain([OidcClientConfig.account: Self.tokens])
        let tokens = try await Self.storage(of: "a", in: keychain).get()
        #expect(tokens?.accessToken == "A")
        try await Self.storage(of: "b", in: keychain).delete()
        let copy = try await Self.record(OidcClientConfig.account, in: keychain)
        #expect(copy == Self.tokens)
        try await Self.storage(of: "a", in: keychain).delete()
        // As if an item of the first archive had been unreadable.
        try await keychain.write { (records) throws(StoreError) -> Void in
            try records.remove(RecordKey(.item, "signet", "taken over from Ping"))
        }
        let count = try await keychain.takeOverItems(from: Self.archive([OidcClientConfig.account: Self.tokens]))
        let removed = try await Self.record(OidcClientConfig.account, in: keychain)
        #expect(count == 0 && removed == nil)
    }

    @Test("Tokens that cannot be stored are returned, and stored by a later read")
    func returnsTokensFromFullVault() async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = try await Self.keychain([OidcClientConfig.account: Self.tokens], in: store)
        let storage = Self.storage(of: "a", in: keychain)
        store.inject(StoreFault(.full, at: .commit))
        let tokens = try await storage.get()
        let unstored = try await Self.record("\(OidcClientConfig.account)/a", in: keychain)
        #expect(tokens?.accessToken == "A" && unstored == nil)
        store.reset()
        let again = try await storage.get()
        let stored = try await Self.record("\(OidcClientConfig.account)/a", in: keychain)
        #expect(again?.accessToken == "A" && stored != nil)
    }

    @Test("A save that fails changes neither the item nor the one that can be taken over")
    func savesInOneStep() async throws {
        let store = FaultyStore(MemoryStore())
        let keychain = try await Self.keychain([OidcClientConfig.account: Self.tokens], in: store)
        let storage = Self.storage(of: "a", in: keychain)
        let puts = Mutex(0)
        let isSecond = { @Sendable (_: StoreCall) -> Bool in
            puts.withLock { count -> Bool in
                count += 1
                return count == 2
            }
        }
        store.inject(StoreFault(.full, at: .put, .when(isSecond)))
        await #expect(throws: StoreError.self) { try await storage.save(item: Self.token("new")) }
        let tokens = try await storage.get()
        #expect(tokens?.accessToken == "A")
    }

    @Test("An item that an app stored itself under the Ping SDK's name is not taken over")
    func leavesItemOfApp() async throws {
        let keychain = try await Self.keychain([:])
        try await KeychainStorage<Token>(account: OidcClientConfig.account, in: keychain).save(item: Self.token("own"))
        let none = try await Self.storage(of: "a", in: keychain).get()
        #expect(none == nil)
    }

    @Test("A sealed item under the app's own account is read, and stored opened")
    func opensItemUnderOwnAccount() async throws {
        let encryptor = try Self.encryptor()
        let keychain = try await Self.keychain(["user 1": try await encryptor.encrypt(data: Self.cookies)])
        let first = LegacyItemStorage<[CustomHTTPCookie]>(account: "user 1", in: keychain, openedBy: encryptor)
        let cookies = try await first.get()
        #expect(cookies?.first?.value == "V")
        let original = try await first.original()
        #expect(original?.first?.value == "V")
        let again = try await KeychainStorage<[CustomHTTPCookie]>(account: "user 1", in: keychain).get()
        #expect(again?.first?.value == "V")
        try await first.save(item: [])
        let replaced = try await first.original()
        #expect(replaced == nil)
    }

    @Test("A sealed item under the app's own account that does not open causes no error and stays until the app stores another")
    func leavesUnreadableItemUnderOwnAccount() async throws {
        let sealed = try await Self.encryptor().encrypt(data: Self.cookies)
        let keychain = try await Self.keychain(["user 1": sealed, "other": Data("{}".utf8)])
        let wrong = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 8, count: 32)))
        let storage = LegacyItemStorage<[CustomHTTPCookie]>(account: "user 1", in: keychain, openedBy: wrong)
        let none = try await storage.get()
        #expect(none == nil)
        let left = try await Self.record("user 1", in: keychain)
        #expect(left == sealed)
        try await storage.save(item: [])
        let new = try await storage.get()
        #expect(new?.isEmpty == true)
        let other = LegacyItemStorage<[CustomHTTPCookie]>(account: "other", in: keychain, openedBy: wrong)
        await #expect(throws: StoreError.self) { _ = try await other.get() }
    }
}
