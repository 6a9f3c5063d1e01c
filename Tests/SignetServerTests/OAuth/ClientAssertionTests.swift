import Crypto
import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Clients that authenticate with private_key_jwt")
struct ClientAssertionTests {
    private static func client(_ keys: [JSONWebKey], id: String = "daemon") -> RegisteredClient {
        RegisteredClient(id: id) {
            $0.keys = keys
            $0.grantTypes = [.clientCredentials]
            $0.scopes = ["read", "am-introspect-all-tokens"]
        }
    }

    @Test("A client gets a token with an assertion of each algorithm", arguments: JWSAlgorithm.allCases)
    func acceptsEachAlgorithm(algorithm: JWSAlgorithm) async throws {
        let key = try await TestClientKey(algorithm)
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let reply = try await server.authenticate(with: try await key.assertion(at: server.clock.now))
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.json["access_token"]?.string?.isEmpty == false)
        }
    }

    @Test(
        "The audience of an assertion is the issuer or the token endpoint, alone or in a list",
        arguments: [
            (.string(TestClientKey.issuer), true), (.string("\(TestClientKey.issuer)/access_token"), true),
            (.array([.string("https://other.example"), .string(TestClientKey.issuer)]), true),
            (.string("https://other.example"), false), (.string("\(TestClientKey.issuer)/"), false), (.array([]), false),
            (.string("\(TestClientKey.issuer)/realms/root/realms/alpha"), false), (nil, false),
        ] as [(JSONValue?, Bool)])
    func checksAudience(audience: JSONValue?, isAccepted: Bool) async throws {
        let key = try await TestClientKey()
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let reply = try await server.authenticate(with: try await key.assertion(at: server.clock.now, ["aud": audience]))
            #expect(reply.status == (isAccepted ? 200 : 401))
        }
    }

    /// The changes of an assertion that make it invalid.
    private static let mistakes: [(name: String, changes: [String: JSONValue?])] = [
        ("no issuer", ["iss": nil]), ("no subject", ["sub": nil]), ("another subject", ["sub": "app"]),
        ("another client", ["iss": "web", "sub": "web"]), ("an unknown client", ["iss": "nobody", "sub": "nobody"]),
        ("no expiry", ["exp": nil]), ("expired", ["exp": .integer(1_735_689_600 - 61)]),
        ("an expiry in a day", ["exp": .integer(1_735_689_600 + 86_400)]), ("an expiry as text", ["exp": "soon"]),
        ("not valid yet", ["nbf": .integer(1_735_689_600 + 120)]),
        ("issued in the future", ["iat": .integer(1_735_689_600 + 120)]),
        ("no ID", ["jti": nil]), ("an empty ID", ["jti": ""]),
        ("a long ID", ["jti": .string(String(repeating: "x", count: 300))]),
    ]

    @Test("An assertion with a wrong claim is refused", arguments: mistakes.indices)
    func refusesWrongClaims(index: Int) async throws {
        let mistake = Self.mistakes[index]
        let key = try await TestClientKey()
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let reply = try await server.authenticate(with: try await key.assertion(at: server.clock.now, mistake.changes))
            #expect(reply.status == 401 && reply.error == "invalid_client", "\(mistake.name)")
        }
    }

    @Test("An assertion without a valid signature of the client's key is refused")
    func refusesForgedAssertions() async throws {
        let (key, other) = (try await TestClientKey(), try await TestClientKey())
        let registered = try key.jwk
        try await TestServer.run(clients: [Self.client([registered]), Self.client([try other.jwk], id: "second")]) { server in
            let claims = TestClientKey.claims(at: server.clock.now)
            func unsigned(_ header: [String: JSONValue]) -> UnsignedToken { UnsignedToken(header: header, claims: claims) }
            let mac = unsigned(["alg": "HS256", "kid": .string(registered.identifier ?? "")])
            let secret = SymmetricKey(data: JSON.encode(registered.json))
            let none = unsigned(["alg": "none"])
            let good = try await key.key.sign(claims, .es256, type: "JWT")
            let forgeries = [
                "none": "\(none.signingInput).",
                "a MAC with the public key": mac.signed(
                    with: Array(HMAC<SHA256>.authenticationCode(for: mac.bytes, using: secret))),
                "another key": try await other.key.sign(claims, .es256, type: "JWT"),
                "other claims": try SignedToken.forged(good, claims: ["jti": "other"]),
                "another algorithm": try SignedToken.forged(good, header: ["alg": "RS256", "kid": "x"]),
                "a critical extension": try SignedToken.forged(good, header: ["alg": "ES256", "crit": .array(["x"])]),
                "no token": "x", "an own key": try SignedToken.forged(good, header: ["alg": "ES256", "jwk": registered.json]),
            ]
            for (name, text) in forgeries {
                let reply = try await server.authenticate(with: text)
                #expect(reply.status == 401 && reply.error == "invalid_client", "\(name): \(reply.text)")
            }
            let accepted = try await server.authenticate(with: good).status
            #expect(accepted == 200)
        }
    }

    // MARK: Replay

    @Test("An assertion is valid once, also when the first request with it was refused for another reason")
    func acceptsAssertionOnce() async throws {
        let key = try await TestClientKey()
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let first = try await key.assertion(at: server.clock.now)
            let statuses = [
                try await server.authenticate(with: first).status, try await server.authenticate(with: first).status,
            ]
            #expect(statuses == [200, 401])
            let second = try await key.assertion(at: server.clock.now)
            let refused = try await server.authenticate(with: second, ["scope": "admin"]).error
            let again = try await server.authenticate(with: second).error
            #expect(refused == "invalid_scope" && again == "invalid_client")
        }
    }

    @Test("Of many requests with one assertion at the same time, one is answered with a token")
    func acceptsAssertionOnceAtOnce() async throws {
        let key = try await TestClientKey()
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let assertion = try await key.assertion(at: server.clock.now)
            let statuses = try await TokenTests.many(10) { try await server.authenticate(with: assertion).status }
            #expect(statuses.sorted() == [200] + Array(repeating: 401, count: 9))
        }
    }

    @Test("An assertion that was used before a restart is refused after it, until it has expired anyway")
    func remembersAssertionAfterRestart() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let key = try await TestClientKey()
        let registered = try key.jwk
        let configuration = ServerConfiguration.sample {
            $0.state = .file(directory.file("state/server.sqlite"))
            $0.clients.append(Self.client([registered]))
        }
        let assertion = try await key.assertion(at: ManualClock().now, ["jti": "once"])
        for expected in [200, 401] {
            try await TestServer.run(configuration) { server in
                let status = try await server.authenticate(with: assertion).status
                #expect(status == expected)
                server.clock.advance(by: 30)
            }
        }
        try await TestServer.run(configuration) { server in
            server.clock.advance(by: 600)
            let late = try await server.authenticate(with: assertion).status
            #expect(late == 401)
        }
    }

    // MARK: Other methods

    @Test("A client with keys has no other way to authenticate, and one method is used at a time")
    func acceptsOneMethod() async throws {
        let key = try await TestClientKey()
        var both = Self.client([try key.jwk])
        both.secret = Secret("secret".utf8)
        try await TestServer.run(clients: [both]) { server in
            let own: [String: String?] = ["grant_type": "client_credentials", "client_id": "daemon"]
            let withSecret = try await server.postForm("access_token", own.merging(["client_secret": "secret"]) { $1 })
            #expect(withSecret.status == 401)
            let bare = try await server.postForm("access_token", own)
            #expect(bare.status == 401)
            let assertion = try await key.assertion(at: server.clock.now)
            let two = try await server.authenticate(with: assertion, ["client_secret": "secret"])
            #expect(two.status == 400 && two.error == "invalid_request")
            let wrongType = try await server.authenticate(with: assertion, ["client_assertion_type": "jwt"])
            #expect(wrongType.status == 400 && wrongType.error == "invalid_request")
            let otherID = try await server.authenticate(with: assertion, ["client_id": "web"])
            #expect(otherID.status == 401 && otherID.error == "invalid_client")
            let good = try await server.authenticate(with: assertion, ["client_id": "daemon"])
            #expect(good.status == 200)
        }
    }

    @Test("A client without keys can't authenticate with an assertion, even of a valid key")
    func refusesAssertionOfClientWithoutKeys() async throws {
        let key = try await TestClientKey()
        try await TestServer.run { server in
            for client in ["web", "app"] {
                let reply = try await server.authenticate(with: try await key.assertion(client, at: server.clock.now))
                #expect(reply.status == 401, "\(client)")
            }
        }
    }

    @Test(
        "The endpoints for introspection and revocation accept assertions, also with their own address as audience",
        arguments: ["introspect", "token/revoke"])
    func acceptsAssertionAtOtherEndpoints(path: String) async throws {
        let key = try await TestClientKey()
        try await TestServer.run(clients: [Self.client([try key.jwk])]) { server in
            let issued = try await server.authenticate(with: try await key.assertion(at: server.clock.now))
            let token = try #require(issued.json["access_token"]?.string)
            for audience in [TestClientKey.issuer, "\(TestClientKey.issuer)/\(path)"] {
                let assertion = try await key.assertion(at: server.clock.now, ["aud": .string(audience)])
                let reply = try await server.authenticate(with: assertion, ["token": token, "grant_type": nil], path: path)
                #expect(reply.status == 200, "\(audience): \(reply.text)")
            }
        }
    }

    @Test(
        "The configuration file reads the keys of a client, and reports keys that can't be used",
        arguments: [
            (#"{"keys": [KEY]}"#, nil), ("[KEY]", nil), ("[]", "jwks"), ("x", "jwks"),
            (#"[{"kty": "oct", "k": "AA"}]"#, "private"),
            (#"[{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]"#, "number"), (#"[{"kty": "DSA"}]"#, "Ed25519"),
        ] as [(String, String?)])
    func readsClientKeys(text: String, problem: String?) async throws {
        let key = try await TestClientKey()
        let jwk = JSON.text(of: try key.jwk.json)
        let yaml = "clients: [{id: daemon, grantTypes: [client_credentials], jwks: \(text.replacing("KEY", with: jwk))}]"
        switch Result(catching: { try ServerConfiguration(yaml: yaml) }) {
        case .success(let configuration):
            #expect(problem == nil && configuration.clients.first?.keys.count == 1)
        case .failure(let error):
            let isExpected = problem.map { "\(error)".contains($0) } ?? false
            #expect(isExpected, "\(error)")
        }
    }

    @Test("The configuration file refuses two kinds of credentials for one client")
    func refusesTwoCredentials() async throws {
        let jwk = JSON.text(of: try await TestClientKey().jwk.json)
        for pair in ["secret: a, generateSecret: true", "secret: a, jwks: [\(jwk)]", "generateSecret: true, jwks: [\(jwk)]"] {
            let yaml = "clients: [{id: a, \(pair)}]"
            #expect(throws: ConfigurationError.self, "\(pair)") { try ServerConfiguration(yaml: yaml) }
        }
    }
}
