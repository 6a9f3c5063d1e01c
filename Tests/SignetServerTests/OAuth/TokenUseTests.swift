import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Use, revocation and introspection of tokens")
struct TokenUseTests {
    @Test("The userinfo endpoint returns the claims that the scopes of the token stand for")
    func userInfoReturnsClaimsOfScopes() async throws {
        try await TestServer.run { server in
            let session = try await server.session(name: "noa", password: "staple")
            for (scope, names) in [
                ("openid", ["sub", "department"]), ("openid email", ["sub", "department", "email"]),
                ("openid profile", ["sub", "department", "given_name", "name"]),
            ] as [(String, Set<String>)] {
                let tokens = try Tokens(try await server.exchange(try await server.code(session, ["scope": scope])))
                let reply = try await server.userInfo(tokens.access)
                #expect(Set(try #require(reply.json.object).keys) == names)
                #expect(reply.json["sub"] == "noa")
            }
        }
    }

    @Test(
        "The userinfo endpoint accepts a token under any spelling of the scheme and in the form of a POST request",
        arguments: ["Bearer", "bearer", "BEARER", "form"])
    func userInfoAcceptsEveryTokenTransport(scheme: String) async throws {
        try await TestServer.run { server in
            let token = try await server.tokens().access
            let reply =
                if scheme == "form" {
                    try await server.postForm("userinfo", ["access_token": token])
                } else {
                    try await server.send(.post, "\(TestServer.oauth)/userinfo", headers: ["Authorization": "\(scheme) \(token)"])
                }
            #expect(reply.json["sub"] == "mira")
        }
    }

    @Test(
        "The userinfo endpoint answers a request without a valid token with a challenge",
        arguments: [
            (nil, "Bearer"), ("Basic eDp5", "Bearer"), ("Bearer x", "Bearer error=\"invalid_token\""), ("Bearer", "Bearer"),
        ] as [(String?, String)])
    func userInfoChallengesInvalidToken(authorization: String?, challenge: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(
                .get, "\(TestServer.oauth)/userinfo", headers: authorization.map { ["Authorization": $0] } ?? [:])
            #expect(reply.status == 401)
            #expect(reply.error == "invalid_token")
            #expect(try #require(reply.header("WWW-Authenticate")).hasPrefix(challenge))
        }
    }

    @Test("The userinfo endpoint rejects an access token of another realm, a refresh token and an id_token")
    func userInfoRejectsOtherTokens() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            #expect(try await server.userInfo(tokens.access, at: "/am/oauth2/alpha").status == 401)
            #expect(try await server.userInfo(try #require(tokens.refresh)).status == 401)
            #expect(try await server.userInfo(try #require(tokens.id)).status == 401)
        }
    }

    @Test(
        "Revocation accepts the headers of each SDK, a revoked token and an unknown token",
        arguments: [
            [:], ["accept-api-version": "resource=2.1,protocol=1.0", "x-requested-with": "forgerock-sdk"],
            ["Accept-API-Version": "resource=2.1, protocol=1.0"],
        ])
    func revokesTokensOfEachSDK(headers: [String: String]) async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            for token in [tokens.access, tokens.access, "never was"] {
                let reply = try await server.postForm("token/revoke", ["token": token, "client_id": "app"], headers: headers)
                #expect(reply.status == 200)
                #expect(reply.text == "{}")
            }
            #expect(try await server.userInfo(tokens.access).status == 401)
            #expect(try await server.refresh(try #require(tokens.refresh)).status == 200)
        }
    }

    @Test("Revocation of a refresh token, spent or not, ends its access tokens too", arguments: [false, true])
    func revokesTokensOfRefreshToken(spent: Bool) async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let refresh = try #require(tokens.refresh)
            let renewed = spent ? try Tokens(try await server.refresh(refresh)) : tokens
            #expect(try await server.postForm("token/revoke", ["token": refresh, "client_id": "app"]).text == "{}")
            #expect(try await server.userInfo(renewed.access).status == 401)
            #expect(try await server.userInfo(tokens.access).status == 401)
            #expect(try await server.refresh(try #require(renewed.refresh)).error == "invalid_grant")
        }
    }

    @Test("A client cannot revoke a token of another client and gets the same answer")
    func ignoresRevocationByOtherClient() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            for token in [tokens.access, try #require(tokens.refresh)] {
                #expect(try await server.postForm("token/revoke", ["token": token, "client_id": "other"]).text == "{}")
            }
            #expect(try await server.userInfo(tokens.access).status == 200)
            #expect(try await server.postForm("token/revoke", ["token": tokens.access, "client_id": "nobody"]).status == 401)
            #expect(try await server.postForm("token/revoke", ["client_id": "app"]).error == "invalid_request")
        }
    }

    @Test("A client with a secret can introspect its own tokens, and a resource server can introspect all tokens")
    func introspectsOwnOrAllTokens() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            func inspect(_ token: String, _ client: String, _ secret: String?) async throws -> Reply {
                try await server.postForm("introspect", ["token": token, "client_id": client, "client_secret": secret])
            }
            let reply = try await inspect(tokens.access, "resource-server", "rs")
            #expect(reply.json["active"] == .bool(true))
            #expect(reply.json["client_id"] == "app")
            #expect(reply.json["sub"] == "mira")
            #expect(reply.json["scope"] == "openid profile")
            #expect(reply.json["exp"] == .integer(1_735_689_600 + 3600))
            let refresh = try await inspect(try #require(tokens.refresh), "resource-server", "rs")
            #expect(refresh.json["token_type"] == "refresh_token")
            #expect(try await inspect(tokens.access, "web", "s3cret: +%").text == "{\"active\":false}")
            #expect(try await inspect("never was", "resource-server", "rs").text == "{\"active\":false}")
            #expect(try await inspect(tokens.access, "app", nil).status == 401)
            server.clock.advance(by: 3600)
            #expect(try await inspect(tokens.access, "resource-server", "rs").text == "{\"active\":false}")
        }
    }
}

