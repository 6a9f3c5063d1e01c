import Foundation
import SignetCore
import Testing

@Suite("Rules for the life of a token")
struct TokenRuleTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let mine = SSOToken(value: Secret("session-a".utf8))
    static let other = SSOToken(value: Secret("session-b".utf8))

    /// A stored token, as the cases below describe it.
    struct StoredToken: Sendable {
        var left: Double?
        /// The age of the token.
        var age: Double = 3600
        var hasRefreshToken = true
        var session: SSOToken? = TokenRuleTests.mine
        var isRefreshBegun = false
        var isRotated: Bool?
        var isRefreshRefused = false

        var token: AccessToken {
            let token = AccessToken(
                value: Secret("access".utf8), tokenType: "Bearer", scope: "openid", issuedAt: TokenRuleTests.now - age,
                expiresAt: left.map { TokenRuleTests.now + $0 }, refreshToken: hasRefreshToken ? Secret("refresh".utf8) : nil,
                idToken: nil, session: session.map(SessionIdentity.init),
                renewalBegun: isRefreshBegun ? TokenRuleTests.now - 10 : nil, isRotated: isRotated)
            return isRefreshRefused ? token.recordingRefusedRefresh() : token
        }
    }

    struct Case: Sendable {
        let stored: StoredToken?
        let session: SSOToken?
        var isRefused = false
        let decision: TokenDecision
    }

    static let cases: [Case] = [
        // No stored token.
        Case(stored: nil, session: nil, decision: .logIn),
        Case(stored: nil, session: mine, decision: .authorize),
        // Valid, and the edges of the threshold of 60 seconds.
        Case(stored: StoredToken(left: 3600), session: mine, decision: .use),
        Case(stored: StoredToken(left: 60), session: mine, decision: .use),
        Case(stored: StoredToken(left: 59.9), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: -1), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: nil), session: mine, decision: .use),
        Case(stored: StoredToken(left: 10, session: nil), session: nil, decision: .refresh),
        // A token whose lifetime is shorter than the threshold is used for half of its lifetime.
        Case(stored: StoredToken(left: 30, age: 0), session: mine, decision: .use),
        Case(stored: StoredToken(left: 15, age: 15), session: mine, decision: .use),
        Case(stored: StoredToken(left: 14.9, age: 15.1), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: 60, age: 0), session: mine, decision: .use),
        Case(stored: StoredToken(left: 40, age: 50), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: 0, age: 0), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: -5, age: -10), session: mine, decision: .refresh),
        // Refused by a server, or replaced on request.
        Case(stored: StoredToken(left: 3600), session: mine, isRefused: true, decision: .refresh),
        Case(stored: StoredToken(left: nil), session: mine, isRefused: true, decision: .refresh),
        Case(stored: StoredToken(left: 3600, hasRefreshToken: false), session: mine, isRefused: true, decision: .authorize),
        Case(
            stored: StoredToken(left: 3600, hasRefreshToken: false, session: nil), session: nil, isRefused: true, decision: .logIn
        ),
        // No refresh token.
        Case(stored: StoredToken(left: 10, hasRefreshToken: false), session: mine, decision: .authorize),
        Case(stored: StoredToken(left: 10, hasRefreshToken: false, session: nil), session: nil, decision: .use),
        Case(stored: StoredToken(left: 0, hasRefreshToken: false, session: nil), session: nil, decision: .discardExpired),
        Case(stored: StoredToken(left: -1, hasRefreshToken: false, session: nil), session: nil, decision: .discardExpired),
        // Another session.
        Case(stored: StoredToken(left: 3600), session: other, decision: .discardForeign),
        Case(stored: StoredToken(left: -1), session: other, decision: .discardForeign),
        Case(stored: StoredToken(left: 3600, session: nil), session: mine, decision: .discardForeign),
        Case(stored: StoredToken(left: 3600, session: nil), session: nil, decision: .use),
        // The token's session is no longer stored: another app that shares the session has logged out.
        Case(stored: StoredToken(left: 3600), session: nil, decision: .discardForeign),
        Case(stored: StoredToken(left: -1), session: nil, decision: .discardForeign),
        Case(stored: StoredToken(left: 3600), session: nil, isRefused: true, decision: .discardForeign),
        // A refresh that was begun and did not end.
        Case(stored: StoredToken(left: -1, isRefreshBegun: true), session: mine, decision: .authorize),
        Case(stored: StoredToken(left: -1, isRefreshBegun: true, isRotated: true), session: mine, decision: .authorize),
        Case(stored: StoredToken(left: -1, isRefreshBegun: true, isRotated: false), session: mine, decision: .refresh),
        Case(stored: StoredToken(left: -1, session: nil, isRefreshBegun: true), session: nil, decision: .refresh),
        Case(stored: StoredToken(left: 3600, isRefreshBegun: true), session: mine, decision: .use),
        // A refresh token that the server has refused is not sent again, and stays stored to be revoked.
        Case(stored: StoredToken(left: -1, isRotated: false, isRefreshRefused: true), session: mine, decision: .authorize),
        Case(stored: StoredToken(left: 10, isRefreshRefused: true), session: mine, decision: .authorize),
        Case(stored: StoredToken(left: 3600, isRefreshRefused: true), session: mine, decision: .use),
        Case(stored: StoredToken(left: -1, session: nil, isRefreshRefused: true), session: nil, decision: .logIn),
        Case(stored: StoredToken(left: 10, session: nil, isRefreshRefused: true), session: nil, decision: .use),
    ]

    @Test("The stored state determines whether a token is used, refreshed, replaced or removed", arguments: cases)
    func decidesFromStoredState(row: Case) {
        let decision = TokenRules.decide(
            row.stored?.token, session: row.session.map(SessionIdentity.init), now: Self.now, threshold: .seconds(60),
            isRefused: row.isRefused)
        #expect(decision == row.decision)
    }

    @Test(
        "Only an invalid_grant response of a token endpoint ends a grant",
        arguments: OAuthError.Code.allCases, [nil, 200, 302, 400, 401, 403, 500, 503])
    func onlyInvalidGrantEndsGrant(code: OAuthError.Code, status: Int?) {
        let isEnd = code == .invalidGrant && [400, 401, 403].contains(status)
        let error = OAuthError(code, status: status)
        for hasSession in [true, false] {
            for isExpired in [true, false] {
                let outcome = TokenRules.afterRefresh(error, hasSession: hasSession, isExpired: isExpired)
                #expect((outcome == .endAndAuthorize || outcome == .endAndLogIn) == isEnd)
                if isEnd { #expect(outcome == (hasSession ? .endAndAuthorize : .endAndLogIn)) }
            }
        }
    }

    @Test("A refresh that the server refuses without ending the grant is replaced by the session, or by a login after the expiry")
    func replacesRefusedRefresh() {
        let refusals: [OAuthError.Code] = [
            .unreadable, .invalidRequest, .invalidClient, .invalidScope, .unauthorizedClient, .unsupportedGrantType,
            .accessDenied,
        ]
        for code in refusals {
            let error = OAuthError(code, status: 400)
            for isExpired in [true, false] {
                #expect(TokenRules.afterRefresh(error, hasSession: true, isExpired: isExpired) == .authorize)
            }
            #expect(TokenRules.afterRefresh(error, hasSession: false, isExpired: true) == .logIn)
            #expect(TokenRules.afterRefresh(error, hasSession: false, isExpired: false) == .keep)
        }
        for error in [OAuthError(.failed, status: 503), OAuthError(.other, status: 403), OAuthError(.unreadable, status: 403)] {
            for hasSession in [true, false] {
                #expect(TokenRules.afterRefresh(error, hasSession: hasSession, isExpired: true) == .keep)
            }
        }
    }

    @Test("A refresh keeps the members that the response omits and detects refresh token rotation")
    func mergesRefreshResponse() {
        let old = StoredToken(left: 10).token
        func new(_ refreshToken: String?, scope: String = "") -> AccessToken {
            AccessToken(
                value: Secret("new".utf8), scope: scope, issuedAt: Self.now, expiresAt: Self.now + 60,
                refreshToken: refreshToken.map { Secret($0.utf8) })
        }
        let plain = TokenRules.merged(new(nil), into: old.recording(renewalBegun: Self.now).recordingRefusedRefresh())
        #expect(plain.refreshToken == old.refreshToken && plain.session == old.session && plain.scope == "openid")
        #expect(plain.isRotated == false && plain.renewalBegun == nil && !plain.isRefreshRefused)
        let rotated = TokenRules.merged(new("next", scope: "read"), into: old)
        #expect(rotated.refreshToken == Secret("next".utf8) && rotated.isRotated == true && rotated.scope == "read")
        #expect(TokenRules.merged(new("refresh"), into: old).isRotated == false)
    }

    @Test(
        "The steps of a session upgrade follow from the stored and the delivered session",
        arguments: [
            (nil, false, "", []), (mine, true, "", []),
            (nil, false, "new", [.store]), (nil, true, "new", [.store, .revokeTokens]),
            (mine, true, "new", [.store, .revokeTokens, .endStoredSession]), (mine, false, "new", [.store, .endStoredSession]),
            (mine, true, "session-a", [.store]), (mine, false, "session-a", [.store]),
        ] as [(SSOToken?, Bool, String, [SessionUpgrade])])
    func sessionUpgradeSteps(stored: SSOToken?, hasTokens: Bool, delivered: String, steps: [SessionUpgrade]) {
        let new = SSOToken(value: Secret(delivered.utf8), successURL: "/elsewhere", realm: "/")
        #expect(SessionUpgrade.steps(stored: stored, hasTokens: hasTokens, delivered: new) == steps)
    }

    @Test("A token is unchanged after encoding to JSON and back, and its description hides it")
    func tokenCoding() throws {
        let token = StoredToken(left: 60.5, isRefreshBegun: true, isRotated: true, isRefreshRefused: true).token
        let bytes = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(AccessToken.self, from: bytes) == token)
        for text in ["\(token)", String(reflecting: token)] { #expect(!text.contains("access") && !text.contains("refresh")) }
        #expect(token.authorization == "Bearer access")
        #expect(AccessToken(value: Secret("x".utf8), tokenType: "bearer", issuedAt: Self.now).authorization == "Bearer x")
        #expect(AccessToken(value: Secret("x".utf8), tokenType: "DPoP", issuedAt: Self.now).authorization == "DPoP x")
    }

    @Test("Device polling slows down when the server asks for it and ends with a final error")
    func devicePolling() {
        var polling = DevicePolling(interval: nil)
        #expect(polling.interval == .seconds(5))
        #expect(polling.next(after: OAuthError(.authorizationPending, status: 400)) == .ask && polling.interval == .seconds(5))
        #expect(polling.next(after: OAuthError(.slowDown, status: 400)) == .ask && polling.interval == .seconds(10))
        polling.nextAfterSilence()
        #expect(polling.interval == .seconds(20))
        let busy = OAuthError(.failed, status: 503, retryAfter: .seconds(25))
        #expect(polling.next(after: busy) == .ask && polling.interval == .seconds(50))
        for code in [OAuthError.Code.accessDenied, .expiredToken, .invalidGrant, .invalidClient, .other] {
            #expect(polling.next(after: OAuthError(code, status: 400)) == .end)
        }
        #expect(DevicePolling(interval: .zero).interval == .seconds(1))
    }
}
