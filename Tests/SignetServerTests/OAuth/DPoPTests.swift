import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Tokens bound to a key with DPoP")
struct DPoPTests {
    private static let bound = RegisteredClient(id: "bound", redirectURIs: [TestServer.redirectURI]) { $0.requiresDPoP = true }
    private static let web = "https://web.example.test/cb?x=1"

    /// Introspects a token as a resource server.
    private func introspect(_ token: String, at server: TestServer) async throws -> JSONValue {
        let form: [String: String?] = ["token": token, "client_id": "resource-server", "client_secret": "rs"]
        return try await server.postForm("introspect", form).json
    }

    @Test("A code that is exchanged with a proof gives tokens that are bound to its key")
    func exchangeBindsTokens() async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let tokens = try Tokens(try await server.exchange(with: key))
            #expect(tokens.json["token_type"] == "DPoP")
            let description = try await introspect(tokens.access, at: server)
            let thumbprint = try key.thumbprint
            #expect(description["active"] == .bool(true) && description["token_type"] == "DPoP")
            #expect(description["cnf"]?["jkt"] == .string(thumbprint))
            let proof = try key.proof("userinfo", method: "GET", at: server, token: tokens.access)
            let user = try await server.userInfo(tokens.access, proof: proof)
            #expect(user.json["sub"] == "mira")
        }
    }

    @Test("Without a proof, tokens stay bearer tokens, and the metadata lists the algorithms of proofs")
    func bearerStaysDefault() async throws {
        try await TestServer.run { server async throws in
            let tokens = try await server.tokens()
            #expect(tokens.json["token_type"] == "Bearer")
            let description = try await introspect(tokens.access, at: server)
            #expect(description["token_type"] == "Bearer" && description["cnf"] == nil)
            let document = try await server.send(.get, "\(TestServer.oauth)/.well-known/openid-configuration", headers: [:]).json
            #expect(document["dpop_signing_alg_values_supported"] == .texts(["ES256", "EdDSA", "PS256", "RS256"]))
        }
    }

    @Test("A JWT access token has the thumbprint of its key")
    func jwtHasConfirmation() async throws {
        let jwt = RegisteredClient(id: "jwt", redirectURIs: [TestServer.redirectURI]) { $0.accessTokens = .jwt }
        try await TestServer.run(.sample { $0.clients.append(jwt) }) { server async throws in
            let key = DPoPKey()
            let tokens = try Tokens(try await server.exchange(with: key, client: "jwt"))
            let thumbprint = try key.thumbprint
            #expect(try await server.claims(tokens.access)["cnf"]?["jkt"] == .string(thumbprint))
            let proof = try key.proof("userinfo", method: "GET", at: server, token: tokens.access)
            #expect(try await server.userInfo(tokens.access, proof: proof).status == 200)
        }
    }

    @Test("A client whose tokens must be bound gets none without a proof")
    func clientRequiresProof() async throws {
        try await TestServer.run(.sample { $0.clients.append(Self.bound) }) { server async throws in
            let code = try await server.code(try await server.session(), client: "bound")
            #expect(try await server.exchange(code, client: "bound").error == "invalid_dpop_proof")
            // The refused request has not used the code up.
            let reply = try await server.exchange(code, client: "bound", headers: ["DPoP": try DPoPKey().proof(at: server)])
            #expect(reply.json["token_type"] == "DPoP")
        }
    }

    @Test("The settings for proofs, pushed requests and approvals are read from the configuration file")
    func readsOAuthSettings() throws {
        let text = """
            server: {dpop: {requireNonce: true, nonceLifetime: 60}, lifetimes: {pushedRequest: 90}}
            clients:
              - {id: a, secret: s, grantTypes: [ciba], requirePushedAuthorizationRequests: true, dpopBoundAccessTokens: true}
              - {id: b}
            """
        let configuration = try ServerConfiguration(yaml: text)
        #expect(configuration.dpop.requiresNonce && configuration.dpop.nonceLifetime == 60)
        #expect(configuration.lifetimes.pushedRequest == 90)
        let (first, second) = (configuration.clients[0], configuration.clients[1])
        #expect(first.requiresPushedRequests && first.requiresDPoP && first.grantTypes == [.backchannel])
        #expect(!second.requiresPushedRequests && !second.requiresDPoP && !second.grantTypes.contains(.backchannel))
    }

    /// A proof that the token endpoint refuses.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let proof: @Sendable (DPoPKey, TestServer) throws -> String

        init(_ name: String, _ proof: @escaping @Sendable (DPoPKey, TestServer) throws -> String) {
            (testDescription, self.proof) = (name, proof)
        }
    }

    private static let refused = [
        Refused("a text that isn't a proof") { _, _ in "x" },
        Refused("a proof for another method") { key, server in try key.proof(method: "GET", at: server) },
        Refused("a proof for another address") { key, server in try key.proof("userinfo", at: server) },
        Refused("an old proof") { key, server in try key.proof(at: server, age: 61) },
        Refused("a proof of the future") { key, server in try key.proof(at: server, age: -61) },
        Refused("a proof with a wrong signature") { key, server in
            let parts = try key.proof(at: server).split(separator: ".")
            let other = try DPoPKey().proof(at: server).split(separator: ".")
            return "\(parts[0]).\(parts[1]).\(other[2])"
        },
        Refused("an id_token") { key, _ in
            try key.sign(UnsignedToken(header: ["typ": "JWT", "alg": "ES256"], claims: ["sub": "mira"]))
        },
    ]

    @Test("The token endpoint refuses a wrong proof and leaves the code valid", arguments: refused)
    func refusesWrongProof(refused: Refused) async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let code = try await server.code(try await server.session())
            let reply = try await server.exchange(code, headers: ["DPoP": try refused.proof(key, server)])
            #expect(reply.status == 400 && reply.error == "invalid_dpop_proof")
            #expect(try await server.exchange(code, headers: ["DPoP": try key.proof(at: server)]).status == 200)
        }
    }

    @Test("A proof is valid once, and its ID may be used again after the proof has expired")
    func proofIsValidOnce() async throws {
        try await TestServer.run { server async throws in
            let (key, session) = (DPoPKey(), try await server.session())
            let proof = try key.proof(at: server, id: "one")
            #expect(try await server.exchange(try await server.code(session), headers: ["DPoP": proof]).status == 200)
            let code = try await server.code(session)
            #expect(try await server.exchange(code, headers: ["DPoP": proof]).error == "invalid_dpop_proof")
            // The ID of another key is another ID.
            let other = try DPoPKey().proof(at: server, id: "one")
            #expect(try await server.exchange(code, headers: ["DPoP": other]).status == 200)
            server.clock.advance(by: 61)
            let later = try key.proof(at: server, id: "one")
            #expect(try await server.exchange(try await server.code(session), headers: ["DPoP": later]).status == 200)
        }
    }

    @Test("A code whose request names a key is exchanged with that key only", arguments: [false, true])
    func codeIsBoundToKey(isPushed: Bool) async throws {
        try await TestServer.run { server async throws in
            let (key, session) = (DPoPKey(), try await server.session())
            let thumbprint = try key.thumbprint
            func code() async throws -> String {
                guard isPushed else { return try await server.code(session, ["dpop_jkt": thumbprint]) }
                let pushed = try await server.push(headers: ["DPoP": try key.proof("par", at: server)])
                let uri = try #require(pushed.json["request_uri"]?.string)
                return try #require(try await server.authorize(pushed: uri, session).location["code"])
            }
            let stolen = try await code()
            let other = try await server.exchange(stolen, headers: ["DPoP": try DPoPKey().proof(at: server)])
            #expect(other.error == "invalid_dpop_proof")
            #expect(try await server.exchange(try await code()).error == "invalid_dpop_proof")
            #expect(try await server.exchange(try await code(), headers: ["DPoP": try key.proof(at: server)]).status == 200)
        }
    }

    @Test("A push whose dpop_jkt isn't the key of its proof is refused")
    func pushComparesKeys() async throws {
        try await TestServer.run { server async throws in
            let (key, other) = (DPoPKey(), try DPoPKey().thumbprint)
            let headers = ["DPoP": try key.proof("par", at: server)]
            #expect(try await server.push(["dpop_jkt": other], headers: headers).error == "invalid_request")
        }
    }

    // MARK: Refresh tokens

    @Test("A public client's refresh token is bound to the key, also after a rotation")
    func publicRefreshTokenIsBound() async throws {
        try await TestServer.run { server async throws in
            let key = DPoPKey()
            let first = try #require(try Tokens(try await server.exchange(with: key)).refresh)
            #expect(try await server.refresh(first, with: nil).error == "invalid_dpop_proof")
            #expect(try await server.refresh(first, with: DPoPKey()).error == "invalid_dpop_proof")
            // The refused requests have neither spent the token nor revoked the grant.
            let second = try Tokens(try await server.refresh(first, with: key))
            let thumbprint = try key.thumbprint
            #expect(try await introspect(second.access, at: server)["cnf"]?["jkt"] == .string(thumbprint))
            let refresh = try #require(second.refresh)
            #expect(try await server.refresh(refresh, with: DPoPKey()).error == "invalid_dpop_proof")
            #expect(try await server.refresh(refresh, with: key).json["token_type"] == "DPoP")
        }
    }

    @Test("A public client that begins to send proofs gets bound tokens from then on")
    func bearerTokensBecomeBound() async throws {
        try await TestServer.run { server async throws in
            let tokens = try await server.tokens()
            let key = DPoPKey()
            let next = try Tokens(try await server.refresh(try #require(tokens.refresh), with: key))
            #expect(next.json["token_type"] == "DPoP")
            #expect(
                try await server.userInfo(tokens.access).status == 401, "the first token would be bound to a key that it isn't")
            #expect(try await server.refresh(try #require(next.refresh), with: nil).error == "invalid_dpop_proof")
        }
    }

    @Test("A confidential client may refresh with another key, to which the new access token is bound")
    func confidentialRefreshChangesKey() async throws {
        try await TestServer.run { server async throws in
            let (one, other, secret) = (DPoPKey(), DPoPKey(), "s3cret: +%")
            let code = try await server.code(try await server.session(), client: "web", ["redirect_uri": Self.web])
            let reply = try await server.exchange(
                code, client: "web", ["redirect_uri": Self.web, "client_secret": secret],
                headers: ["DPoP": try one.proof(at: server)])
            let first = try Tokens(reply)
            let renewed = try await server.refresh(
                try #require(first.refresh), with: other, client: "web", ["client_secret": secret])
            let second = try Tokens(renewed)
            let (firstKey, secondKey) = (try one.thumbprint, try other.thumbprint)
            #expect(try await introspect(first.access, at: server)["cnf"]?["jkt"] == .string(firstKey))
            #expect(try await introspect(second.access, at: server)["cnf"]?["jkt"] == .string(secondKey))
            let third = try Tokens(
                try await server.refresh(try #require(second.refresh), with: nil, client: "web", ["client_secret": secret]))
            #expect(third.json["token_type"] == "Bearer")
        }
    }

    @Test("The token of a client's own grant is bound to the key of the proof")
    func ownGrantBindsToken() async throws {
        let daemon = RegisteredClient(id: "daemon", secret: Secret("d".utf8)) {
            $0.grantTypes = [.clientCredentials]
            $0.scopes = ["read"]
        }
        try await TestServer.run(.sample { $0.clients.append(daemon) }) { server async throws in
            let key = DPoPKey()
            let form: [String: String?] = ["grant_type": "client_credentials", "client_id": "daemon", "client_secret": "d"]
            let own = try await server.postForm("access_token", form, headers: ["DPoP": try key.proof(at: server)])
            let thumbprint = try key.thumbprint
            #expect(try await introspect(try Tokens(own).access, at: server)["cnf"]?["jkt"] == .string(thumbprint))
        }
    }
}
