#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing
import TestSupport

/// Logins at independent OpenID providers.
///
/// Each runs on the loopback interface for one test; `scripts/setup` installs them.
@Suite("Independent OpenID providers", .serialized)
struct ProviderTests {
    /// A token source at a provider and the objects it needs.
    private struct ServerContext {
        let provider: OpenIDProvider
        let transport: AsyncHTTPTransport
        let store: SessionStore
        let clock: ManualClock
        let tokens: TokenSource

        /// Lets the stored tokens expire.
        ///
        /// The clock stays as it is, because the providers issue ID tokens by the clock of the machine.
        func ageTokens() async throws {
            guard let token = try await store.token() else { return }
            var expired = AccessToken(
                value: token.value, tokenType: token.tokenType, scope: token.scope, issuedAt: token.issuedAt - 400_000,
                expiresAt: token.issuedAt - 1, refreshToken: token.refreshToken, idToken: token.idToken, session: token.session,
                renewalBegun: token.renewalBegun, isRotated: token.isRotated)
            expired.isRefreshRefused = token.isRefreshRefused
            try await store.save(expired)
        }
    }

    private func with<R>(
        _ provider: OpenIDProvider, scopes: [String], revoke: String? = nil, parameters: [String: String] = [:],
        hasSession: Bool = true, _ body: (ServerContext) async throws -> R
    ) async throws -> R {
        let transport = AsyncHTTPTransport()
        let (store, clock) = (try SessionStore.memory(), ManualClock(Date()))
        if hasSession { try await store.save(SSOToken(value: Secret(provider.session.utf8))) }
        let tokens = TokenSource(
            OAuthEndpoints(
                revoke: revoke, discovery: "\(provider.issuer)/.well-known/openid-configuration", cookieName: provider.cookieName),
            client: OAuthClient(
                clientID: "app", redirectURI: provider.redirectURI, scopes: scopes,
                signOutRedirectURI: provider.signOutRedirectURI, authorizationParameters: parameters),
            store: store, transport: transport, clock: clock)
        let server = ServerContext(provider: provider, transport: transport, store: store, clock: clock, tokens: tokens)
        return try await transport.use { _ in try await body(server) }
    }

    private static let glewlwydScopes = ["openid", "scope1", "g_profile"]
    /// Skips a page with only a "continue" button.
    private static let skips = ["g_continue": ""]

    @Test(
        "Glewlwyd: Session, tokens, claims, refresh, revocation and logout work",
        .enabled(if: Glewlwyd.isPossible, "glewlwyd is not installed"))
    func glewlwydLifeCycle() async throws {
        try await Glewlwyd.with { provider in
            try await with(provider, scopes: Self.glewlwydScopes, parameters: Self.skips) { server in
                let first = try await server.tokens.token()
                #expect(first.refreshToken != nil && first.idToken != nil && first.expiresAt != nil)
                let claims = try #require(try await TokenReader(server.store, clock: server.clock).identity())
                #expect(claims["iss"]?.string == provider.issuer && claims["nonce"] != nil && claims["at_hash"] != nil)
                #expect(try await server.tokens.userInfo().subject == claims["sub"]?.string)

                try await server.ageTokens()
                let second = try await server.tokens.token()
                #expect(second.value != first.value && second.refreshToken == first.refreshToken)

                try await server.tokens.revoke()
                #expect(try await server.store.token() == nil)
                // The refresh token is refused with an empty 400: the session gets new tokens.
                try await server.store.save(second)
                try await server.ageTokens()
                let third = try await server.tokens.token()
                #expect(third.refreshToken != second.refreshToken)

                let report = await server.tokens.logOut(endsOpenIDSession: true)
                #expect(report.local == .done && report.tokens == .done)
                // The provider asks the user on its own page.
                if case .needsBrowser = report.openIDSession {} else { Issue.record("\(report.openIDSession)") }
            }
        }
    }

    @Test("Glewlwyd: A browser login returns tokens", .enabled(if: Glewlwyd.isPossible, "glewlwyd is not installed"))
    func glewlwydBrowserLogin() async throws {
        try await Glewlwyd.with { provider in
            try await with(provider, scopes: Self.glewlwydScopes, parameters: Self.skips, hasSession: false) { server in
                let login = BrowserLogin(server.tokens) { address in
                    let response = try await server.transport.send(
                        HTTPRequest("GET", address, headers: ["Cookie": "\(provider.cookieName)=\(provider.session)"]))
                    let location = try #require(response.headers["Location"])
                    let page = try await server.transport.send(HTTPRequest("GET", location))
                    #expect(page.status == 200)
                }
                let token = try await login.logIn()
                #expect(token.idToken != nil)
                #expect(try await server.tokens.userInfo().subject != nil)
            }
        }
    }

