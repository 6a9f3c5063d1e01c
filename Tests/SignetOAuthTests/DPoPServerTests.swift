import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Bound tokens, pushed requests and client keys at signet serve")
struct DPoPServerTests {
    private static let redirectURI = "http://127.0.0.1/callback"

    /// Runs `body` with a server whose clients are `clients`, in YAML.
    private func withServer(
        _ clients: String, settings: String = "", _ body: (TestServer.Live) async throws -> Void
    ) async throws {
        let yaml = """
            users: [{name: demo, password: password}]
            \(settings)
            clients:
            \(clients)
            """
        try await TestServer.live(ServerConfiguration(yaml: yaml), body)
    }

    /// Returns an app that has logged in with a journey.
    private func app(
        _ server: TestServer.Live, dpop: DPoPMode = .software, authentication: ClientAuthentication = .none,
        pushesRequests: Bool = false
    ) async throws -> IdentityClient {
        var profile = try ServerProfile(url: server.url)
        profile.client = OAuthClient(
            clientID: "app", redirectURI: Self.redirectURI, scopes: ["openid"], authentication: authentication, dpop: dpop,
            pushesRequests: pushesRequests)
        let app = try IdentityClient(
            try await profile.discovering(over: server.transport), store: SessionStore.memory(), transport: server.transport)
        guard case .step(var step) = try await app.journeys.start() else { throw TestUser.UnexpectedState() }
        try step.fill(NameCallback.self) { $0.name = "demo" }
        try step.fill(PasswordCallback.self) { $0.fill(Secret("password".utf8)) }
        guard case .loggedIn = try await app.journeys.next(step) else { throw TestUser.UnexpectedState() }
        return app
    }

    private static let bound = "  - {id: app, redirectURIs: [\"\(redirectURI)\"], dpopBoundAccessTokens: true}"

    @Test("The server binds the tokens of a client that requires it, and takes them with a proof only", arguments: [false, true])
    func serverBindsTokens(requiresNonce: Bool) async throws {
        try await withServer(Self.bound, settings: "server: {dpop: {requireNonce: \(requiresNonce)}}") { server in
            let app = try await app(server)
            let first = try await app.tokens.token()
            let claims = try await app.userInfo().claims
            let second = try await app.tokens.refresh()
            #expect(first.isBound && second.isBound && second.binding?.key == first.binding?.key)
            #expect(claims["sub"] != nil && (second.binding?.nonces.isEmpty == false) == requiresNonce)
            let url = try #require(OAuthEndpoints(app.profile).userInfo)
            for scheme in ["Bearer", "DPoP"] {
                let request = HTTPRequest("GET", url, headers: ["Authorization": "\(scheme) \(second.value.text)"])
                let response = try await server.transport.send(request)
                #expect(response.status == 401, "\(scheme)")
            }
            let report = await app.logOut()
            #expect(report.tokens == .done)
        }
    }

    @Test("The server refuses a client that requires bound tokens and sends no proof")
    func serverRefusesMissingProof() async throws {
        try await withServer(Self.bound) { server in
            let app = try await app(server, dpop: .none)
            let error = await outcome { try await app.tokens.token() }.tokenError
            guard case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.status == 400)
        }
    }

    @Test("The refresh token of a public client is bound to its key")
    func serverBindsRefreshToken() async throws {
        try await withServer(Self.bound) { server in
            let app = try await app(server)
            var stolen = try await app.tokens.token()
            let other = try SigningKeyProvider().create(.software)
            stolen.binding = TokenBinding(key: other.reference)
            stolen.session = nil
            let store = try SessionStore.memory()
            try await store.save(stolen)
            let attacker = try TokenSource(app.profile, store: store, transport: server.transport)
            let error = await outcome { try await attacker.refresh() }.tokenError
            #expect(error?.code == .loginRequired || error?.code == .refused, "\(String(describing: error))")
        }
    }

    @Test("A client with a key pushes its requests to a server that requires it, and authenticates everywhere")
    func serverTakesPushedRequests() async throws {
        let key = try ClientKey(SigningKeyProvider().create(.software), identifier: "app-1")
        let clients = """
              - id: app
                redirectURIs: ["\(Self.redirectURI)"]
                requirePushedAuthorizationRequests: true
                jwks: {"keys": [\(key.publicJWK)]}
              - id: web
                redirectURIs: ["\(Self.redirectURI)"]
            """
        try await withServer(clients) { server in
            // The metadata requires pushed requests only when each client of the realm has to push them.
            let plain = try await app(server, authentication: .privateKeyJWT(key))
            let refused = await outcome { try await plain.tokens.token() }.tokenError
            #expect(refused != nil)
            let pushing = try await app(server, authentication: .privateKeyJWT(key), pushesRequests: true)
            let token = try await pushing.tokens.token()
            let renewed = try await pushing.tokens.refresh()
            #expect(token.isBound && renewed.isBound)
            let report = await pushing.logOut()
            #expect(report.tokens == .done)
        }
    }

    @Test("A service gets tokens with its key, and with its secret")
    func serverIssuesServiceTokens() async throws {
        let key = try ClientKey(SigningKeyProvider().create(.software), identifier: "billing-1")
        let clients = """
              - {id: billing, grantTypes: [client_credentials], scopes: [read], jwks: {"keys": [\(key.publicJWK)]}}
              - {id: reports, grantTypes: [client_credentials], scopes: [read], secret: s3cret}
            """
        try await withServer(clients) { server in
            let services: [(String, ClientAuthentication)] = [
                ("billing", .privateKeyJWT(key)), ("reports", .clientSecretBasic(Secret("s3cret".utf8))),
            ]
            for (name, authentication) in services {
                var profile = try ServerProfile(url: server.url)
                profile.client = OAuthClient(service: name, scopes: ["read"], authentication: authentication, dpop: .software)
                let tokens = try TokenSource(service: profile, store: SessionStore.memory(), transport: server.transport)
                let token = try await tokens.token()
                #expect(token.isBound && token.refreshToken == nil && token.scope == "read", "\(name)")
            }
        }
    }
}
