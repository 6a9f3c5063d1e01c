import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The grant client_credentials")
struct ClientCredentialsGrantTests {
    private static let secret = "service secret"

    private static let service = RegisteredClient(id: "service", secret: Secret(secret.utf8)) {
        $0.grantTypes = [.clientCredentials, .authorizationCode, .refreshToken]
        $0.scopes = ["openid", "read", "write", "offline_access"]
        $0.accessTokens = .jwt
    }

    @Test("A confidential client gets an access token for itself, without a refresh token and an id_token")
    func issuesTokenForClient() async throws {
        try await TestServer.run(clients: [Self.service]) { server in
            let reply = try await server.ownToken("service", Self.secret)
            #expect(reply.status == 200 && reply.header("Cache-Control") == "no-store")
            #expect(Set(reply.json.object?.keys.sorted() ?? []) == ["access_token", "token_type", "expires_in", "scope"])
            #expect(reply.json["scope"] == "read write" && reply.json["token_type"] == "Bearer")
            let claims = try await server.claims(try #require(reply.json["access_token"]?.string))
            #expect(
                claims["sub"] == "service" && claims["client_id"] == "service" && claims["grant_type"] == "client_credentials")
            #expect(claims["auth_time"] == nil && claims["acr"] == nil)
        }
    }

    @Test(
        "The scopes of the token are those that the client requests and may have",
        arguments: [
            ("read", "read", nil), ("read openid", "read", nil), ("write read", "write read", nil), (nil, "read write", nil),
            ("admin", nil, "invalid_scope"), ("openid", nil, "invalid_scope"),
        ] as [(String?, String?, String?)])
    func limitsScopes(asked: String?, granted: String?, error: String?) async throws {
        try await TestServer.run(clients: [Self.service]) { server in
            let reply = try await server.ownToken("service", Self.secret, ["scope": asked])
            #expect(reply.json["scope"]?.string == granted && reply.error == error)
        }
    }

    @Test(
        "A client that can't authenticate itself, or may not use the grant, gets no token",
        arguments: [
            ("service", "wrong", 401, "invalid_client"), ("service", nil, 401, "invalid_client"),
            ("web", "s3cret: +%", 400, "unauthorized_client"), ("app", nil, 400, "unauthorized_client"),
            ("public", nil, 400, "unauthorized_client"), ("nobody", "x", 401, "invalid_client"),
        ] as [(String, String?, Int, String)])
    func refusesOtherClients(client: String, secret: String?, status: Int, error: String) async throws {
        let open = RegisteredClient(id: "public") { $0.grantTypes = [.clientCredentials] }
        try await TestServer.run(clients: [Self.service, open]) { server in
            let reply = try await server.postForm(
                "access_token", ["grant_type": "client_credentials", "client_id": client, "client_secret": secret])
            #expect(reply.status == status && reply.error == error)
        }
    }

    @Test("The token is about no user, also when a user has the name of the client")
    func tokenHasNoUser() async throws {
        let configuration = ServerConfiguration.sample {
            $0.clients.append(Self.service)
            $0.users.append(User(name: "service", password: Secret("p".utf8), claims: ["email": "service@example.test"]))
        }
        try await TestServer.run(configuration) { server in
            let token = try #require(try await server.ownToken("service", Self.secret).json["access_token"]?.string)
            let info = try await server.userInfo(token)
            #expect(info.status == 401 && !info.text.contains("service@example.test"))
            let description = try await server.introspect(token)
            #expect(description["active"] == .bool(true) && description["sub"] == "service")
            #expect(description["username"] == nil && description["user_id"] == nil)
            // The lock of the user has nothing to do with the client.
            _ = try await server.devServer.setLocked(true, "service")
            let isActive = try await server.isActive(token)
            #expect(isActive)
        }
    }

    @Test("The token expires by the server's clock, and can be revoked")
    func tokenEnds() async throws {
        try await TestServer.run(clients: [Self.service]) { server in
            let revoked = try #require(try await server.ownToken("service", Self.secret).json["access_token"]?.string)
            let kept = try #require(try await server.ownToken("service", Self.secret).json["access_token"]?.string)
            let reply = try await server.postForm(
                "token/revoke", ["token": revoked, "client_id": "service", "client_secret": Self.secret])
            #expect(reply.status == 200)
            var states = [try await server.isActive(revoked), try await server.isActive(kept)]
            #expect(states == [false, true])
            server.clock.advance(by: 3601)
            states = [try await server.isActive(kept)]
            #expect(states == [false])
        }
    }

    @Test("The grants of a client are those of its configuration, at authorize, at device/code and for refresh tokens too")
    func limitsGrants() async throws {
        let client = RegisteredClient(id: "narrow", redirectURIs: [TestServer.redirectURI]) {
            $0.grantTypes = [.authorizationCode]
        }
        let none = RegisteredClient(id: "none", redirectURIs: [TestServer.redirectURI]) { $0.grantTypes = [] }
        try await TestServer.run(clients: [client, none]) { server in
            let tokens = try await server.tokens(client: "narrow")
            #expect(tokens.refresh == nil)
            let refused = try await server.refresh("x", client: "narrow")
            #expect(refused.error == "unauthorized_client")
            let device = try await server.postForm("device/code", ["client_id": "narrow"])
            #expect(device.error == "unauthorized_client")
            let answer = try await server.authorize(try await server.session(), client: "none").location
            #expect(answer["error"] == "unauthorized_client" && answer["code"] == nil)
        }
    }

    @Test("The configuration file gives a client its grants, and none to a public client that needs a confidential one")
    func readsGrants() throws {
        let file = try ServerConfiguration(
            yaml: "clients: [{id: a, secret: s, grantTypes: [client_credentials, token_exchange, device_code]}, {id: b}]")
        #expect(file.clients[0].grantTypes == [.clientCredentials, .tokenExchange, .deviceCode])
        #expect(file.clients[1].grantTypes == [.authorizationCode, .refreshToken, .deviceCode])
        for grant in ["client_credentials", "token_exchange", "password"] {
            let yaml = "clients: [{id: a, grantTypes: [\(grant)]}]"
            #expect(throws: ConfigurationError.self, "\(grant)") { try ServerConfiguration(yaml: yaml) }
        }
    }

    // MARK: Generated secrets

    @Test("The secret of the starter file's service is random for each state, and the same at each start of one state")
    func generatesSecrets() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let secrets = Mutex<[String]>([])
        for file in ["one", "one", "two"] {
            var configuration = ServerConfiguration.starter
            configuration.state = .file(directory.file("\(file)/server.sqlite"))
            try await TestServer.run(configuration) { server in
                let generated = try await server.devServer.generatedSecret(of: "service")
                let secret = try #require(generated).text
                secrets.withLock { $0.append(secret) }
                let reply = try await server.ownToken("service", secret, ["scope": "read"])
                #expect(reply.status == 200)
                let bare = try await server.postForm(
                    "access_token", ["grant_type": "client_credentials", "client_id": "service"])
                #expect(bare.status == 401)
                let ofPublicClient = try await server.devServer.generatedSecret(of: "app")
                #expect(ofPublicClient == nil)
            }
        }
        let all = secrets.withLock { $0 }
        #expect(all[0] == all[1] && all[0] != all[2] && all[0].utf8.count == 43)
    }
}