    @Test("Glewlwyd: A login on another device returns tokens", .enabled(if: Glewlwyd.isPossible, "glewlwyd is not installed"))
    func glewlwydDeviceLogin() async throws {
        try await Glewlwyd.with { provider in
            try await with(provider, scopes: Self.glewlwydScopes, hasSession: false) { server in
                let login = DeviceLogin(server.tokens)
                let invitation = try await login.begin()
                let address = FormCoding.address(
                    "\(provider.issuer)/device", adding: [("code", invitation.userCode), ("g_continue", "")])
                let page = try await server.transport.send(
                    HTTPRequest("GET", address, headers: ["Cookie": "\(provider.cookieName)=\(provider.session)"]))
                #expect(page.status == 302)
                let token = try await login.finish(invitation)
                #expect(token.refreshToken != nil)
                #expect(try await server.tokens.token() == token)
            }
        }
    }

    private static let djangoScopes = ["openid", "read"]

    @Test(
        "Django OAuth Toolkit: Session, tokens, rotation, revocation and logout work",
        .enabled(if: DjangoProvider.isPossible, "django-oauth-toolkit is not installed"))
    func djangoLifeCycle() async throws {
        try await DjangoProvider.with { provider in
            try await with(provider, scopes: Self.djangoScopes, revoke: "\(provider.issuer)/revoke_token/") { server in
                let first = try await server.tokens.token()
                #expect(first.refreshToken != nil && first.idToken != nil)
                let claims = try #require(try await TokenReader(server.store, clock: server.clock).identity())
                #expect(try await server.tokens.userInfo().subject == claims["sub"]?.string)

                // A hundred concurrent calls for the next token: a second use of the refresh token would make the server end the grant.
                try await server.ageTokens()
                let texts = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<100 { group.addTask { try await server.tokens.token().text } }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                let second = try await server.tokens.token()
                #expect(texts == [second.text] && second.refreshToken != first.refreshToken && second.value != first.value)
                #expect(try await server.tokens.userInfo().subject != nil)

                // The old refresh token now gives invalid_grant: the tokens are removed, and the session gets new ones.
                try await server.store.save(first)
                try await server.ageTokens()
                let third = try await server.tokens.token()
                #expect(third.value != second.value)
                try await server.tokens.revoke()
                let gone = try await server.transport.send(
                    HTTPRequest("GET", "\(provider.issuer)/userinfo/", headers: ["Authorization": third.authorization]))
                #expect(gone.status == 401)

                _ = try await server.tokens.token()
                let report = await server.tokens.logOut(endsOpenIDSession: true)
                #expect(report.local == .done && report.tokens == .done, "\(report)")
                #expect(try await server.store.token() == nil)
            }
        }
    }

    @Test(
        "Django OAuth Toolkit: A wrong code verifier gets no tokens",
        .enabled(if: DjangoProvider.isPossible, "django-oauth-toolkit is not installed"))
    func djangoRefusesWrongVerifier() async throws {
        try await DjangoProvider.with { provider in
            let tampering = TamperingInterceptor()
            let transport = AsyncHTTPTransport()
            let store = try SessionStore.memory()
            try await store.save(SSOToken(value: Secret(provider.session.utf8)))
            let tokens = TokenSource(
                OAuthEndpoints(discovery: "\(provider.issuer)/.well-known/openid-configuration", cookieName: "sessionid"),
                client: OAuthClient(clientID: "app", redirectURI: provider.redirectURI, scopes: Self.djangoScopes),
                store: store, transport: transport, interceptors: [tampering])
            let tokenError = await outcome { try await tokens.token() }.tokenError
            let error = try #require(tokenError)
            guard case .server(let oauthError) = error.cause else {
                Issue.record("\(error)")
                return
            }
            #expect(oauthError.code == .invalidGrant && error.code == .refused)
            #expect(try await store.session() != nil)
            await transport.close()
        }
    }

    /// Replaces the verifier of the code exchange.
    private struct TamperingInterceptor: RequestInterceptor {
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            guard action == .exchangeToken else { return request }
            var fields = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
            fields["code_verifier"] = String(repeating: "x", count: 43)
            var request = request
            request.body = Array(FormCoding.encode(fields.map { ($0.key, $0.value) }).utf8)
            return request
        }
    }
}
#endif
