import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The server refuses a refresh token without ending the grant: it is not sent again, and the grant is revoked when another token
/// replaces it or the user logs in.
@Suite("A refused refresh token")
struct RefusedRefreshTokenTests {
    /// The names of the errors with which a token endpoint refuses the client, the grant type, the scope or the refresh token.
    private static let errors = [
        "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_client", "access_denied", "invalid_request",
    ]

    /// Runs `body` with a token whose refresh the server refuses with `error`.
    private func with(
        _ error: String, session: SSOToken? = TokenSourceFixture.session, left: TimeInterval = -10, isRotated: Bool? = nil,
        _ change: TokenSourceFixture.Change = .set { _ in }, _ body: (TokenSourceFixture) async throws -> Void
    ) async throws {
        try await TokenSourceFixture.with(
            session: session, token: TokenSourceFixture.old(left: left, session: session, isRotated: isRotated),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.refreshRefusal = .status(400, [], #"{"error":"\#(error)"}"#)
                change.body(&$0)
            }, body)
    }

    /// Returns the number of refreshes with the old refresh token.
    private func refreshes(_ fixture: TokenSourceFixture) -> Int {
        fixture.provider.now.bodies["token"]?.filter { $0.contains("refresh-old") }.count ?? 0
    }

    /// Returns the name of the server's error.
    private func name(of error: TokenError?) -> String? {
        if case .server(let cause) = error?.cause { cause.name } else { nil }
    }

    @Test("The session gets new tokens, and the old grant is revoked", arguments: errors)
    func replacesRefusedRefreshBySession(error: String) async throws {
        try await with(error) { fixture in
            let token = try await fixture.tokens.token()
            #expect(token.text.hasPrefix("access-") && token.text != "access-old")
            #expect(try await fixture.store.token() == token)
            #expect(fixture.provider.count("authorize") == 1 && refreshes(fixture) == 1)
            #expect(fixture.provider.now.revoked == ["refresh-old"])
            #expect(fixture.provider.now.accessTokens[token.text] != nil)
        }
    }

