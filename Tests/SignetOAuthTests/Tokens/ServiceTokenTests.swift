import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("The tokens of a service (client_credentials)")
struct ServiceTokenTests {
    private static let secret = ClientAuthentication.clientSecretPost(Secret("s3cret".utf8))

    /// Returns a source for a service of the provider.
    private func service(
        _ provider: BoundProvider, dpop: DPoPMode = .software, store: SessionStore,
        authentication: ClientAuthentication = Self.secret, scopes: [String] = ["read"]
    ) throws -> TokenSource {
        let base = BoundProvider.base
        let profile = try ServerProfile(url: base, endpoints: [.token: "\(base)/token", .revoke: "\(base)/revoke"]) {
            $0.issuer = base
            $0.client = OAuthClient(service: "billing", scopes: scopes, authentication: authentication, dpop: dpop)
        }
        return try TokenSource(service: profile, store: store, transport: provider.transport, clock: provider.clock)
    }

    @Test("A service gets a token with its credentials, without a session, and without keeping a refresh token")
    func getsTokenWithCredentials() async throws {
        let provider = BoundProvider { ($0.requiresProof, $0.tokenType) = (false, "Bearer") }
        let tokens = try service(provider, dpop: .none, store: SessionStore.memory())
        let token = try await tokens.token()
        let form = try #require(provider.forms("/token").first)
        let expected = [
            "grant_type": "client_credentials", "client_id": "billing", "client_secret": "s3cret", "scope": "read",
        ]
        #expect(form == expected && token.refreshToken == nil && provider.now.requests.count == 1)
        let again = try await tokens.token()
        #expect(again == token && provider.count("/token") == 1)
    }

    @Test("A service without scopes sends none")
    func sendsNoEmptyScope() async throws {
        let provider = BoundProvider { ($0.requiresProof, $0.tokenType) = (false, "Bearer") }
        _ = try await service(provider, dpop: .none, store: SessionStore.memory(), scopes: []).token()
        let form = try #require(provider.forms("/token").first)
        #expect(form["scope"] == nil)
    }

    @Test("A token of a service is renewed within the threshold, by another request with the credentials and the same key")
    func renewsWithCredentials() async throws {
        let provider = BoundProvider()
        let tokens = try service(provider, store: SessionStore.memory())
        let first = try await tokens.token()
        provider.clock.advance(by: 3500)
        let same = try await tokens.token()
        provider.clock.advance(by: 50)
        let second = try await tokens.token()
        let refreshed = try await tokens.refresh()
        #expect(same == first && second.value != first.value && refreshed.value != second.value)
        #expect(second.binding?.key == first.binding?.key && provider.count("/token") == 3)
        let types = Set(provider.forms("/token").map { $0["grant_type"] })
        #expect(types == ["client_credentials"])
    }

    @Test("A hundred tasks of two sources over one store cause one request and create one key")
    func hundredTasksAskOnce() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        let sources = [try service(provider, store: store), try service(provider, store: store)]
        let found = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for number in 0..<100 { group.addTask { try await sources[number % 2].token() } }
            return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && provider.count("/token") == 1)
        let stored = try await store.token()
        #expect(stored == found.first)
    }

    @Test("A failed renewal returns the token that has not expired, and keeps what is stored")
    func keepsTokenWhenUnreachable() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        let tokens = try service(provider, store: store)
        let first = try await tokens.token()
        provider.change { $0.answers["/token"] = HTTPResponse(status: 503) }
        provider.clock.advance(by: 3550)
        let kept = try await tokens.token()
        provider.clock.advance(by: 100)
        let error = await outcome { try await tokens.token() }.tokenError
        let stored = try await store.token()
        #expect(kept == first && error?.code == .unreachable && stored == first)
        provider.change { $0.answers = [:] }
        let next = try await tokens.token()
        #expect(next.value != first.value)
    }

    @Test("Refused credentials are an error that requires no login and removes nothing")
    func reportsRefusedCredentials() async throws {
        let provider = BoundProvider { $0.answers["/token"] = BoundProvider.refusal("invalid_client", status: 401) }
        let tokens = try service(provider, store: SessionStore.memory())
        let error = await outcome { try await tokens.token() }.tokenError
        #expect(error?.code == .refused && error?.isRetryable == false)
    }

    @Test("A resource that refuses the token of a service gets a new one")
    func replacesRefusedToken() async throws {
        let provider = BoundProvider()
        let tokens = try service(provider, store: SessionStore.memory())
        let api = AuthorizedTransport(provider.transport, tokens: tokens, origins: [try Endpoint(BoundProvider.api)])
        _ = try await tokens.token()
        provider.change { $0.accessTokens = [:] }
        let response = try await api.send(HTTPRequest("GET", BoundProvider.api))
        #expect(response.status == 200 && provider.count("/token") == 2)
    }

    @Test("A token of a service whose key is lost is replaced, because its credentials are there")
    func replacesLostKey() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        var old = try provider.issued(left: -10)
        old.binding = TokenBinding(key: Secret("no reference".utf8))
        try await store.save(old)
        let new = try await service(provider, store: store).token()
        #expect(new.isBound && new.binding?.key != old.binding?.key && provider.count("/token") == 1)
    }

    @Test("A service without credentials, or without a client, is refused")
    func serviceNeedsAuthentication() throws {
        let provider = BoundProvider()
        var keys: [String] = []
        do { _ = try service(provider, store: SessionStore.memory(), authentication: .none) } catch let error as ProfileError {
            keys.append(error.key)
        }
        do {
            let profile = try ServerProfile(url: BoundProvider.base)
            _ = try TokenSource(service: profile, store: SessionStore.memory(), transport: provider.transport)
        } catch let error as ProfileError {
            keys.append(error.key)
        }
        #expect(keys == ["client.authentication", "client.id"])
    }

    @Test("The settings of a client with a secret or a key need no redirect URI")
    func readsSettingsOfService() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("secret")
            try Data("s3cret".utf8).write(to: URL(filePath: path))
            try #require(chmod(path, 0o600) == 0)
            let text = #"{"url":"https://am.example.test/am","client":{"id":"billing","secretFile":"\#(path)"}}"#
            let profile = try ServerProfile(json: text.utf8)
            let client = try #require(profile.client)
            #expect(client.redirectURI == OAuthClient.noRedirectURI && client.scopes.isEmpty)
        }
    }
}
