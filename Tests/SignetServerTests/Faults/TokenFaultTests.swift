import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Faults of id_tokens, refreshes and slow bodies", .timeLimit(.minutes(5)))
struct TokenFaultTests {
    /// Returns a part of a JWT: 0 is the header, 1 the claims.
    private static func part(_ index: Int, of token: String) throws -> [String: JSONValue] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        return try #require(try JSON.value(of: Base64.decode(String(parts[index]))).object)
    }

    /// Returns an id_token with a fault.
    private static func token(_ fault: FaultKind, at server: TestServer) async throws -> String {
        try server.devServer.faults.enable(FaultRule(fault, .times(1)))
        let code = try await server.code(try await server.session(), ["nonce": "n-1"])
        let token = try #require(try Tokens(try await server.exchange(code)).id)
        let logged = server.devServer.requestLog.entries.last { $0.request != nil }
        #expect(logged?.faults == [fault.name])
        return token
    }

    @Test(
        "A fault of a claim changes this claim only, and the signature is valid",
        arguments: [(FaultKind.wrongIssuer, ["iss"]), (.wrongAudience, ["aud"]), (.expiredIDToken, ["auth_time", "exp", "iat"])])
    func changesOneClaim(fault: FaultKind, names: [String]) async throws {
        try await TestServer.run { server in
            let good = try await server.claims(try #require(try await server.tokens(["nonce": "n-1"]).id))
            let token = try await Self.token(fault, at: server)
            // Expired tokens fail the check of the test's library.
            let bad = try Self.part(1, of: token)
            let changed = good.keys.filter { good[$0] != bad[$0] && !["at_hash", "jti", "sid"].contains($0) }.sorted()
            #expect(changed == names && bad.keys.sorted() == good.keys.sorted())
            #expect(try await server.devServer.context.signer.verified(token) != nil)
            guard fault == .expiredIDToken else { return }
            let end = try #require(bad["exp"]?.lenientInteger)
            #expect(server.clock.now.timeIntervalSince1970 - Double(end) > 86_400)
        }
    }

    @Test("The fault unknown-key signs with a key that the key set does not have, and names it in the header")
    func signsWithUnknownKey() async throws {
        try await TestServer.run { server in
            let token = try await Self.token(.unknownKey, at: server)
            let keys = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:]).json["keys"]?.array ?? []
            let kid = try #require(try Self.part(0, of: token)["kid"])
            let known = keys.compactMap { $0["kid"] }
            #expect(!known.isEmpty && !known.contains(kid))
            await #expect(throws: (any Error).self) { _ = try await server.claims(token) }
            #expect(try Self.part(1, of: token)["nonce"] == "n-1")
            let next = try await Self.token(.unknownKey, at: server)
            #expect(try Self.part(0, of: next)["kid"] == kid, "the key is made once")
        }
    }

    @Test("The fault alg-none sends an id_token without a signature")
    func sendsTokenWithoutSignature() async throws {
        try await TestServer.run { server in
            let token = try await Self.token(.algNone, at: server)
            #expect(token.hasSuffix(".") && token.split(separator: ".").count == 2)
            #expect(try Self.part(0, of: token) == ["alg": "none", "typ": "JWT"])
            #expect(try Self.part(1, of: token)["nonce"] == "n-1")
        }
    }

    @Test("The fault lost-refresh exchanges the refresh token and cuts the response, and leaves other grants alone")
    func losesResponseOfRefresh() async throws {
        try await TestServer.run { server in
            try server.devServer.faults.enable(FaultRule(.lostRefresh, .times(1)))
            // A code is exchanged, and a refused refresh token is refused, without an occurrence of the fault.
            let tokens = try await server.tokens()
            let refresh = try #require(tokens.refresh)
            #expect(try await server.refresh("x").error == "invalid_grant")
            await #expect(throws: ConnectionCut.self) { _ = try await server.refresh(refresh) }
            #expect(server.devServer.faults.entries.isEmpty)
            // The server has rotated the token: the client that presents it again loses all tokens of the login.
            #expect(try await server.refresh(refresh).error == "invalid_grant")
            #expect(try await server.userInfo(tokens.access).status == 401)
        }
    }

    @Test("A client with a grace time gets new tokens after a lost refresh")
    func graceTimeSurvivesLostRefresh() async throws {
        try await TestServer.run { server in
            let refresh = try #require(try await server.tokens(client: "patient").refresh)
            try server.devServer.faults.enable(FaultRule(.lostRefresh, for: .oauth("patient"), .times(1)))
            await #expect(throws: ConnectionCut.self) { _ = try await server.refresh(refresh, client: "patient") }
            #expect(try await server.refresh(refresh, client: "patient").status == 200)
        }
    }

    @Test("The fault slow-body sends the same body in the given time, and an empty body does not count")
    func sendsBodySlowly() async throws {
        try await TestServer.run { server in
            let whole = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:]).text
            try server.devServer.faults.enable(FaultRule(.slowBody(.milliseconds(100)), .times(1)))
            #expect(try await server.authorize(nil).status == 302)
            #expect(server.devServer.faults.firedCounts.isEmpty)
            let began = ContinuousClock.now
            let reply = try await server.send(.get, "\(TestServer.oauth)/connect/jwk_uri", headers: [:])
            #expect(ContinuousClock.now - began >= .milliseconds(100) && reply.text == whole)
            #expect(reply.header("Content-Length") == String(whole.utf8.count))
            #expect(server.devServer.faults.firedCounts == ["slow-body": 1])
        }
    }

    @Test("The new faults are enabled over /admin, with the time of a slow body")
    func enablesFaultsOverAPI() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            for name in ["wrong-issuer", "wrong-audience", "expired-id-token", "unknown-key", "alg-none", "lost-refresh"] {
                let reply = try await server.admin(.post, "faults", #"{"kind": "\#(name)", "route": "accessToken", "times": 1}"#)
                #expect(reply.status == 201 && reply.json["kind"]?.string == name)
                #expect(try await server.admin(.post, "faults", #"{"kind": "\#(name)", "route": "authorize"}"#).status == 400)
            }
            let slow = try await server.admin(.post, "faults", #"{"kind": "slow-body", "milliseconds": 20}"#)
            #expect(slow.status == 201 && slow.json["milliseconds"]?.lenientInteger == 20)
            #expect(try await server.admin(.post, "faults", #"{"kind": "slow-body"}"#).status == 400)
            #expect(try await server.admin(.post, "faults", #"{"kind": "slow-body", "milliseconds": 600001}"#).status == 400)
        }
    }
}
