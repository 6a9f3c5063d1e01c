import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Tokens that a tester issues")
struct AdminTokenIssueTests {
    private static func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        let configuration = ServerConfiguration.sample {
            $0.adminToken = Secret(AdminTests.token.utf8)
            $0.users.append(User(name: "locked", password: Secret("p".utf8), isLocked: true))
        }
        try await TestServer.run(configuration, body)
    }

    @Test("A token for a user is signed, introspected, listed and revoked like one of a login")
    func issuesTokenForUser() async throws {
        try await Self.run { server in
            let reply = try await server.admin(
                .post, "tokens",
                #"{"subject": "noa", "client": "app", "scopes": ["openid", "email"], "claims": {"role": "admin"}}"#)
            #expect(reply.status == 201)
            let token = try #require(reply.json["access_token"]?.string)
            let claims = try await server.claims(token)
            #expect(claims["sub"] == "noa" && claims["client_id"] == "app" && claims["aud"] == "app" && claims["role"] == "admin")
            #expect(claims["scope"] == "openid email")
            let info = try await server.userInfo(token)
            #expect(info.json["email"] == "noa@example.test")
            let list = try await server.admin(.get, "tokens?user=noa&client=app")
            #expect(list.json["tokens"]?.array?.count == 1 && !list.text.contains(token))
            let grant = try #require(reply.json["grant"]?.string)
            let active = try await server.isActive(token)
            let revoked = try await server.admin(.delete, "tokens/\(grant)").status
            let inactive = try await server.isActive(token)
            #expect(active && revoked == 200 && !inactive)
        }
    }

    @Test("The subject can be any name, and the program's function issues the same tokens", arguments: JWSAlgorithm.allCases)
    func issuesTokenForAnyName(algorithm: JWSAlgorithm) async throws {
        try await Self.run { server in
            let token = try await server.devServer.issueToken(
                subject: "robot 7", scopes: ["read"], audience: ["https://api.example.test"], claims: ["level": .integer(3)],
                lifetime: .seconds(60), algorithm: algorithm)
            let header = SignedToken(token)?.header
            #expect(header?["alg"] == .string(algorithm.rawValue) && header?["typ"] == "at+jwt")
            let claims = try await server.claims(token)
            #expect(claims["sub"] == "robot 7" && claims["aud"] == "https://api.example.test" && claims["level"] == .integer(3))
            #expect(claims["client_id"] == .string(TokenOrder.defaultClient))
            let description = try await server.introspect(token)
            #expect(description["active"] == .bool(true) && description["sub"] == "robot 7")
            let info = try await server.userInfo(token)
            #expect(info.status == 401)
            let list = try await server.admin(.get, "tokens")
            let entry = list.json["tokens"]?.array?.first
            #expect(entry?["user"] == nil && entry?["session"] == nil && entry?["client"] != nil)
            server.clock.advance(by: 61)
            let isActive = try await server.isActive(token)
            #expect(!isActive)
        }
    }

    @Test("The claims of a test replace those of the server, so that a service can be tested with tokens that it must refuse")
    func replacesClaims() async throws {
        try await Self.run { server in
            let token = try await server.devServer.issueToken(
                subject: "mira", claims: ["iss": "https://evil.example", "exp": .integer(1), "aud": "other", "sub": "noa"])
            let claims = try await server.claims(token)
            #expect(claims["iss"] == "https://evil.example" && claims["exp"] == .integer(1) && claims["sub"] == "noa")
            // What is stored decides here.
            let description = try await server.introspect(token)
            #expect(description["sub"] == "mira" && description["iss"] == .string(TestClientKey.issuer))
        }
    }

    @Test(
        "A token that can't be issued is refused with its reason",
        arguments: [
            (#"{}"#, 400), (#"{"subject": 1}"#, 400), (#"{"subject": "mira", "client": "nobody"}"#, 404),
            (#"{"subject": "mira", "seconds": 0}"#, 400), (#"{"subject": "mira", "algorithm": "none"}"#, 400),
            (#"{"subject": "mira", "algorithm": "HS256"}"#, 400), (#"{"subject": "mira", "scopes": "read"}"#, 400),
            (#"{"subject": "mira", "realm": "/nowhere"}"#, 404), (#"{"subject": "mira", "key": "x"}"#, 400),
            (#"{"subject": "locked"}"#, 409),
        ])
    func refusesOrder(body: String, status: Int) async throws {
        try await Self.run { server in
            let reply = try await server.admin(.post, "tokens", body)
            #expect(reply.status == status, "\(reply.text)")
        }
    }

    @Test("Without the administration token, no token is issued and no key is replaced", arguments: ["tokens", "keys"])
    func needsAdministrationToken(path: String) async throws {
        try await Self.run { server in
            let reply = try await server.send(
                .post, "/am/admin/\(path)", headers: ["Content-Type": "application/json", "Authorization": "Bearer x"],
                body: #"{"subject": "mira"}"#)
            #expect(reply.status == 401)
        }
    }

    @Test("The list of the keys has no private part")
    func listsPublicKeys() async throws {
        try await Self.run { server in
            let reply = try await server.admin(.get, "keys")
            let keys = reply.json["keys"]?.array ?? []
            let names = keys.reduce(into: Set<String>()) { $0.formUnion($1.object.map { Set($0.keys) } ?? []) }
            #expect(keys.count == 4 && names == ["kid", "alg", "signing"])
        }
    }
}
