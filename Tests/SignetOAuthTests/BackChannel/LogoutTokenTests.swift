import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("Logout tokens at a relying party")
struct LogoutTokenTests {
    /// Checks a row, and the response of a service to it.
    private func check(_ row: LogoutTokenCase) async throws {
        let fixture = LogoutTokenFixture(policy: row.policy)
        let answer = await fixture.verifier.answer(LogoutTokenFixture.body(row.token(fixture))) { token in
            #expect(row.code == nil && token.issuer == LogoutTokenFixture.issuer && token.id == "token-1")
        }
        #expect(answer.response.status == (row.code == nil ? 200 : 400))
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        switch answer.outcome {
        case .success: #expect(row.code == nil && answer.response.body.isEmpty)
        case .failure(let error):
            let code = try #require((error as? LogoutTokenError)?.code)
            #expect(code == row.code)
            let content = try JSON.value(of: answer.response.body)
            #expect(content["error"] == .string("invalid_request"))
            #expect(content["error_description"]?.string?.hasSuffix(code.rawValue) == true)
        }
    }

    @Test(
        "The modules of the Foundation's plan for back-channel logout have the expected response",
        arguments: LogoutTokenCase.modules)
    func answersLogoutModules(row: LogoutTokenCase) async throws {
        try await check(row)
    }

    @Test("The plan for back-channel logout has eight modules, of which seven are refused")
    func hasAllLogoutModules() {
        let refused = LogoutTokenCase.modules.filter { $0.code != nil }
        #expect(LogoutTokenCase.modules.count == 8 && refused.count == 7)
    }

    @Test("A logout token whose signature or form isn't valid is refused", arguments: LogoutTokenCase.badSignatures)
    func refusesBadLogoutSignature(row: LogoutTokenCase) async throws {
        try await check(row)
    }

    @Test("A logout token with an invalid type or claim is refused", arguments: LogoutTokenCase.badClaims)
    func refusesBadLogoutClaim(row: LogoutTokenCase) async throws {
        try await check(row)
    }

    @Test("A valid logout token is accepted", arguments: LogoutTokenCase.good)
    func acceptsValidLogoutToken(row: LogoutTokenCase) async throws {
        try await check(row)
    }

    @Test("An accepted logout token has the claims of the provider")
    func logoutTokenHasClaims() async throws {
        let fixture = LogoutTokenFixture()
        let token = try await fixture.verifier.verify(fixture.token(claims: ["extra": .string("x")]))
        let start = Double(LogoutTokenFixture.start)
        #expect(token.issuer == LogoutTokenFixture.issuer && token.subject == "alice" && token.sessionID == "session-1")
        #expect(token.issuedAt == Date(timeIntervalSince1970: start))
        #expect(token.expiresAt == Date(timeIntervalSince1970: start + 120))
        #expect(token.id == "token-1" && token.claims["extra"] == .string("x"))
    }

    // MARK: Requests

