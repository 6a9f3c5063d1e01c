import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Token exchange (RFC 8693)")
struct TokenExchangeTests {
    private static let (accessType, idType, jwtType) = (
        TokenExchange.TokenType.accessToken.rawValue, TokenExchange.TokenType.idToken.rawValue,
        TokenExchange.TokenType.jwt.rawValue
    )
    private static let secret = "gateway secret"
    private static let api = "https://api.example.test"

    /// The service that exchanges tokens.
    private static let gateway = RegisteredClient(id: "gateway", secret: Secret(secret.utf8)) {
        $0.grantTypes = [.tokenExchange, .clientCredentials]
        $0.scopes = ["openid", "profile", "read"]
        $0.accessTokens = .jwt
        $0.audiences = [api, "https://other.example.test"]
    }

    /// The app whose users log in.
    private static func app(_ format: RegisteredClient.AccessTokenFormat = .opaque, mayAct: [String] = ["gateway"])
        -> RegisteredClient
    {
        RegisteredClient(id: "front", redirectURIs: [TestServer.redirectURI]) {
            $0.scopes = ["openid", "profile", "read", "write", "offline_access"]
            $0.accessTokens = format
            $0.mayAct = mayAct
        }
    }

    private static func exchange(
        _ server: TestServer, _ token: String, _ changes: [String: String?] = [:], type: String = accessType
    ) async throws -> Reply {
        let parameters: [String: String?] = [
            "grant_type": RegisteredClient.GrantType.tokenExchange.rawValue, "client_id": "gateway", "client_secret": secret,
            "subject_token": token, "subject_token_type": type,
        ]
        return try await server.postForm("access_token", parameters.merging(changes) { $1 })
    }

    private static let scope: [String: String?] = ["scope": "openid profile read offline_access"]

    // MARK: Results

