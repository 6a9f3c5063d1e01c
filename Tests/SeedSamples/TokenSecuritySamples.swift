import FRAuth
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetTesting
import Storage
import Testing

import class SignetOAuth.SessionStore

/// A token store of an app with the three methods of the JavaScript SDK's, as a Swift class.
private final class MyTokenStore: Storage {
    private var tokens: SignetCore.AccessToken?

    func save(item: SignetCore.AccessToken) async throws { tokens = item }
    func get() async throws -> SignetCore.AccessToken? { tokens }
    func delete() async throws { tokens = nil }
}

/// Tests of the document on token and key security, which has no code: each sentence about the SDKs' behavior.
@Suite("Token and key security document")
struct TokenSecuritySamples {
    private static var options: FROptions {
        FROptions(
            url: "https://tenant.forgeblocks.com/am", realm: "alpha", cookieName: "46b42b4229cd7a3",
            // A machine that is busy with other tests may take its time.
            timeout: "600",
            oauthClientId: "iosClient", oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
            oauthScope: "openid profile email address")
    }

    /// Runs a program in which a user has logged in.
    private func loggedIn(
        refreshTokens: RegisteredClient.RefreshTokens = .rotate(),
        _ body: @escaping @Sendable (TenantFixture, FRUser) async throws -> Void
    ) async throws {
        try await TenantFixture.with(refreshTokens: refreshTokens) { tenant in
            try await tenant.program {
                try FRAuth.start(options: Self.options)
                try await personLogsIn()
                tenant.network.clear()
                try await body(tenant, try #require(FRUser.currentUser))
            }
        }
    }

    @Test("The SDK stores SSO and OAuth 2.0 tokens when the authentication completes, and returns them on request")
    func storesTokensAfterAuthentication() async throws {
        try await loggedIn { tenant, user in
            let (session, token) = (FRSession.currentSession?.sessionToken, user.token)
            #expect(session != nil && token?.refreshToken != nil && token?.idToken != nil)
            try await tenant.program {
                try FRAuth.start(options: Self.options)
                #expect(FRSession.currentSession?.sessionToken == session && FRUser.currentUser?.token == token)
            }
        }
    }

    @Test("An app can provide a custom storage mechanism for its tokens")
    func takesCustomTokenStore() async throws {
        try await TenantFixture.with { tenant in
            try await tenant.program {
                try FRAuth.setStore(
                    SessionStore(
                        tokens: MyTokenStore(), session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>()))
                try FRAuth.start(options: Self.options)
                try await personLogsIn()
                #expect(FRUser.currentUser?.token != nil)
                _ = await FRUser.currentUser?.logout().value
                #expect(FRUser.currentUser == nil)
            }
        }
    }

    @Test("The SDK refreshes tokens when they are requested and their expiry is within the threshold")
    func refreshesTokensWithinThreshold() async throws {
        try await loggedIn { tenant, user in
            let token = user.token
            tenant.clock.advance(by: 539)
            try await user.getAccessToken()
            #expect(user.token == token && tenant.network.asked.isEmpty)
            tenant.clock.advance(by: 2)
            try await user.getAccessToken()
            #expect(user.token != token && tenant.network.asked == ["REFRESH_TOKEN"])
        }
    }

    @Test("Without a refresh token the SDK starts a new OAuth 2.0 flow with the SSO token")
    func renewsTokensBySSOToken() async throws {
        try await loggedIn(refreshTokens: .none) { tenant, user in
            let token = user.token
            #expect(token?.refreshToken == nil)
            tenant.clock.advance(by: 700)
            try await user.getAccessToken()
            #expect(user.token != token && user.token != nil)
            #expect(tenant.network.asked == ["AUTHORIZE", "EXCHANGE_TOKEN"])
        }
    }

    @Test("With an expired refresh token the SDK starts a new OAuth 2.0 flow with the SSO token")
    func renewsBySSOTokenAfterExpiredRefreshToken() async throws {
        try await loggedIn { tenant, user in
            let token = user.token
            tenant.clock.advance(by: 1000)
            try await user.getAccessToken()
            #expect(user.token != token && user.token != nil)
            #expect(tenant.network.asked == ["REFRESH_TOKEN", "AUTHORIZE", "EXCHANGE_TOKEN"])
        }
    }

    @Test("With an expired SSO token the user has to log in again, and the SDK removes the stored tokens")
    func requiresLoginAfterExpiredSSOToken() async throws {
        try await loggedIn(refreshTokens: .none) { tenant, user in
            tenant.clock.advance(by: 8000)
            await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
            #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
        }
    }

    @Test("Apps of one group share an SSO token, and the SDK removes tokens obtained with another one")
    func removesTokensOfOtherSSOToken() async throws {
        try await TenantFixture.with { tenant in
            let options = Self.options
            options.keychainAccessGroup = "com.example.group"
            let shared = options
            try await tenant.program(application: "one") {
                try FRAuth.start(options: shared)
                try await personLogsIn()
            }
            try await tenant.program(application: "two") {
                try FRAuth.start(options: shared)
                try await FRUser.currentUser?.getAccessToken()
                _ = await FRUser.currentUser?.logout().value
                try await personLogsIn()
            }
            tenant.network.clear()
            try await tenant.program(application: "one") {
                try FRAuth.start(options: shared)
                let user = try #require(FRUser.currentUser)
                #expect(user.token == nil)
                try await user.getAccessToken()
                #expect(user.token?.sessionToken == FRSession.currentSession?.sessionToken?.value)
                #expect(tenant.network.asked == ["REVOKE_TOKEN", "AUTHORIZE", "EXCHANGE_TOKEN"])
            }
        }
    }

    @Test("A logout revokes the tokens, ends the session and cleans up locally")
    func revokesAndCleansUpOnLogout() async throws {
        try await loggedIn { tenant, user in
            #expect(await user.logout().value.isComplete)
            #expect(tenant.network.asked.sorted() == ["LOGOUT", "REVOKE_TOKEN"])
            #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
        }
    }

    @Test("A logout without a network removes the tokens from local storage")
    func removesTokensOnOfflineLogout() async throws {
        try await loggedIn { tenant, user in
            tenant.network.cut()
            let report = await user.logout().value
            #expect(!report.isComplete && report.local == .done)
            try await tenant.program {
                try FRAuth.start(options: Self.options)
                #expect(FRUser.currentUser == nil)
            }
        }
    }

    @Test("A logout with forceEndSession calls endSession, logout and revoke, as the JavaScript SDK does")
    func callsAllEndpointsOnForcedLogout() async throws {
        try await loggedIn { tenant, user in
            _ = await user.logout(forceEndSession: true).value
            #expect(tenant.network.asked.sorted() == ["END_SESSION", "LOGOUT", "REVOKE_TOKEN"])
        }
    }

    @Test("A 401 from the app's own server renews the token once, as the JavaScript SDK does")
    func renewsTokenOnceAfterUnauthorized() async throws {
        try await loggedIn { tenant, user in
            let token = try #require(user.token)
            // Another client revokes the token.
            _ = try await tenant.send(
                HTTPRequest(
                    "POST", "\(TenantFixture.host)/am/oauth2/realms/root/realms/alpha/token/revoke",
                    headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Array("client_id=iosClient&token=\(token.value.text)".utf8)))
            let api = try #require(FRAuth.shared).authorizedTransport(for: [try Endpoint(TenantFixture.host)])
            let response = try await api.send(
                HTTPRequest("GET", "\(TenantFixture.host)/am/oauth2/realms/root/realms/alpha/userinfo"))
            #expect(response.status == 200)
            #expect(user.token?.value != token.value)
        }
    }
}
