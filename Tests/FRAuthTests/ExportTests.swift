// Only FRAuth: the test compiles only if one import is enough.
import FRAuth
import Testing

/// A storage of the app, as in docs/guides/migrating-forgerock-ios.md.
private actor MyTokenStore: Storage {
    private var token: StoredAccessToken?

    func save(item: StoredAccessToken) async throws { token = item }
    func get() async throws -> StoredAccessToken? { token }
    func delete() async throws { token = nil }
}

@Suite("An app that imports FRAuth only")
struct ExportTests {
    @Test("An app names the types of FRAuth's signatures and sets a store of its own")
    func setsOwnStore() throws {
        try FRAuthProcess.$current.withValue(FRAuthProcess()) {
            try FRAuth.setStore(
                SessionStore(
                    tokens: MyTokenStore(), session: KeychainStorage<SSOToken>(account: "com.example.app/session"),
                    cookies: MemoryStorage<CookieJar>()))
        }
        let types: [Any.Type] = [
            AuthorizedTransport.self, Endpoint.self, LogOutReport.self, Secret.self, StoreError.self, VaultProvider.self,
        ]
        let names = types.map { "\($0)" }
        #expect(names == ["AuthorizedTransport", "Endpoint", "LogOutReport", "Secret", "StoreError", "VaultProvider"])
    }

    @Test("An app names the types of Foundation in FRAuth's signatures")
    func namesFoundationTypesWithFRAuthOnly() throws {
        let url = try #require(URL(string: "https://api.example.test/accounts"))
        let policy = TokenManagementPolicy(validatingURL: [url])
        #expect(policy.validateURL(request: URLRequest(url: url)))
    }
}
