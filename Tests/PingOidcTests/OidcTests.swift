import Foundation
import PingOidc
import SignetCore
import SignetOAuth
import Testing

@Suite("OAuth 2.0 clients under the Ping SDK's names")
struct OidcTests {
    @Test("Tokens that the Ping SDK stored, and responses of a token endpoint, are read")
    func readsTokens() throws {
        let stored = #"{"access_token":"A","token_type":"Bearer","expires_in":600,"refresh_token":"R","expires_at":1700000600}"#
        let token = try JSONDecoder().decode(Token.self, from: Data(stored.utf8))
        #expect(token.accessToken == "A" && token.refreshToken == "R" && token.idToken == nil && token.scope == nil)
        #expect(token.expiresIn == 600 && token.expiresAt == 1_700_000_600 && token.isExpired)
        let fresh = try JSONDecoder().decode(Token.self, from: Data(#"{"access_token":"A","expires_in":600}"#.utf8))
        #expect(!fresh.isExpired && fresh.isExpired(threshold: 601) && fresh.tokenType == nil)
    }

    @Test("Stored tokens are read again, and no description contains a token")
    func readsStoredTokensAgain() throws {
        let token = Token(
            accessToken: "first-secret", tokenType: "Bearer", scope: "openid", expiresIn: 60, refreshToken: "second-secret",
            idToken: "third-secret")
        let again = try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token))
        #expect(again.accessToken == "first-secret" && again.expiresIn == 60 && again.expiresAt == token.expiresAt)
        #expect(again.idToken == "third-secret" && again.scope == "openid")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token) \(String(reflecting: token)) \(dumped)".contains("secret"))
    }

    @Test("Settings are set as properties, and a copy has the same values and storage")
    func copiesSettings() async throws {
        let config = OidcClientConfig()
        config.clientId = "app"
        config.scopes = ["openid"]
        config.scope("profile")
        config.acrValues = "level2"
        config.additionalParameters["claims"] = "{}"
        let storage = MemoryStorage<Token>()
        config.storage = storage
        let copy = config.clone()
        #expect(copy.clientId == "app" && copy.scopes == ["openid", "profile"] && copy.acrValues == "level2")
        try await copy.storage.save(
            item: Token(accessToken: "A", tokenType: nil, scope: nil, expiresIn: 60, refreshToken: nil, idToken: nil))
        let stored = try await storage.get()
        #expect(stored?.accessToken == "A")
    }

    @Test("The settings for the engine contain the level of authentication, and require no acr in the ID token")
    func requiresNoACR() {
        let config = OidcClientConfig()
        config.clientId = "app"
        config.redirectUri = "com.example.app://callback"
        config.acrValues = "level2"
        let client = config.settings.client
        #expect(client?.authorizationParameters == ["acr_values": "level2"] && client?.requiresACR == false)
    }

    @Test("A client returns a stored token, and without one requires a login")
    func returnsStoredToken() async throws {
        let config = OidcClientConfig()
        config.clientId = "app"
        config.redirectUri = "com.example.app://callback"
        config.storage = MemoryStorage<Token>()
        let user: any User = OidcUser(config: config)
        guard case .failure(.authorizeError) = await user.token() else {
            Issue.record("a token without a login")
            return
        }
        try await config.storage.save(
            item: Token(accessToken: "A", tokenType: "Bearer", scope: nil, expiresIn: 60, refreshToken: nil, idToken: nil))
        let token = try await user.token().get()
        #expect(token.accessToken == "A")
        guard case .failure(.unknown) = await OidcUser(config: OidcClientConfig()).token() else {
            Issue.record("a token without a client")
            return
        }
    }

    /// A transport that keeps its requests, and whose server is out of order.
    private final class Recording: HTTPTransport {
        private let log = Mutex<[HTTPRequest]>([])
        var requests: [HTTPRequest] { log.withLock { $0 } }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            log.withLock { $0.append(request) }
            return HTTPResponse(status: 503)
        }

        func stream(_ request: HTTPRequest, receive: ContentReceiver) async throws -> HTTPResponse { try await send(request) }
    }

    @Test("Each request of a client without a workflow identifies the SDK")
    func identifiesPingSDKWithoutWorkflow() async throws {
        let (config, transport) = (OidcClientConfig(), Recording())
        config.clientId = "app"
        config.redirectUri = "com.example.app://callback"
        config.httpClient = HttpClient(transport: transport)
        config.openId = OpenIdConfiguration(
            authorizationEndpoint: "https://id.example.test/authorize", tokenEndpoint: "https://id.example.test/token",
            userinfoEndpoint: "https://id.example.test/userinfo", endSessionEndpoint: "https://id.example.test/end",
            revocationEndpoint: "https://id.example.test/revoke")
        config.storage = MemoryStorage<Token>()
        try await config.storage.save(
            item: Token(accessToken: "A", tokenType: "Bearer", scope: nil, expiresIn: 60, refreshToken: "R", idToken: nil))
        guard case .failure = await OidcClient(config: config).refresh() else {
            Issue.record("a token from a server that is out of order")
            return
        }
        #expect(!transport.requests.isEmpty)
        for request in transport.requests {
            #expect(request.headers.all("x-requested-with") == ["ping-sdk"])
            #expect(request.headers.all("x-requested-platform") == ["ios"])
        }
    }

    @Test("The values of an authorization request are random, and the challenge belongs to the verifier")
    func makesProofKeys() {
        let (first, second) = (Pkce.generate(), Pkce.generate())
        #expect(first.codeVerifier != second.codeVerifier && first.state != second.state)
        #expect(first.codeChallengeMethod == "S256" && first.codeChallenge.count == 43)
    }
}