    @Test(
        "A body that isn't a form with one logout token is refused",
        arguments: [
            "", "logout_token=", "token=x", "logout_token=a&logout_token=a", "logout%5Ftoken=a&logout_token=a",
            "logout_token=%GG",
            #"{"logout_token":"x"}"#,
        ])
    func refusesBadLogoutBody(body: String) async {
        let fixture = LogoutTokenFixture()
        let error = await outcome { try await fixture.verifier.verify(body: Array(body.utf8)) }.error as? LogoutTokenError
        #expect(error?.code == .request)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A long logout token is refused without a request")
    func refusesLongLogoutToken() async {
        let fixture = LogoutTokenFixture()
        let text = String(repeating: "a", count: LogoutTokenVerifier.maximumLength)
        let error = await outcome { try await fixture.verifier.verify(body: LogoutTokenFixture.body(text)) }.error
        #expect((error as? LogoutTokenError)?.code == .request)
        #expect(await fixture.code(of: text + "a") == .request)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A body that isn't UTF-8 is refused")
    func refusesLogoutBodyWithOtherEncoding() async {
        let fixture = LogoutTokenFixture()
        let body = Array("logout_token=".utf8) + [0xFF]
        let error = await outcome { try await fixture.verifier.verify(body: body) }.error as? LogoutTokenError
        #expect(error?.code == .request)
    }

    @Test("Other parameters of a logout request are ignored")
    func ignoresOtherLogoutParameters() async throws {
        let fixture = LogoutTokenFixture()
        let body = Array("x=1&".utf8) + LogoutTokenFixture.body(fixture.token()) + Array("&y=2".utf8)
        #expect(try await fixture.verifier.verify(body: body).subject == "alice")
    }

    @Test("A logout that the app could not complete is answered with 400, and the token is accepted once more")
    func acceptsTokenAgainAfterFailedLogout() async {
        struct Failed: Error {}
        let fixture = LogoutTokenFixture()
        let body = LogoutTokenFixture.body(fixture.token())
        let failed = await fixture.verifier.answer(body) { _ in throw Failed() }
        #expect(failed.response.status == 400 && failed.response.headers["Cache-Control"] == "no-store")
        #expect((failed.outcome.error as? Failed) != nil)
        let busy = await fixture.verifier.answer(body) { _ in throw LogoutTokenError(.unavailable, isRetryable: true) }
        #expect(busy.response.status == 503 && busy.response.headers["Cache-Control"] == "no-store")
        let done = await fixture.verifier.answer(body) { _ in }
        #expect(done.response.status == 200)
        let repeated = await fixture.verifier.answer(body) { _ in }
        #expect(repeated.response.status == 400)
        #expect((repeated.outcome.error as? LogoutTokenError)?.code == .replayed)
    }

    // MARK: Keys and issuer

    @Test("A logout token that is signed with a new key is accepted, also under the ID of the old one")
    func findsReplacedLogoutKey() async {
        let fixture = LogoutTokenFixture()
        #expect(await fixture.code(of: fixture.token()) == nil)
        #expect(fixture.keyRequests == 1)
        fixture.provider.withLock { $0.keys["k1"] = P256.Signing.PrivateKey() }
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        #expect(await fixture.code(of: fixture.token(claims: ["jti": .string("token-2")])) == nil)
        #expect(fixture.keyRequests == 2)
    }

    @Test("Forged logout tokens cause requests for keys only at intervals")
    func limitsKeyRequestsOfForgedTokens() async {
        let fixture = LogoutTokenFixture()
        #expect(await fixture.code(of: fixture.token()) == nil)
        for number in 0..<5 {
            let forged = fixture.token(header: ["kid": .string("k\(number)")], by: P256.Signing.PrivateKey())
            #expect(await fixture.code(of: forged) == .signature)
        }
        #expect(await fixture.code(of: fixture.token(claims: ["jti": .string("token-2")])) == nil)
        #expect(fixture.keyRequests == 1)
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        for _ in 0..<2 {
            #expect(await fixture.code(of: fixture.token(by: P256.Signing.PrivateKey())) == .signature)
            #expect(fixture.keyRequests == 2)
        }
    }

    @Test("The first request for keys is sent once for many logout tokens, and at most every 30 seconds when it fails")
    func limitsFirstKeyRequest() async {
        let endpoints = OAuthEndpoints(jwks: LogoutTokenFixture.jwks, issuer: LogoutTokenFixture.issuer)
        let fixture = LogoutTokenFixture(endpoints: endpoints)
        fixture.provider.withLock { $0.isDown = true }
        let token = fixture.token()
        let codes = await withTaskGroup(of: LogoutTokenError.Code?.self) { group in
            for _ in 0..<8 { group.addTask { await fixture.code(of: token) } }
            var codes: [LogoutTokenError.Code?] = []
            for await code in group { codes.append(code) }
            return codes
        }
        let unavailable = codes.filter { $0 == .unavailable }
        #expect(unavailable.count == 8 && fixture.keyRequests == 1)
        fixture.provider.withLock { $0.isDown = false }
        let early = await fixture.error(of: token)
        #expect(early?.code == .unavailable && early?.isRetryable == true && fixture.keyRequests == 1)
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        #expect(await fixture.code(of: token) == nil)
        #expect(fixture.keyRequests == 2)
    }

    @Test("A forged logout token while the keys are not available does not remove the known keys")
    func keepsKeysAtOutage() async {
        let fixture = LogoutTokenFixture()
        #expect(await fixture.code(of: fixture.token()) == nil)
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        fixture.provider.withLock { $0.isDown = true }
        // The token may be signed with a key that the provider has published meanwhile, so it is not refused for good.
        for _ in 0..<2 {
            let error = await fixture.error(of: fixture.token(by: P256.Signing.PrivateKey()))
            #expect(error?.code == .unavailable && error?.isRetryable == true)
        }
        #expect(await fixture.code(of: fixture.token(claims: ["jti": .string("token-2")])) == nil)
        #expect(fixture.keyRequests == 2)
    }

    @Test("A logout token is neither refused nor remembered while the keys are not available")
    func logoutTokenWaitsForKeys() async throws {
        let fixture = LogoutTokenFixture()
        fixture.provider.withLock { $0.isDown = true }
        let body = LogoutTokenFixture.body(fixture.token())
        let failed = await fixture.verifier.answer(body) { _ in }
        let error = try #require(failed.outcome.error as? LogoutTokenError)
        #expect(error.code == .unavailable && error.isRetryable && failed.response.status == 503)
        fixture.provider.withLock { $0.isDown = false }
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        let done = await fixture.verifier.answer(body) { _ in }
        #expect(done.response.status == 200)
    }

    @Test("The issuer of logout tokens comes from the discovery document when the app has none, and must be that of its address")
    func checksIssuerOfLogoutDiscovery() async {
        let fixture = LogoutTokenFixture(endpoints: OAuthEndpoints(discovery: LogoutTokenFixture.discovery))
        #expect(await fixture.code(of: fixture.token()) == nil)
        let other = LogoutTokenFixture(endpoints: OAuthEndpoints(discovery: LogoutTokenFixture.discovery))
        other.provider.withLock { $0.metadata["issuer"] = .string("https://evil.example.test") }
        let error = await other.error(of: other.token())
        #expect(error?.code == .unavailable && error?.isRetryable == false)
    }

    @Test("A logout token has an algorithm that the discovery document lists for ID tokens, unless the app requires one")
    func checksListedLogoutAlgorithm() async {
        let listed: JSONValue = .array([.string("RS256")])
        let fixture = LogoutTokenFixture()
        fixture.provider.withLock { $0.metadata["id_token_signing_alg_values_supported"] = listed }
        #expect(await fixture.code(of: fixture.token()) == .algorithm)
        let expecting = LogoutTokenFixture(policy: LogoutTokenPolicy(algorithm: "ES256"))
        expecting.provider.withLock { $0.metadata["id_token_signing_alg_values_supported"] = listed }
        #expect(await expecting.code(of: expecting.token()) == nil)
    }

    @Test("A verifier for a profile needs a client, whose ID is the audience, and has its requirements for ID tokens")
    func verifierOfProfileNeedsClient() async throws {
        let fixture = LogoutTokenFixture()
        let withoutClient = try ServerProfile(
            url: LogoutTokenFixture.issuer, endpoints: [.discovery: LogoutTokenFixture.discovery]
        ) { $0.issuer = LogoutTokenFixture.issuer }
        #expect(throws: ProfileError.self) {
            try LogoutTokenVerifier(withoutClient, memory: ProcessLogoutTokenMemory(), transport: fixture.transport)
        }
        var profile = withoutClient
        profile.client = OAuthClient(clientID: "app", redirectURI: "https://app.example.com/cb", scopes: ["openid"])
        let verifier = try LogoutTokenVerifier(
            profile, memory: ProcessLogoutTokenMemory(), transport: fixture.transport, clock: fixture.clock)
        #expect(try await verifier.verify(fixture.token()).subject == "alice")
        profile.client?.idTokenSignedResponseAlg = "RS256"
        let strict = try LogoutTokenVerifier(
            profile, memory: ProcessLogoutTokenMemory(), transport: fixture.transport, clock: fixture.clock)
        let error = await outcome { try await strict.verify(fixture.token()) }.error as? LogoutTokenError
        #expect(error?.code == .algorithm)
    }
}