    @Test(
        "A refused refresh token is not sent again while the session gets no token, with and without rotation",
        arguments: [true, false, nil] as [Bool?], ["invalid_client", "invalid_request"])
    func sendsRefusedTokenOnce(isRotated: Bool?, error: String) async throws {
        try await with(error, isRotated: isRotated, .set { $0.faults["authorize"] = .cut }) {
            (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            for _ in 0..<3 {
                let failure = await outcome { try await fixture.tokens.token() }.tokenError
                #expect(failure?.code == .unreachable && failure?.isRetryable == true)
            }
            #expect(refreshes(fixture) == 1 && fixture.provider.now.revoked.isEmpty)
            #expect(try await fixture.stored() == before)
            fixture.provider.change { $0.faults = [:] }
            #expect(try await fixture.tokens.token().text != "access-old")
            #expect(refreshes(fixture) == 1 && fixture.provider.now.revoked == ["refresh-old"])
        }
    }

    @Test("A temporary failure of the authorization request is reported as such, and a refusal as that of the refresh")
    func reportsFailureOfAuthorization() async throws {
        try await with("unauthorized_client", .set { $0.faults["authorize"] = .busy }) {
            (fixture: TokenSourceFixture) async throws in
            let failure = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(failure?.code == .unreachable && failure?.retryAfter == .seconds(7))
        }
        try await with("unauthorized_client", .set { $0.authorizeError = "access_denied" }) {
            (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            let failure = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(failure?.code == .refused && name(of: failure) == "unauthorized_client")
            #expect(try await fixture.stored() == before)
        }
    }

    @Test(
        "Without a session a login is required once the access token has expired, and the login revokes the grant",
        arguments: errors)
    func requiresLoginWithoutSession(error: String) async throws {
        try await with(error, session: nil) { (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            let failure = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(failure?.code == .loginRequired && name(of: failure) == error)
            #expect(fixture.tokens.requiresLogin)
            #expect(try await fixture.stored() == before)
            let second = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(second?.code == .loginRequired && fixture.tokens.requiresLogin && refreshes(fixture) == 1)
            try await fixture.tokens.adopt(TokenSourceFixture.session)
            #expect(!fixture.tokens.requiresLogin && fixture.provider.now.revoked == ["refresh-old"])
            #expect(try await fixture.tokens.token().text != "access-old")
        }
    }

    @Test("Without a session, the refusal of a refresh is the error while the access token is valid, and no login is required")
    func reportsRefusalBeforeExpiry() async throws {
        try await with("unauthorized_client", session: nil, left: 3600) { (fixture: TokenSourceFixture) async throws in
            let failure = await outcome { try await fixture.tokens.refresh() }.tokenError
            #expect(failure?.code == .refused && name(of: failure) == "unauthorized_client" && !fixture.tokens.requiresLogin)
            #expect(try await fixture.tokens.token().text == "access-old")
        }
    }

    /// Runs `body` with a token whose grant has ended, so that its access token is revoked, and calls `onRevocation` before the
    /// revocation is sent.
    private func withEndedGrant(
        session: SSOToken?, onRevocation: @escaping @Sendable (SessionStore, any HTTPTransport) async -> Void,
        _ body: (TokenSourceFixture) async throws -> Void
    ) async throws {
        let store = try SessionStore.memory()
        let network = AsyncHTTPTransport()
        let transport = ScriptedTransport { (request) throws(TransportError) in
            if request.url.hasSuffix("/revoke") { await onRevocation(store, network) }
            return try await network.send(request)
        }
        try await network.use { (_: AsyncHTTPTransport) async throws in
            try await TokenSourceFixture.with(
                session: session, token: TokenSourceFixture.old(left: 30, refreshToken: "unknown", session: session),
                store: store, transport: transport, .set { $0.delay = 0.3 }, body)
        }
    }

    @Test("A login during the revocation of the old token is not reported as required")
    func keepsLoginDuringRevocation() async throws {
        try await withEndedGrant(session: nil) { store, network in
            let other = TokenSource(OAuthEndpoints(), client: TokenSourceFixture.client, store: store, transport: network)
            _ = try? await other.adopt(TokenSourceFixture.session)
        } _: { (fixture: TokenSourceFixture) async throws in
            let failure = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(failure?.code == .loginRequired && fixture.provider.now.revoked == ["access-old"])
            #expect(try await fixture.store.session() == TokenSourceFixture.session)
            #expect(!fixture.tokens.requiresLogin)
        }
    }

    @Test("Callers that share a renewal get the new token before the old one is revoked")
    func sharesTokenBeforeRevocation() async throws {
        let returned = Counter()
        try await withEndedGrant(session: TokenSourceFixture.session) { _, _ in
            _ = try? await eventually(within: .seconds(20)) { returned.count == 1 }
            #expect(returned.count == 1)
        } _: { (fixture: TokenSourceFixture) async throws in
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let token = try await fixture.tokens.token()
                        returned.add()
                        return token.text
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1 && fixture.provider.now.revoked == ["access-old"])
        }
    }

    /// A reason to require a login while a token that is still valid is stored.
    enum Reason: CaseIterable {
        /// The token can't be refreshed.
        case refresh
        /// A server rejected the token, which can't be renewed.
        case rejection
        /// The caller requires the login.
        case caller
    }

    @Test(
        "A required login stays possible while the valid token is returned, until something is stored",
        arguments: Reason.allCases)
    func keepsRequiredLogin(reason: Reason) async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, refreshToken: nil, session: nil)
        ) { (fixture: TokenSourceFixture) async throws in
            let tokens = fixture.tokens
            let token = try await tokens.token()
            #expect(!tokens.requiresLogin)
            let failure: TokenError?
            switch reason {
            case .refresh: failure = await outcome { try await tokens.refresh() }.tokenError
            case .rejection: failure = await outcome { try await tokens.renewed(insteadOf: token) }.tokenError
            case .caller:
                tokens.requireLogin()
                failure = nil
            }
            let expected: TokenError.Code? = reason == .caller ? nil : .loginRequired
            #expect(failure?.code == expected)
            for _ in 0..<2 {
                #expect(try await tokens.token() == token && tokens.requiresLogin)
            }
            #expect(try await fixture.store.token() == token && fixture.provider.now.counts.isEmpty)
            try await fixture.store.save(token)
            #expect(!tokens.requiresLogin)
        }
    }
}
