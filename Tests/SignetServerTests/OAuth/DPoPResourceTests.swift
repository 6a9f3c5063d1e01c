import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Bound tokens at userinfo, nonces and stored proofs", .postgresServer, .timeLimit(.minutes(5)))
struct DPoPResourceTests {
    /// A way to present a bound token that is refused.
    struct Presentation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: String
        let send: @Sendable (TestServer, DPoPKey, String) async throws -> Reply

        init(_ name: String, _ error: String, _ send: @escaping @Sendable (TestServer, DPoPKey, String) async throws -> Reply) {
            (testDescription, self.error, self.send) = (name, error, send)
        }
    }

    private static let presentations = [
        Presentation("as a bearer token", "invalid_token") { server, _, token in try await server.userInfo(token) },
        Presentation("as a bearer token with a proof", "invalid_token") { server, key, token in
            let proof = try key.proof("userinfo", method: "GET", at: server, token: token)
            return try await server.userInfo(token, proof: proof, scheme: "Bearer")
        },
        Presentation("without a proof", "invalid_dpop_proof") { server, _, token in
            try await server.userInfo(token, proof: nil)
        },
        Presentation("with a proof of another key", "invalid_token") { server, _, token in
            let proof = try DPoPKey().proof("userinfo", method: "GET", at: server, token: token)
            return try await server.userInfo(token, proof: proof)
        },
        Presentation("with a proof for another token", "invalid_dpop_proof") { server, key, token in
            let proof = try key.proof("userinfo", method: "GET", at: server, token: "other")
            return try await server.userInfo(token, proof: proof)
        },
        Presentation("with a proof without a token", "invalid_dpop_proof") { server, key, token in
            try await server.userInfo(token, proof: try key.proof("userinfo", method: "GET", at: server))
        },
        Presentation("with a proof for the token endpoint", "invalid_dpop_proof") { server, key, token in
            try await server.userInfo(token, proof: try key.proof(at: server, token: token))
        },
        Presentation("with a proof for another method", "invalid_dpop_proof") { server, key, token in
            try await server.userInfo(token, proof: try key.proof("userinfo", at: server, token: token))
        },
    ]

    @Test("A bound token needs a proof of its key, and the refusal has a challenge", arguments: presentations)
    func boundTokenNeedsProof(presentation: Presentation) async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let token = try Tokens(try await server.exchange(with: key)).access
            let reply = try await presentation.send(server, key, token)
            #expect(reply.status == 401 && reply.error == presentation.error, "\(reply.text)")
            let challenge = try #require(reply.header("WWW-Authenticate"))
            #expect(challenge.hasPrefix("DPoP error=\"\(presentation.error)\""))
            #expect(challenge.hasSuffix("algs=\"ES256 EdDSA PS256 RS256\""))
        }
    }

    @Test("A proof at userinfo is valid once, and a bearer token isn't accepted with the scheme DPoP")
    func resourceProofIsValidOnce() async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let token = try Tokens(try await server.exchange(with: key)).access
            let proof = try key.proof("userinfo", method: "GET", at: server, token: token)
            #expect(try await server.userInfo(token, proof: proof).status == 200)
            #expect(try await server.userInfo(token, proof: proof).error == "invalid_dpop_proof")
            let bearer = try await server.tokens().access
            let other = try key.proof("userinfo", method: "GET", at: server, token: bearer)
            #expect(try await server.userInfo(bearer, proof: other).error == "invalid_token")
            let last = try key.proof("userinfo", method: "GET", at: server, token: "unknown")
            let unknown = try await server.userInfo("unknown", proof: last)
            #expect(unknown.header("WWW-Authenticate")?.hasPrefix("DPoP error=\"invalid_token\"") == true)
        }
    }

    @Test("Two proofs in one request are refused")
    func refusesTwoProofs() async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let form: [String: String?] = ["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app"]
            let name = try #require(HTTPField.Name("DPoP"))
            var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            for _ in 0..<2 { fields.append(HTTPField(name: name, value: try key.proof(at: server))) }
            let response = try await server.client.executeRequest(
                uri: "\(TestServer.oauth)/access_token", method: .post, headers: fields,
                body: ByteBuffer(string: TestServer.form(form)))
            #expect(Reply(response).error == "invalid_dpop_proof")
        }
    }

    @Test("A request without a token gets a challenge for each kind of token")
    func challengesNameBothSchemes() async throws {
        try await TestServer.run { server async throws in
            let reply = try await server.send(.get, "\(TestServer.oauth)/userinfo", headers: [:])
            #expect(reply.headers[values: .wwwAuthenticate] == ["Bearer", "DPoP algs=\"ES256 EdDSA PS256 RS256\""])
        }
    }

    // MARK: Nonces

    private static let withNonces = ServerConfiguration.sample {
        $0.dpop.requiresNonce = true
        $0.dpop.nonceLifetime = 300
    }

    @Test("The token endpoint asks for a nonce, and sends the next one with the tokens")
    func tokenEndpointAsksForNonce() async throws {
        try await TestServer.run(Self.withNonces) { server async throws in
            let (key, session) = (DPoPKey(), try await server.session())
            let code = try await server.code(session)
            let asked = try await server.exchange(code, headers: ["DPoP": try key.proof(at: server)])
            #expect(asked.status == 400 && asked.error == "use_dpop_nonce")
            let nonce = try #require(asked.header("DPoP-Nonce"))
            let wrong = try await server.exchange(code, headers: ["DPoP": try key.proof(at: server, nonce: nonce + "x")])
            #expect(wrong.error == "use_dpop_nonce")
            let reply = try await server.exchange(code, headers: ["DPoP": try key.proof(at: server, nonce: nonce)])
            #expect(reply.status == 200)
            let next = try #require(reply.header("DPoP-Nonce"))
            #expect(next != nonce)
            let token = try Tokens(reply).access
            let first = try key.proof("userinfo", method: "GET", at: server, token: token)
            let refused = try await server.userInfo(token, proof: first)
            #expect(refused.status == 401 && refused.error == "use_dpop_nonce" && refused.header("DPoP-Nonce") != nil)
            let second = try key.proof("userinfo", method: "GET", at: server, token: token, nonce: next)
            let user = try await server.userInfo(token, proof: second)
            #expect(user.status == 200 && user.header("DPoP-Nonce") != nil)
            // A client without proofs is not concerned.
            #expect(try await server.exchange(try await server.code(session)).status == 200)
        }
    }

    @Test(
        "A nonce is accepted until the end of the period after its own",
        arguments: [(299.0, true), (300, true), (599, true), (600, false), (86_400, false)])
    func nonceRotates(seconds: Double, isAccepted: Bool) async throws {
        try await TestServer.run(Self.withNonces) { server async throws in
            let key = DPoPKey()
            // The clock begins at the start of a period.
            #expect(server.clock.now.timeIntervalSince1970.truncatingRemainder(dividingBy: 300) == 0)
            let nonce = try #require(try await server.exchange(with: key).header("DPoP-Nonce"))
            server.clock.advance(by: seconds)
            let reply = try await server.exchange(with: key, nonce: nonce)
            #expect(reply.status == (isAccepted ? 200 : 400))
        }
    }

    // MARK: Faults

    @Test("The fault dpop-nonce-rotates asks a client with a proof for another nonce, with which its next request succeeds")
    func faultRotatesNonce() async throws {
        try await TestServer.run { server async throws in
            let (key, session) = (DPoPKey(), try await server.session())
            try server.devServer.faults.enable(FaultRule(.dpopNonceRotates, .times(1)))
            // A request without a proof isn't concerned.
            #expect(try await server.exchange(try await server.code(session)).status == 200)
            let code = try await server.code(session)
            let reply = try await server.exchange(code, headers: ["DPoP": try key.proof(at: server)])
            #expect(reply.status == 400 && reply.error == "use_dpop_nonce")
            let nonce = try #require(reply.header("DPoP-Nonce"))
            let again = try await server.exchange(code, headers: ["DPoP": try key.proof(at: server, nonce: nonce)])
            #expect(again.status == 200 && server.devServer.faults.firedCounts == ["dpop-nonce-rotates": 1])
        }
    }

    @Test("The fault dpop-replayed refuses a proof as one that was used before", arguments: ["accessToken", "userInfo"])
    func faultRefusesProof(route: String) async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let token = try Tokens(try await server.exchange(with: key)).access
            try server.devServer.faults.enable(FaultRule(.dpopReplayed, at: FaultRoute(route), .times(1)))
            let proof = try key.proof("userinfo", method: "GET", at: server, token: token)
            let replies = [try await server.exchange(with: key), try await server.userInfo(token, proof: proof)]
            let isAtResource = route == "userInfo"
            #expect(replies.map(\.status) == (isAtResource ? [200, 401] : [400, 200]))
            #expect(replies[isAtResource ? 1 : 0].error == "invalid_dpop_proof")
        }
    }

    // MARK: State

    @Test("A used proof stays used after a restart, and so does the binding of a token")
    func usedProofSurvivesRestart() async throws {
        try await StateLocation.with(.file) { location in
            let (clock, key, token, used) = (ManualClock(), DPoPKey(), Mutex(""), Mutex(""))
            try await location.server(clock: clock) { server async throws in
                let access = try Tokens(try await server.exchange(with: key)).access
                let proof = try key.proof("userinfo", method: "GET", at: server, token: access)
                #expect(try await server.userInfo(access, proof: proof).status == 200)
                token.withLock { $0 = access }
                used.withLock { $0 = proof }
            }
            let (access, proof) = (token.withLock { $0 }, used.withLock { $0 })
            try await location.server(clock: clock) { server async throws in
                #expect(try await server.userInfo(access, proof: proof).error == "invalid_dpop_proof")
                #expect(try await server.userInfo(access).error == "invalid_token")
                let fresh = try key.proof("userinfo", method: "GET", at: server, token: access)
                #expect(try await server.userInfo(access, proof: fresh).status == 200)
            }
        }
    }

    @Test(
        "Of two servers with one state, one accepts a proof, and both accept each other's nonces",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func proofIsValidAtOneServer() async throws {
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock, { $0.dpop.requiresNonce = true }) { one async throws in
                try await location.server(clock: clock, { $0.dpop.requiresNonce = true }) { other async throws in
                    let (key, session) = (DPoPKey(), try await one.session())
                    let nonce = try #require(try await one.exchange(with: key).header("DPoP-Nonce"))
                    let codes = [try await one.code(session), try await one.code(session)]
                    let proof = try key.proof(at: other, nonce: nonce)
                    #expect(try await other.exchange(codes[0], headers: ["DPoP": proof]).status == 200)
                    #expect(try await one.exchange(codes[1], headers: ["DPoP": proof]).error == "invalid_dpop_proof")
                }
            }
        }
    }
}