@Suite("Discovery, signing keys and the end of a session")
struct ProviderTests {
    @Test(
        "The server serves every address in the discovery document",
        arguments: [
            ("", "/am/oauth2"), ("/realms/root", "/am/oauth2"),
            ("/realms/root/realms/alpha", "/am/oauth2/realms/root/realms/alpha"),
            ("/alpha", "/am/oauth2/realms/root/realms/alpha"), ("/realms/alpha", "/am/oauth2/realms/root/realms/alpha"),
        ])
    func servesDiscoveredAddresses(path: String, issuer: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, "/am/oauth2\(path)/.well-known/openid-configuration", headers: [:])
            let document = try #require(reply.json.object)
            #expect(document["issuer"] == .string("http://127.0.0.1:8080\(issuer)"))
            let addresses = document.filter { $0.key.hasSuffix("_endpoint") || $0.key == "jwks_uri" }
            #expect(addresses.count == 10)
            let journeys = document["acr_values_supported"]?.array ?? []
            #expect(journeys.contains("PushLogin") && !journeys.contains("PushAnswer"))
            for (name, address) in addresses {
                let uri = try #require(address.string).dropFirst("http://127.0.0.1:8080".count)
                #expect(uri.hasPrefix(issuer + "/"))
                let reply = try await server.send(.get, String(uri), headers: [:])
                #expect(reply.status != 404, "\(name)")
            }
        }
    }

    @Test(
        "The metadata is also at the address that RFC 8414 builds from the issuer",
        arguments: ["/am/oauth2", "/am/oauth2/realms/root/realms/alpha"])
    func servesMetadataAtWellKnownAddress(issuer: String) async throws {
        try await TestServer.run { server in
            let discovery = try await server.send(.get, "\(issuer)/.well-known/openid-configuration", headers: [:])
            let inserted = try await server.send(.get, "/.well-known/oauth-authorization-server\(issuer)", headers: [:])
            #expect(inserted.status == 200 && inserted.json == discovery.json)
            #expect(inserted.json["issuer"] == .string("http://127.0.0.1:8080\(issuer)"))
            for path in ["", "/", "/am", "/am/json", "/other/oauth2"] {
                let reply = try await server.send(.get, "/.well-known/oauth-authorization-server\(path)", headers: [:])
                #expect(reply.status == 404, "\(path)")
            }
        }
    }

    @Test("The issuer follows the public address of the server")
    func issuerFollowsPublicURL() async throws {
        try await TestServer.run(.sample { $0.publicURL = "https://login.example.test/am" }) { server in
            let reply = try await server.send(.get, "/am/oauth2/.well-known/openid-configuration", headers: [:])
            #expect(reply.json["issuer"] == "https://login.example.test/am/oauth2")
            #expect(reply.json["token_endpoint"] == "https://login.example.test/am/oauth2/access_token")
        }
    }

    @Test("The key set has one public key for each algorithm, and stays the same while the server runs")
    func publishesOnePublicKey() async throws {
        try await TestServer.run(.sample { $0.signingKey = nil }) { server in
            let texts = try await TokenTests.many(5) {
                try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:]).text
            }
            #expect(Set(texts).count == 1)
            let keys = try #require(try JSON.value(of: texts[0].utf8)["keys"]?.array)
            let algorithms = keys.compactMap { $0["alg"]?.string }
            #expect(algorithms.sorted() == ["ES256", "EdDSA", "PS256", "RS256"])
            let numbers: [JSONValue: Set<String>] = ["RSA": ["n", "e"], "EC": ["crv", "x", "y"], "OKP": ["crv", "x"]]
            for key in keys {
                let expected = numbers[key["kty"] ?? .null]?.union(["kty", "use", "alg", "kid"])
                let names = key.object.map { Set($0.keys) }
                #expect(names == expected)
            }
            #expect(try await server.claims(try #require(try await server.tokens().id))["sub"] == "mira")
        }
    }

    @Test("After a key rotation new tokens name the new key and old tokens stay valid")
    func rotatesSigningKey() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let old = try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
            try await server.devServer.rotateSigningKey()
            let new = try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
            let (oldHeader, newHeader) = (old.prefix { $0 != "." }, new.prefix { $0 != "." })
            #expect(oldHeader != newHeader)
            for token in [old, new] { #expect(try await server.claims(token)["sub"] == "mira") }
            let path = "\(TestServer.oauth)/connect/endSession?id_token_hint=\(old)"
            #expect(try await server.send(.get, path, headers: [:]).status == 204)
            #expect(try await server.isValid(session) == false)
        }
    }

    @Test("An invalid signing key is answered as a server error that does not disclose the key")
    func hidesInvalidSigningKey() async throws {
        try await TestServer.run(.sample { $0.signingKey = Secret("not a key".utf8) }) { server in
            let reply = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:])
            #expect(reply.status == 500)
            #expect(!reply.text.contains("not a key"))
        }
    }

    @Test("An id_token, expired or not, ends its session at the endSession endpoint", arguments: [0.0, 3700])
    func endsSessionOfIDToken(later: Double) async throws {
        try await TestServer.run(.sample { $0.sessionIdleTimeout = 7200 }) { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            server.clock.advance(by: later)
            let path = "\(TestServer.oauth)/connect/endSession?client_id=app&id_token_hint=\(try #require(tokens.id))"
            let reply = try await server.send(.get, path, headers: ["Cookie": "iPlanetDirectoryPro=\(session)"])
            #expect(reply.status == 204)
            #expect(reply.text.isEmpty)
            #expect(try #require(reply.cookies.first).hasPrefix("iPlanetDirectoryPro=; Max-Age=0;"))
            #expect(try await server.authorize(session, ["prompt": "none"]).location["error"] == "interaction_required")
            #expect(try await server.send(.get, path, headers: [:]).status == 204)
        }
    }

    @Test("After a logout the browser is sent only to an address that the client registered")
    func redirectsOnlyToRegisteredLogoutAddress() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let token = try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
            func end(_ address: String) async throws -> Reply {
                let query = TestServer.form(["id_token_hint": token, "post_logout_redirect_uri": address, "state": "s&1"])
                return try await server.send(.get, "\(TestServer.oauth)/connect/endSession?\(query)", headers: [:])
            }
            #expect(try await end("https://evil.example.test/").error == "redirect_uri_mismatch")
            #expect(try await server.authorize(session).location["code"] != nil)
            let reply = try await end("https://app.example.test/bye")
            #expect(reply.status == 302)
            #expect(reply.header("Location") == "https://app.example.test/bye?state=s%261")
            #expect(try await server.authorize(session, ["prompt": "none"]).location["error"] == "interaction_required")
        }
    }

    @Test("A hint that is not an id_token of the client in the realm does not end a session")
    func rejectsInvalidIDTokenHint() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let token = try #require(try Tokens(try await server.exchange(try await server.code(session))).id)
            let path = "\(TestServer.oauth)/connect/endSession"
            for query in [
                "", "?id_token_hint=x", "?id_token_hint=\(token.dropLast(5))AAAAA", "?id_token_hint=\(token)&client_id=other",
            ] {
                let reply = try await server.send(.get, path + query, headers: [:])
                #expect(reply.status == 400)
                #expect(reply.error == "invalid_request")
            }
            #expect(
                try await server.send(.get, "/am/oauth2/alpha/connect/endSession?id_token_hint=\(token)", headers: [:]).status
                    == 400)
            #expect(try await server.authorize(session).location["code"] != nil)
        }
    }
}
