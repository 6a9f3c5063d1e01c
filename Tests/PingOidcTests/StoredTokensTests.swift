import Foundation
import PingOidc
import SignetCore
import SignetStorage
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
    private static func keychain(_ items: [String: Data]) async throws -> VaultProvider {
        let memory = MemoryStore()
        let keychain = VaultProvider { () throws(StoreError) in memory }
        let list: [[String: Any]] = items.map {
            ["svce": "com.pingidentity.keychainService", "acct": $0.key, "v_Data": $0.value]
        }
        let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        _ = try await keychain.takeOverItems(from: LegacyArchive(bytes))
        return keychain
    }

    /// Returns the storage of tokens of a client at its start.
    private static func storage(
        of client: String, in keychain: VaultProvider, openedBy encryptor: (any Encryptor)? = nil
    ) -> StorageSetting<Token> {
        let config = OidcClientConfig()
        config.tokens.useAccount("\(OidcClientConfig.account)/\(client)", in: keychain, openedBy: encryptor)
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
