import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Token endpoint")
struct TokenTests {
    @Test("A client exchanges a code for tokens with the expected claims")
    func exchangesCode() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            server.clock.advance(by: 30)
            let reply = try await server.exchange(try await server.code(session, ["nonce": "n-1"]))
            let tokens = try Tokens(reply)
            #expect(reply.header("Cache-Control") == "no-store")
            #expect(tokens.json["token_type"] == "Bearer")
            #expect(tokens.json["expires_in"] == .integer(3600))
            #expect(tokens.json["scope"] == "openid profile")
            #expect(tokens.refresh != nil)
            let claims = try await server.claims(try #require(tokens.id))
            #expect(claims["iss"] == "http://127.0.0.1:8080/am/oauth2")
            #expect(claims["aud"] == "app")
            #expect(claims["sub"] == "mira")
            #expect(claims["nonce"] == "n-1")
            #expect(claims["auth_time"] == .integer(1_735_689_600))
            #expect(claims["iat"] == .integer(1_735_689_630))
            #expect(claims["exp"] == .integer(1_735_689_630 + 3600))
            #expect(claims["at_hash"] == .string(TokenSigner.hash(ofAccessToken: tokens.access)))
            #expect(claims["sid"]?.string != nil && claims["sid"]?.string != session)
        }
    }

    @Test("The access token hash of the specification's example is computed")
    func computesAccessTokenHash() {
        // OpenID Connect Core 1.0, appendix A.3.
        #expect(TokenSigner.hash(ofAccessToken: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y") == "77QmUPtjPfzWtF2AnpK9RQ")
    }

    @Test("The code challenge of the specification's example is computed")
    func computesCodeChallenge() {
        // RFC 7636, appendix B.
        #expect(ProofKey.challenge(for: TestServer.verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("A grant without the scope openid gets no id_token")
    func omitsIDTokenWithoutOpenIDScope() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens(["scope": "profile"])
            #expect(tokens.id == nil)
            #expect(try await server.userInfo(tokens.access).error == "insufficient_scope")
        }
    }

    @Test(
        "S13: A missing verifier or redirect is invalid_request, another redirect is redirect_uri_mismatch, and the code is spent",
        arguments: [
            (["code_verifier": "wrong"], "invalid_grant"), (["code_verifier": nil], "invalid_request"),
            (["redirect_uri": "http://127.0.0.1/callback"], "redirect_uri_mismatch"), (["redirect_uri": nil], "invalid_request"),
        ] as [([String: String?], String)])
    func spendsMismatchedCode(changes: [String: String?], error: String) async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            let reply = try await server.exchange(code, changes)
            #expect(reply.status == 400)
            #expect(reply.error == error)
            #expect(try await server.exchange(code).error == "invalid_grant")
        }
    }

    @Test(
        "A token request with a missing or wrong parameter is refused",
        arguments: [
            (["grant_type": nil], 400, "invalid_request"), (["grant_type": "password"], 400, "unsupported_grant_type"),
            (["grant_type": "client_credentials"], 400, "unauthorized_client"),
            (["grant_type": "urn:ietf:params:oauth:grant-type:token-exchange"], 400, "unauthorized_client"),
            (["code": nil], 400, "invalid_request"), (["client_id": nil], 401, "invalid_client"),
            (["client_id": "nobody"], 401, "invalid_client"), (["client_secret": "x"], 401, "invalid_client"),
            (["client_id": "web"], 401, "invalid_client"), (["code": "unknown"], 400, "invalid_grant"),
        ] as [([String: String?], Int, String)])
    func rejectsWrongTokenParameters(changes: [String: String?], status: Int, error: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.exchange(try await server.code(try await server.session()), changes)
            #expect(reply.status == status)
            #expect(reply.error == error)
            #expect(reply.json["error_description"]?.string?.isEmpty == false)
        }
    }

    @Test(
        "A token request whose body is not a valid form is refused",
        arguments: [
            ("{}", "application/json"), ("a=%zz", "application/x-www-form-urlencoded"), ("a=1", ""),
            ("grant_type=a&grant_type=b", "application/x-www-form-urlencoded"),
        ])
    func rejectsInvalidFormBody(body: String, type: String) async throws {
        try await TestServer.run { server in
            for path in ["access_token", "token/revoke", "introspect", "device/code", "par", "bc-authorize"] {
                let reply = try await server.send(
                    .post, "\(TestServer.oauth)/\(path)", headers: ["Content-Type": type], body: body)
                #expect(reply.status == 400)
                #expect(reply.error == "invalid_request")
                #expect(try await server.send(.get, "\(TestServer.oauth)/\(path)", headers: [:]).status == 405)
            }
        }
    }

    @Test("The second use of a code revokes the tokens of the first use")
    func replayedCodeRevokesTokens() async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            let tokens = try Tokens(try await server.exchange(code))
            #expect(try await server.userInfo(tokens.access).status == 200)
            server.clock.advance(by: 1000)
            #expect(try await server.exchange(code).error == "invalid_grant")
            #expect(try await server.userInfo(tokens.access).status == 401)
            #expect(try await server.refresh(try #require(tokens.refresh)).error == "invalid_grant")
        }
    }

    @Test("A replayed code revokes its tokens as long as any of them is valid, even after several renewals")
    func lateReplayedCodeRevokesTokens() async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            var tokens = try Tokens(try await server.exchange(code))
            for _ in 0..<3 {
                server.clock.advance(by: 6 * 86_400)
                tokens = try Tokens(try await server.refresh(try #require(tokens.refresh)))
            }
            #expect(try await server.exchange(code, client: "other").error == "invalid_grant")
            #expect(try await server.userInfo(tokens.access).status == 200)
            #expect(try await server.exchange(code).error == "invalid_grant")
            #expect(try await server.userInfo(tokens.access).status == 401)
        }
    }

    @Test("A client cannot exchange or spend a code of another client")
    func rejectsCodeOfOtherClient() async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            #expect(try await server.exchange(code, client: "other").error == "invalid_grant")
            #expect(try await server.exchange(code, at: "/am/oauth2/alpha").error == "invalid_grant")
            #expect(try await server.exchange(code).status == 200)
        }
    }

    @Test("Exactly one of many simultaneous exchanges of one code gets tokens")
    func concurrentExchangesGetTokensOnce() async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            let replies = try await Self.many(100) { try await server.exchange(code) }
            let grantedCount = replies.count { $0.status == 200 }
            let refusedCount = replies.count { $0.error == "invalid_grant" }
            #expect(grantedCount == 1)
            #expect(refusedCount == 99)
        }
    }

    @Test("The tokens of a client last as long as its configuration says")
    func honorsConfiguredLifetimes() async throws {
        try await TestServer.run { server in
            let late = try await server.code(try await server.session(), client: "short")
            server.clock.advance(by: 10)
            #expect(try await server.exchange(late, client: "short").error == "invalid_grant")

            let tokens = try await server.tokens(client: "short")
            #expect(tokens.json["expires_in"] == .integer(60))
            let claims = try await server.claims(try #require(tokens.id))
            let expectedEnd = claims["iat"]?.lenientInteger.map { $0 + 30 }
            #expect(claims["exp"]?.lenientInteger == expectedEnd)
            server.clock.advance(by: 59)
            #expect(try await server.userInfo(tokens.access).status == 200)
            server.clock.advance(by: 1)
            #expect(try await server.userInfo(tokens.access).status == 401)
            server.clock.advance(by: 539)
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh), client: "short"))
            server.clock.advance(by: 599)
            let again = try Tokens(try await server.refresh(try #require(renewed.refresh), client: "short"))
            server.clock.advance(by: 600)
            #expect(try await server.refresh(try #require(again.refresh), client: "short").error == "invalid_grant")
        }
    }

    // MARK: Clients with a secret

    @Test(
        "A client authenticates with its secret in the header or in the form but not in both",
        arguments: [
            (basic("web", "s3cret: +%"), [:], 200), (basic("web", "wrong"), [:], 401), (basic("nobody", "x"), [:], 401),
            (nil, ["client_id": "web", "client_secret": "s3cret: +%"], 200),
            (nil, ["client_id": "web", "client_secret": "wrong"], 401), (nil, ["client_id": "web"], 401),
            (basic("web", "s3cret: +%"), ["client_secret": "s3cret: +%"], 400),
            (basic("web", "s3cret: +%"), ["client_id": "app"], 401), ("Basic ???", [:], 401),
            (basic("web", "s3cret: +%"), ["client_id": "web"], 200),
        ] as [(String?, [String: String?], Int)])
    func authenticatesClientSecret(authorization: String?, parameters: [String: String?], status: Int) async throws {
        try await TestServer.run { server in
            let uri = "https://web.example.test/cb?x=1"
            let challenge: [String: String?] = [
                "redirect_uri": uri, "code_challenge": nil, "code_challenge_method": nil,
            ]
            let code = try await server.code(try await server.session(), client: "web", challenge)
            let changes: [String: String?] = ["client_id": nil, "code_verifier": nil, "redirect_uri": uri]
            let reply = try await server.exchange(
                code, changes.merging(parameters) { $1 }, headers: authorization.map { ["Authorization": $0] } ?? [:])
            #expect(reply.status == status)
            if status == 401 { #expect((reply.header("WWW-Authenticate") != nil) == (authorization != nil)) }
        }
    }

    private static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Base64.encode(Array("\(id.percentEncoded()):\(secret.percentEncoded())".utf8), as: .standard)
    }

    static func many<Result: Sendable>(
        _ count: Int, _ work: @Sendable @escaping () async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for _ in 0..<count { group.addTask { try await work() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

@Suite("Refresh tokens")
struct RefreshTests {
    @Test("A refresh token gives new tokens in the request form of each SDK", arguments: ["", "token", "code"])
    func renewsTokensInFormOfEachSDK(responseType: String) async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let old = try #require(tokens.refresh)
            server.clock.advance(by: 10)
            let renewed = try Tokens(
                try await server.refresh(
                    old, responseType.isEmpty ? [:] : ["scope": "openid profile", "response_type": responseType]))
            #expect(renewed.access != tokens.access)
            #expect(renewed.refresh != nil && renewed.refresh != old)
            let claims = try await server.claims(try #require(renewed.id))
            #expect(claims["auth_time"] == .integer(1_735_689_600))
            #expect(claims["nonce"] == nil)
            #expect(claims["at_hash"] == .string(TokenSigner.hash(ofAccessToken: renewed.access)))
            #expect(try await server.userInfo(renewed.access).status == 200)
        }
    }

    @Test("A client without token rotation keeps its refresh token and can use it repeatedly")
    func keepsUnrotatedRefreshToken() async throws {
        try await TestServer.run { server in
            let token = try #require(try await server.tokens(client: "keeper").refresh)
            for _ in 0..<3 {
                let renewed = try Tokens(try await server.refresh(token, client: "keeper"))
                #expect(renewed.refresh == nil)
                #expect(try await server.userInfo(renewed.access).status == 200)
            }
            let replies = try await TokenTests.many(100) { try await server.refresh(token, client: "keeper") }
            let areAllGranted = replies.allSatisfy { $0.status == 200 }
            #expect(areAllGranted)
            // The expiry was set when the token was issued.
            server.clock.advance(by: 604_799)
            #expect(try await server.refresh(token, client: "keeper").status == 200)
            server.clock.advance(by: 1)
            #expect(try await server.refresh(token, client: "keeper").error == "invalid_grant")
        }
    }

    @Test("A client that is configured without refresh tokens gets none")
    func omitsDisabledRefreshToken() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens(client: "fleeting")
            #expect(tokens.refresh == nil)
        }
    }

    @Test("A renewal can request fewer scopes than granted but not more")
    func renewalCannotWidenScopes() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let fewer = try Tokens(try await server.refresh(try #require(tokens.refresh), ["scope": "openid"]))
            #expect(fewer.json["scope"] == "openid")
            let again = try await server.refresh(try #require(fewer.refresh), ["scope": "openid profile email"])
            #expect(again.error == "invalid_scope")
            let all = try Tokens(try await server.refresh(try #require(fewer.refresh)))
            #expect(all.json["scope"] == "openid profile")
        }
    }

    @Test("A replayed refresh token revokes all tokens of its login")
    func replayedRefreshTokenRevokesTokens() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            let old = try #require(tokens.refresh)
            let renewed = try Tokens(try await server.refresh(old))
            let reply = try await server.refresh(old)
            #expect(reply.status == 400)
            #expect(reply.error == "invalid_grant")
            #expect(try await server.refresh(try #require(renewed.refresh)).error == "invalid_grant")
            for token in [tokens.access, renewed.access] { #expect(try await server.userInfo(token).status == 401) }
        }
    }

    @Test("A replayed refresh token revokes all tokens of its login even when it asks for more scopes")
    func replayWithWiderScopesRevokesTokens() async throws {
        try await TestServer.run { server in
            let old = try #require(try await server.tokens().refresh)
            let renewed = try Tokens(try await server.refresh(old))
            #expect(try await server.refresh(old, ["scope": "openid profile email"]).error == "invalid_grant")
            #expect(try await server.userInfo(renewed.access).status == 401)
        }
    }

    @Test("A spent refresh token gives another set of tokens within its grace period")
    func allowsReplayInGracePeriod() async throws {
        try await TestServer.run { server in
            let old = try #require(try await server.tokens(client: "patient").refresh)
            let first = try Tokens(try await server.refresh(old, client: "patient"))
            server.clock.advance(by: 9)
            let second = try Tokens(try await server.refresh(old, client: "patient"))
            #expect(first.refresh != second.refresh)
            #expect(try await server.refresh(try #require(first.refresh), client: "patient").status == 200)
            server.clock.advance(by: 1)
            #expect(try await server.refresh(old, client: "patient").error == "invalid_grant")
            #expect(try await server.refresh(try #require(second.refresh), client: "patient").error == "invalid_grant")
        }
    }

    @Test("Exactly one of a hundred simultaneous renewals with one token succeeds, and its tokens are revoked")
    func concurrentRenewalsRevokeTokens() async throws {
        try await TestServer.run { server in
            let token = try #require(try await server.tokens().refresh)
            let replies = try await TokenTests.many(100) { try await server.refresh(token) }
            let winners = replies.filter { $0.status == 200 }
            #expect(winners.count == 1)
            let refusedCount = replies.count { $0.error == "invalid_grant" }
            #expect(refusedCount == 99)
            let prize = try Tokens(try #require(winners.first))
            #expect(try await server.userInfo(prize.access).status == 401)
        }
    }

    @Test("A client cannot use a refresh token of another client")
    func rejectsRefreshTokenOfOtherClient() async throws {
        try await TestServer.run { server in
            let token = try #require(try await server.tokens().refresh)
            #expect(try await server.refresh(token, client: "other").error == "invalid_grant")
            #expect(try await server.refresh("unknown").error == "invalid_grant")
            #expect(try await server.refresh(token).status == 200)
        }
    }
}