    @Test(
        "A service exchanges an access token of a user for one of its own, for the same user",
        arguments: RegisteredClient.AccessTokenFormat.allCases)
    func exchangesAccessToken(format: RegisteredClient.AccessTokenFormat) async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app(format)]) { server in
            let subject = try await server.tokens(client: "front", Self.scope)
            server.clock.advance(by: 600)
            let reply = try await Self.exchange(server, subject.access)
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.json["issued_token_type"] == .string(Self.accessType) && reply.json["token_type"] == "Bearer")
            #expect(reply.json["refresh_token"] == nil && reply.json["id_token"] == nil)
            // It doesn't outlive the token that it was exchanged for.
            #expect(reply.json["expires_in"] == .integer(3000) && reply.json["scope"] == "openid profile read")
            let token = try #require(reply.json["access_token"]?.string)
            let claims = try await server.claims(token)
            #expect(claims["sub"] == "mira" && claims["client_id"] == "gateway" && claims["aud"] == .string(Self.api))
            #expect(claims["act"] == nil)
            let info = try await server.userInfo(token)
            #expect(info.json["sub"] == "mira")
            if format == .jwt {
                let permitted = try await server.claims(subject.access)["may_act"]
                #expect(permitted == .object(["client_id": "gateway"]))
            }
            _ = try await server.devServer.setLocked(true, "mira")
            let isActive = try await server.isActive(token)
            #expect(!isActive)
        }
    }

    @Test(
        "The new token has no more scopes than the subject's token and the client, and a registered audience",
        arguments: [
            (["scope": "read"], "read", nil), (["scope": "write"], nil, "invalid_scope"),
            (["scope": "email"], nil, "invalid_scope"),
            (["scope": "offline_access"], nil, "invalid_scope"),
            (["audience": "https://other.example.test"], "openid profile read", nil),
            (["resource": "https://api.example.test"], "openid profile read", nil),
            (["audience": "https://evil.example"], nil, "invalid_target"),
            (["resource": "https://evil.example"], nil, "invalid_target"),
        ] as [([String: String?], String?, String?)])
    func narrowsScopesAndAudience(changes: [String: String?], scope: String?, error: String?) async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app()]) { server in
            let subject = try await server.tokens(client: "front", Self.scope)
            let reply = try await Self.exchange(server, subject.access, changes)
            #expect(reply.json["scope"]?.string == scope && reply.error == error)
            guard let asked = changes["audience"] ?? changes["resource"], error == nil else { return }
            let audience = try await server.claims(try #require(reply.json["access_token"]?.string))["aud"]
            #expect(audience?.string == asked)
        }
    }

    @Test("An id_token is exchanged while its session continues, and can be the result")
    func exchangesIDTokens() async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app()]) { server in
            let session = try await server.session()
            let code = try await server.code(session, client: "front", Self.scope)
            let id = try #require(try Tokens(try await server.exchange(code, client: "front")).id)
            let access = try await Self.exchange(server, id, ["scope": "read"], type: Self.idType)
            #expect(access.status == 200 && access.json["scope"] == "read")
            let identity = try await Self.exchange(server, id, ["requested_token_type": Self.idType], type: Self.idType)
            #expect(identity.json["issued_token_type"] == .string(Self.idType) && identity.json["token_type"] == "N_A")
            let claims = try await server.claims(try #require(identity.json["access_token"]?.string))
            #expect(claims["sub"] == "mira" && claims["aud"] == "gateway" && claims["nonce"] == nil)
            let jwt = try await Self.exchange(server, id, ["requested_token_type": Self.jwtType], type: Self.idType)
            #expect(jwt.json["issued_token_type"] == .string(Self.jwtType))

            _ = try await server.sessionAction("logout", ["iPlanetDirectoryPro": session])
            let late = try await Self.exchange(server, id, type: Self.idType)
            #expect(late.status == 400 && late.error == "invalid_request")
        }
    }

    @Test(
        "An id_token gives no scope that its client cannot have, or that the user has not consented to",
        arguments: [true, false])
    func limitsScopesOfIDTokens(requiresConsent: Bool) async throws {
        var app = Self.app()
        app.requiresConsent = requiresConsent
        if !requiresConsent { app.scopes = ["openid"] }
        let front = app
        try await TestServer.run(clients: [Self.gateway, front]) { server in
            let user = UserKey(realm: .root, name: "mira")
            try await server.devServer.context.store.write { tx in try tx.consents.save(["openid"], by: front.key, of: user) }
            let code = try await server.code(try await server.session(), client: "front", ["scope": "openid"])
            let id = try #require(try Tokens(try await server.exchange(code, client: "front")).id)
            let wider = try await Self.exchange(server, id, ["scope": "read"], type: Self.idType)
            #expect(wider.status == 400 && wider.error == "invalid_scope", "\(wider.text)")
            let same = try await Self.exchange(server, id, ["scope": "openid"], type: Self.idType)
            #expect(same.status == 200 && same.json["scope"] == "openid", "\(same.text)")
        }
    }

    @Test("With an actor token, the claim act names the actor, and the parties that acted before it")
    func namesActors() async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app()]) { server in
            let subject = try await server.tokens(client: "front", Self.scope)
            let own = try await server.ownToken("gateway", Self.secret, ["scope": "read"])
            let actor = try #require(own.json["access_token"]?.string)
            let parameters: [String: String?] = ["actor_token": actor, "actor_token_type": Self.accessType]
            let first = try await Self.exchange(server, subject.access, parameters)
            let token = try #require(first.json["access_token"]?.string, "\(first.text)")
            let claims = try await server.claims(token)
            let description = try await server.introspect(token)
            #expect(claims["sub"] == "mira" && claims["act"] == .object(["sub": "gateway"]))
            #expect(description["act"] == claims["act"])
            let second = try await Self.exchange(server, token, parameters)
            let chain = try await server.claims(try #require(second.json["access_token"]?.string))["act"]
            #expect(chain == .object(["sub": "gateway", "act": .object(["sub": "gateway"])]))
        }
    }

    // MARK: Refusals

    @Test("A chain of actors has a limit")
    func limitsActors() async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app()]) { server in
            var token = try await server.tokens(client: "front", Self.scope).access
            let own = try await server.ownToken("gateway", Self.secret, ["scope": "read"])
            let parameters: [String: String?] = [
                "actor_token": own.json["access_token"]?.string, "actor_token_type": Self.accessType,
            ]
            for _ in 0..<TokenExchange.maxActors {
                token = try #require(try await Self.exchange(server, token, parameters).json["access_token"]?.string)
            }
            let refused = try await Self.exchange(server, token, parameters)
            #expect(refused.error == "invalid_request")
        }
    }

    @Test(
        "An exchange with a missing or wrong parameter is refused",
        arguments: [
            (["subject_token": nil], "invalid_request"), (["subject_token_type": nil], "invalid_request"),
            (["subject_token_type": "urn:ietf:params:oauth:token-type:saml2"], "invalid_request"),
            (["subject_token_type": "urn:ietf:params:oauth:token-type:refresh_token"], "invalid_request"),
            (["subject_token": "unknown"], "invalid_request"), (["actor_token": "x"], "invalid_request"),
            (["actor_token_type": "urn:ietf:params:oauth:token-type:access_token"], "invalid_request"),
            (["requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"], "invalid_request"),
            (["client_secret": "wrong"], "invalid_client"), (["client_id": "app", "client_secret": nil], "unauthorized_client"),
            (["client_id": "web", "client_secret": "s3cret: +%"], "unauthorized_client"),
        ] as [([String: String?], String)])
    func refusesWrongParameters(changes: [String: String?], error: String) async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app()]) { server in
            let subject = try await server.tokens(client: "front", Self.scope)
            let reply = try await Self.exchange(server, subject.access, changes)
            #expect(reply.error == error, "\(reply.text)")
        }
    }

    @Test("A client exchanges the tokens of those clients only that permit it, and tokens of its realm")
    func needsPermission() async throws {
        var other = Self.app(mayAct: ["someone"])
        other.id = "closed"
        let alpha = RegisteredClient(id: "app", redirectURIs: [TestServer.redirectURI]) {
            $0.realm = "/alpha"
            $0.mayAct = ["gateway"]
        }
        try await TestServer.run(clients: [Self.gateway, Self.app(), other, alpha]) { server in
            for client in ["closed", "app"] {
                let subject = try await server.tokens(client: client, ["scope": "openid profile"])
                let reply = try await Self.exchange(server, subject.access)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(client)")
                let id = try #require(subject.id)
                let identity = try await Self.exchange(server, id, type: Self.idType)
                #expect(identity.error == "invalid_request", "\(client)")
            }
            let own = try await server.ownToken("gateway", Self.secret, ["scope": "read"])
            let token = try #require(own.json["access_token"]?.string)
            let exchanged = try await Self.exchange(server, token, ["scope": "read"])
            #expect(exchanged.status == 200)
            let session = try await server.session(password: "other", at: "/am/json/realms/root/realms/alpha/authenticate")
            let path = "/am/oauth2/realms/root/realms/alpha"
            let answer = try await server.authorize(session, at: path).location
            let reply = try await server.exchange(try #require(answer["code"]), at: path)
            let foreign = try await Self.exchange(server, try Tokens(reply).access)
            #expect(foreign.error == "invalid_request")
        }
    }

    @Test("An expired, revoked or forged subject token is refused")
    func refusesInvalidSubject() async throws {
        try await TestServer.run(clients: [Self.gateway, Self.app(.jwt)]) { server in
            let tokens = try await server.tokens(client: "front", Self.scope)
            let id = try #require(tokens.id)
            let access = try #require(SignedToken(tokens.access))
            let none = UnsignedToken(header: ["alg": "none", "typ": "at+jwt"], claims: access.claims)
            let forged = [
                (try SignedToken.forged(tokens.access, claims: ["sub": "noa"]), Self.accessType),
                ("\(none.signingInput).", Self.jwtType), (try SignedToken.forged(id, claims: ["sub": "noa"]), Self.idType),
                // A token of another type, which the server has signed.
                (tokens.access, Self.idType), (id, Self.accessType), (try #require(tokens.refresh), Self.accessType),
            ]
            for (text, type) in forged {
                let reply = try await Self.exchange(server, text, type: type)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(type)")
            }
            server.clock.advance(by: 3601)
            for (text, type) in [(tokens.access, Self.accessType), (id, Self.idType)] {
                let reply = try await Self.exchange(server, text, type: type)
                #expect(reply.status == 400 && reply.error == "invalid_request", "expired: \(type)")
            }
        }
    }
}
