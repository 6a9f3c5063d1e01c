import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The modules about codes, id_tokens and refresh tokens of the Basic and of the Form Post plan.
@Suite("OpenID provider: codes, id_tokens and refresh tokens")
struct OpenIDTokenTests {
    @Test(
        "A code gives an id_token that the client can verify, with no claim that it did not request",
        arguments: AnswerMode.allCases)
    func codeGivesVerifiedIDToken(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.list("token_endpoint_auth_methods_supported").contains("client_secret_basic"))
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn()
            #expect(tokens.claims["name"] == nil)
            #expect(try await client.userInfo(tokens)["sub"] == "mira")
        }
    }

    @Test("An id_token is signed with RS256 and names the key of its signature", arguments: AnswerMode.allCases)
    func namesKeyOfRS256Signature(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let tokens = try await OpenIDRelyingParty(provider, mode: mode).logIn()
            let header = try await provider.verified(tokens.id).header
            #expect(header["alg"] == "RS256" && header["kid"]?.string?.isEmpty == false)
            // No two keys have the same name.
            let keys = try #require(try await provider.send("GET", "jwks_uri").json["keys"]?.array)
            let names = keys.compactMap { $0["kid"]?.string }
            #expect(names.count == keys.count && Set(names).count == keys.count)
            // The published keys are public ones.
            let secret = keys.filter { $0["d"] != nil || $0["p"] != nil || $0["k"] != nil }
            #expect(secret.isEmpty)
        }
    }

    @Test("The server offers no unsigned id_tokens")
    func offersNoUnsignedIDToken() async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.list("id_token_signing_alg_values_supported") == ["ES256", "EdDSA", "PS256", "RS256"])
        }
    }

    @Test("A client may send its secret in the form of a token request", arguments: AnswerMode.allCases)
    func secretInFormGetsTokens(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.list("token_endpoint_auth_methods_supported").contains("client_secret_post"))
            var client = try OpenIDRelyingParty(provider, mode: mode)
            client.sendsSecretInForm = true
            let tokens = try await client.logIn()
            #expect(try await client.userInfo(tokens)["sub"] == "mira")
        }
    }

    @Test("A request for a code needs no nonce", arguments: AnswerMode.allCases)
    func givesCodeWithoutNonce(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn(["nonce": nil])
            #expect(tokens.claims["nonce"] == nil)
        }
    }

    @Test("A request may have a PKCE challenge although the client needs none", arguments: AnswerMode.allCases)
    func codeChallengeIsAccepted(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.list("code_challenge_methods_supported") == ["S256"])
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let challenge = ProofKey.challenge(for: TestServer.verifier)
            let request: [String: String?] = ["code_challenge": challenge, "code_challenge_method": "S256"]
            let authorization = try await client.authorize(request)
            let tokens = try await client.tokens(authorization, ["code_verifier": TestServer.verifier])
            #expect(try await client.userInfo(tokens)["sub"] == "mira")
        }
    }

    // MARK: A code that is used again

    /// Checks an error of the token endpoint (RFC 6749 section 5.2).
    private func checkError(_ answer: WebAnswer, _ code: String) {
        #expect(answer.status == 400)
        #expect(answer.headers["Content-Type"]?.hasPrefix("application/json") == true)
        #expect(answer.error == code)
        let isPlain = (answer.json["error_description"]?.string ?? "").utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C
        }
        #expect(isPlain)
    }

    @Test("The second use of a code is answered with invalid_grant", arguments: AnswerMode.allCases)
    func secondUseOfCodeIsInvalidGrant(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let (code, _) = try await client.usedCode()
            checkError(try await client.exchange(code), "invalid_grant")
        }
    }

    @Test(
        "The second use of a code after thirty seconds ends the access token of the first use",
        arguments: AnswerMode.allCases)
    func lateSecondUseOfCodeEndsAccessToken(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let (code, tokens) = try await client.usedCode()
            provider.clock.advance(by: 30)
            checkError(try await client.exchange(code), "invalid_grant")
            let header = ["Authorization": "Bearer \(tokens.access)"]
            let answer = try await provider.send("GET", "userinfo_endpoint", headers: header)
            #expect((400..<500).contains(answer.status))
        }
    }

    // MARK: Refresh tokens

    @Test(
        "A refresh gives new tokens about the same login, and another client cannot use the refresh token",
        arguments: AnswerMode.allCases)
    func refreshTokenIsBoundToClient(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.list("grant_types_supported").contains("refresh_token"))
            // The suite requests offline_access, and consent, only where the discovery document has that scope.
            #expect(!provider.list("scopes_supported").contains("offline_access"))
            let first = try OpenIDRelyingParty(provider, mode: mode)
            let second = try OpenIDRelyingParty(provider, "signet-two", mode: mode, browser: first.browser)
            var latest = ""
            for client in [first, second] {
                let tokens = try await client.logIn()
                provider.clock.advance(by: 1)
                let refreshToken = try #require(tokens.refresh)
                let form: [String: String?] = [
                    "grant_type": "refresh_token", "refresh_token": refreshToken,
                    "scope": client.client.id == first.client.id ? "openid" : nil,
                ]
                let renewed = try await client.tokens(in: try await client.token(form), nonce: nil)
                #expect(renewed.access != tokens.access)
                for name in ["iss", "sub", "aud", "azp", "auth_time"] {
                    #expect(renewed.claims[name] == tokens.claims[name], "\(name)")
                }
                #expect(renewed.claims["iat"] != tokens.claims["iat"])
                #expect(try await client.userInfo(renewed)["sub"] == "mira")
                latest = renewed.refresh ?? tokens.refresh ?? ""
            }
            let form: [String: String?] = ["grant_type": "refresh_token", "refresh_token": latest, "scope": "openid"]
            checkError(try await first.token(form), "invalid_grant")
        }
    }
}
