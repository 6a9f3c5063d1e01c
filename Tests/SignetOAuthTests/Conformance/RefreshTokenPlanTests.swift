import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import TestSupport
import Testing

/// The modules of `oidcc-client-refreshtoken-test-plan`, and what else OpenID Connect Core section 12.2 requires of a refresh.
@Suite("The Refresh Token plan for relying parties")
struct RefreshTokenPlanTests {
    private static let accepted: [ProviderCase] = [
        ProviderCase("oidcc-client-test-refresh-token", .accepted) { _ in },
        .response("id_token", nil, .accepted, "no ID token, which is optional here"),
        .response("refresh_token", nil, .accepted, "no new refresh token"),
        .response("scope", nil, .accepted, "no scope, which then is the one of before (RFC 6749 section 6)"),
        .claim("auth_time", nil, .accepted, "no auth_time"),
        .claim("at_hash", nil, .accepted, "no at_hash, which is optional"),
        .claim("auth_time", .integer(1_700_000_001), .accepted, "another auth_time than at the login"),
        ProviderCase("another audience beside the client", .accepted) {
            $0.claims = { claims in
                claims["aud"] = .array([.string(ScriptedProvider.clientID), .string("api")])
                claims["azp"] = .string(ScriptedProvider.clientID)
            }
        },
        ProviderCase("expired a day ago, and Date is of that time", .accepted) {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims["iat"] = .integer(now - 87_000)
                claims["exp"] = .integer(now - 86_400)
            }
            $0.tokenHeaders = ["Date": HTTPDate.text(of: Date() - 86_700)]
        },
    ]

    /// The ones whose ID token does not replace that of the login.
    private static let keepingIDToken = Array(accepted.suffix(3))

    @Test("A refresh gives new tokens, with which userinfo answers", arguments: accepted)
    func refreshesTokens(module: ProviderCase) async throws {
        try await with(module) { (party: RelyingParty) async throws in
            let first = try await party.logIn()
            let second = try await party.tokens.refresh()
            #expect(second.value != first.value && second.refreshToken != nil && second.idToken != nil)
            #expect(try await party.store.token() == second)
            #expect(try await party.tokens.userInfo().subject == "alice")
            #expect(party.provider.now.received.last?.values.contains(second.value.text) == true)
            party.expectNoFaults()
        }
    }

    private static let refused: [ProviderCase] = [
        .claim(
            "iss", .string("\(ScriptedProvider.issuer)x"), .idToken(.issuer), "oidcc-client-test-refresh-token-invalid-issuer"),
        .claim("sub", .string("alicex"), .idToken(.subject), "oidcc-client-test-refresh-token-invalid-sub"),
        .claim("sub", nil, .idToken(.subject), "no sub"),
        .claim("aud", .string("other"), .idToken(.audience), "another audience"),
        .claim("azp", .string("other"), .idToken(.authorizedParty), "another authorized party"),
        .claim("iat", nil, .idToken(.issuedAt), "no iat"),
        .claim("nonce", .string("other"), .idToken(.nonce), "another nonce than that of the login"),
        .claim("nonce", .integer(7), .idToken(.nonce), "a nonce that is a number"),
        .claim("at_hash", .string("AAAAAAAAAAAAAAAAAAAAAA"), .idToken(.accessTokenHash), "an at_hash of another token"),
        .time("exp", -3600, .idToken(.expired), "expired an hour ago"),
        ProviderCase("a signature with flipped bits", .idToken(.signature)) {
            $0.signature = { ProviderKey.shared[0].signature(of: $0, algorithm: "RS256").map { ~$0 } }
        },
        .header("alg", .string("none"), .idToken(.algorithm), "an unsigned ID token"),
    ]

    @Test(
        "A refused refresh ends the login: its tokens are revoked and never used, and the old refresh token is not sent again",
        arguments: refused)
    func refusesRefreshOfModule(module: ProviderCase) async throws {
        try await with(module) { (party: RelyingParty) async throws in
            let first = try await party.logIn()
            guard case .idToken(let reason) = module.expectation else {
                Issue.record("\(module.name) expects something other than a refused ID token")
                return
            }
            for _ in 0..<2 {
                let error = await outcome { try await party.tokens.refresh() }.tokenError
                #expect(error?.code == .loginRequired && error?.idTokenError == reason, "\(String(describing: error))")
            }
            let userInfo = await outcome { try await party.tokens.userInfo() }.tokenError
            #expect(userInfo?.code == .loginRequired)
            try await party.expectNothingTaken(since: nil)
            let state = party.provider.now
            #expect(party.provider.count("userinfo") == 0 && party.provider.count("token") == 2)
            #expect(state.revoked == ["refresh-3-x"] && first.refreshToken?.text == "refresh-2-x")
            party.expectNoFaults()
        }
    }

    @Test(
        "A refresh keeps the ID token of the login when the new one has another auth_time or audience, or the clocks differ",
        arguments: keepingIDToken)
    func keepsIDTokenOfLogin(module: ProviderCase) async throws {
        try await with(module) { (party: RelyingParty) async throws in
            let first = try await party.logIn()
            let second = try await party.tokens.refresh()
            #expect(second.value != first.value && second.idToken == first.idToken && first.idToken != nil)
            #expect(party.provider.now.revoked.isEmpty)
        }
    }

    @Test("The nonce of the login may be in the ID token of a refresh")
    func acceptsSameNonceAtRefresh() async throws {
        try await RelyingParty.with { (party: RelyingParty) async throws in
            let first = try await party.logIn()
            let nonce = party.provider.now.authorizations.first?["nonce"] ?? ""
            party.provider.change { $0.claims = { $0["nonce"] = .string(nonce) } }
            let second = try await party.tokens.refresh()
            #expect(second.value != first.value && !nonce.isEmpty)
        }
    }

    private func with(_ module: ProviderCase, _ body: (RelyingParty) async throws -> Void) async throws {
        let deviation = RelyingParty.Deviation {
            $0.deviatesAtRefresh = true
            module.deviation.apply(&$0)
        }
        try await RelyingParty.with(deviation, body)
    }
}
