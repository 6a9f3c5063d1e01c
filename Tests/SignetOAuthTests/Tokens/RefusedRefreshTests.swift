import Foundation
import SignetCore
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The response to a refresh is about another user, or is forged: its tokens must not live on, and the refresh token must not be
/// sent again (OpenID Connect Core section 12.2, RFC 9700 section 4.14.2).
@Suite("A refused refresh")
struct RefusedRefreshTests {
    private static let idToken = "e30.eyJzdWIiOiJhbGljZSJ9.e30"

    /// Runs `body` with a token of alice whose next refresh returns an ID token with `claims`.
    private func with(
        _ claims: [String: JSONValue] = ["sub": .string("mallory")], session: SSOToken? = nil, left: TimeInterval = -10,
        changing change: TokenSourceFixture.Change = .set { _ in }, _ body: (TokenSourceFixture) async throws -> Void
    ) async throws {
        try await TokenSourceFixture.with(
            session: session, token: TokenSourceFixture.old(left: left, session: session, idToken: Self.idToken),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.refreshScope = "openid read"
                $0.claims = claims
                change.body(&$0)
            }, body)
    }

    /// Checks that a login is required, for `reason`.
    private func expectRequiredLogin(_ reason: TokenError.Cause, _ fixture: TokenSourceFixture, _ tokens: TokenSource? = nil)
        async throws
    {
        let tokens = tokens ?? fixture.tokens
        for error in [
            await outcome { try await tokens.token() }.tokenError, await outcome { try await tokens.refresh() }.tokenError,
            await outcome { try await tokens.userInfo() }.tokenError,
        ] { #expect(error?.code == .loginRequired && error?.cause == reason && error?.isRetryable == false) }
        let reader = TokenReader(fixture.store, clock: fixture.clock)
        #expect(try await reader.storedToken() == nil)
        #expect(try await reader.identity() == nil)
        #expect(try await fixture.store.token() == nil)
        #expect(fixture.provider.count("token") == 1 && fixture.provider.count("authorize") == 0)
        #expect(fixture.provider.now.reuses == 0)
    }

    /// Returns another source over the same store, as another process has it.
    private func other(_ fixture: TokenSourceFixture) -> TokenSource {
        TokenSource(
            fixture.provider.endpoints(), client: TokenSourceFixture.client, store: fixture.store, transport: fixture.transport,
            clock: fixture.clock)
    }

    @Test(
        "The tokens of a refused response are revoked, the old ones are not used, and a login is required with the reason",
        arguments: [
            (["sub": .string("mallory")], .subject), (["iss": .string("https://evil.example.test")], .issuer),
            (["aud": .string("other")], .audience), (["exp": .integer(1)], .expired),
            (["at_hash": .string("wrong")], .accessTokenHash), (["sub": .null], .subject),
        ] as [([String: JSONValue], IDTokenError.Code)], [-10, 30] as [TimeInterval])
    func endsLoginOnRefusal(refusal: (claims: [String: JSONValue], code: IDTokenError.Code), left: TimeInterval) async throws {
        for session in [nil, TokenSourceFixture.session] {
            try await with(refusal.claims, session: session, left: left) { fixture in
                let reason = TokenError.Cause.idToken(IDTokenError(refusal.code))
                try await expectRequiredLogin(reason, fixture)
                #expect(fixture.provider.now.revoked == ["refresh-2"])
                #expect(fixture.provider.now.accessTokens.isEmpty, "a token is still valid at the server")
                // So it is for another process, which has not seen the response.
                try await expectRequiredLogin(reason, fixture, other(fixture))
                #expect(try await fixture.store.session() == session)
                #expect(fixture.provider.now.revoked == ["refresh-2"])
                let sent = fixture.provider.now.bodies["revoke"] ?? []
                #expect(!sent.isEmpty && !sent.joined().contains("refresh-old"))
            }
        }
    }

    @Test("Without a new refresh token, the new access token is revoked")
    func revokesAccessTokenWithoutRefreshToken() async throws {
        try await with(changing: .set { $0.isRotating = false }) { fixture in
            try await expectRequiredLogin(.idToken(IDTokenError(.subject)), fixture)
            #expect(fixture.provider.now.revoked == ["access-1"])
        }
    }

    @Test("A token response with a name twice ends the login too", arguments: ["token", "claims"])
    func endsLoginOnRepeatedName(part: String) async throws {
        try await with([:], changing: .set { $0.changes[part] = { $0.dropLast() + #","sub":"mallory","sub":"alice"}"# } }) {
            fixture in
            let reason: TokenError.Cause =
                part == "token" ? .server(OAuthError(.repeatedMember)) : .idToken(IDTokenError(.form))
            try await expectRequiredLogin(reason, fixture)
            // The tokens of an ambiguous response aren't known.
            #expect(fixture.provider.now.revoked == (part == "token" ? [] : ["refresh-2"]))
        }
    }

    @Test("A revocation that fails is tried again at the next call, also by another process")
    func retriesRevocation() async throws {
        try await with(changing: .set { $0.faults["revoke"] = .busy }) { fixture in
            let reason = TokenError.Cause.idToken(IDTokenError(.subject))
            try await expectRequiredLogin(reason, fixture)
            #expect(fixture.provider.now.revoked.isEmpty && fixture.provider.count("revoke") == 3)
            fixture.provider.change { $0.faults = [:] }
            let error = await outcome { try await other(fixture).token() }.tokenError
            #expect(error?.code == .loginRequired && fixture.provider.now.revoked == ["refresh-2"])
            try await expectRequiredLogin(reason, fixture)
            #expect(fixture.provider.now.revoked == ["refresh-2"])
        }
    }

    @Test("A logout revokes the refused grant and reports a failure to do so", arguments: [true, false])
    func logOutRevokesGrant(fails: Bool) async throws {
        try await with(changing: .set { $0.faults["revoke"] = .busy }) { fixture in
            _ = await outcome { try await fixture.tokens.token() }
            if !fails { fixture.provider.change { $0.faults = [:] } }
            let report = await fixture.tokens.logOut()
            #expect(report.local == .done && (report.tokens == .done) == !fails)
            #expect(fixture.provider.now.revoked == (fails ? [] : ["refresh-2"]))
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error == TokenError(.loginRequired))
        }
    }

    @Test("A new login ends the refusal and revokes what is left of it", arguments: [true, false])
    func loginEndsRefusal(hasSession: Bool) async throws {
        let session = hasSession ? TokenSourceFixture.session : nil
        try await with(session: session, changing: .set { $0.faults["revoke"] = .busy }) { fixture in
            try await expectRequiredLogin(.idToken(IDTokenError(.subject)), fixture)
            fixture.provider.change {
                $0.faults = [:]
                $0.claims = [:]
            }
            try await fixture.tokens.adopt(TokenSourceFixture.session)
            #expect(fixture.provider.now.revoked == ["refresh-2"])
            let token = try await fixture.tokens.token()
            #expect(token.text.hasPrefix("access-") && fixture.provider.count("authorize") == 1)
            #expect(fixture.provider.now.reuses == 0)
        }
    }

    @Test("A stored refusal has no usable token, for a program that does not know it either, and is read back")
    func storesRefusal() async throws {
        let token = TokenSourceFixture.old(left: 3600, idToken: Self.idToken)
        let record = token.replaced(
            by: RefusedRefresh(reason: "subject", grant: RefusedRefresh.Grant(TokenSourceFixture.old(refreshToken: "new"))))
        let bytes = try JSON.encode(record)
        #expect(try JSON.decode(AccessToken.self, from: bytes) == record)
        let members = try #require(try JSON.value(of: bytes).object)
        #expect(members["access_token"] == .string("") && members["refresh_token"] == nil)
        #expect(record.isExpired(at: token.issuedAt) && record.revocable?.refreshToken?.text == "new")
        #expect("\(record)".contains("access-old") == false)
        let stored = StoredSession(session: TokenSourceFixture.session, token: record)
        #expect(stored.token == nil && stored.ownToken == nil && !stored.hasUser && !stored.isEmpty)
    }

    @Test("A refusal that cannot be stored revokes the grant at once and reports the storage")
    func revokesWhenStorageFails() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        // Non-rotating servers need no note before the refresh, so that the refusal is the first write.
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(session: nil, idToken: Self.idToken, isRotated: false), store: store,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.refreshScope = "openid read"
                $0.claims = ["sub": .string("mallory")]
            }
        ) { (fixture: TokenSourceFixture) async throws in
            storage.refuses.turnOn()
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .storage && fixture.provider.now.revoked == ["refresh-2"])
        }
    }
}
