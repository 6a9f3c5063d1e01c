import FRAuth
import SignetCore
import SignetJourney
import SignetNetwork
import SignetServer
import SignetTesting
import Storage
import Testing

import class SignetOAuth.SessionStore

/// A token store of an app, as the JavaScript SDK takes one: three methods, here a Swift class.
private final class MyTokenStore: Storage {
    private var tokens: SignetCore.AccessToken?

    func save(item: SignetCore.AccessToken) async throws { tokens = item }
    func get() async throws -> SignetCore.AccessToken? { tokens }
    func delete() async throws { tokens = nil }
}

/// The document on token and key security: each of its sentences about what the SDKs do, where the document has no code of its own.
@Suite("The document on token and key security")
struct TokenSecuritySamples {
    private static let options = FROptions(
        url: "https://tenant.forgeblocks.com/am", realm: "alpha", cookieName: "46b42b4229cd7a3",
        // A machine that is busy with other tests may take its time.
        timeout: "600",
        oauthClientId: "iosClient", oauthRedirectUri: "frauth://com.forgerock.ios.frexample",
        oauthScope: "openid profile email address")

    /// A program in which somebody has logged in.
    private func loggedIn(
        refreshTokens: RegisteredClient.RefreshTokens = .rotate(),
        _ body: @escaping @Sendable (Tenant, FRUser) async throws -> Void
    ) async throws {
        try await Tenant.with(refreshTokens: refreshTokens) { tenant in
            try await tenant.program {
                try FRAuth.start(options: Self.options)
                try await personLogsIn()
                tenant.network.clear()
                try await body(tenant, try #require(FRUser.currentUser))
            }
        }
    }

    @Test("SSO tokens and OAuth 2.0 tokens are stored when the authentication completes, and can be retrieved on request")
    func stored() async throws {
        try await loggedIn { tenant, user in
            let (session, token) = (FRSession.currentSession?.sessionToken, user.token)
            #expect(session != nil && token?.refreshToken != nil && token?.idToken != nil)
            try await tenant.program {
                try FRAuth.start(options: Self.options)
                #expect(FRSession.currentSession?.sessionToken == session && FRUser.currentUser?.token == token)
            }
        }
    }

    @Test("an app can provide a custom storage mechanism for its tokens")
    func customStore() async throws {
        try await Tenant.with { tenant in
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

    @Test("tokens are refreshed when they are requested and their expiry is within the threshold")
    func threshold() async throws {
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

    @Test("without a refresh token the SSO token starts a new OAuth 2.0 flow")
    func renewalBySession() async throws {
        try await loggedIn(refreshTokens: .none) { tenant, user in
            let token = user.token
            #expect(token?.refreshToken == nil)
            tenant.clock.advance(by: 700)
            try await user.getAccessToken()
            #expect(user.token != token && user.token != nil)
            #expect(tenant.network.asked == ["AUTHORIZE", "EXCHANGE_TOKEN"])
        }
    }

    @Test("a refresh token that has expired gives way to the SSO token")
    func expiredRefreshToken() async throws {
        try await loggedIn { tenant, user in
            let token = user.token
            tenant.clock.advance(by: 1000)
            try await user.getAccessToken()
            #expect(user.token != token && user.token != nil)
            #expect(tenant.network.asked == ["REFRESH_TOKEN", "AUTHORIZE", "EXCHANGE_TOKEN"])
        }
    }

    @Test("an expired SSO token is not refreshed: the person has to log in again, and what is stored is cleaned")
    func expiredSession() async throws {
        try await loggedIn(refreshTokens: .none) { tenant, user in
            tenant.clock.advance(by: 8000)
            await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
            #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
        }
    }

    @Test("apps of one group follow one SSO token; tokens that were obtained with another one are cleaned")
    func orphans() async throws {
        try await Tenant.with { tenant in
            var options = Self.options
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

    @Test("a log-out revokes the tokens, ends the session and cleans up locally")
    func logOut() async throws {
        try await loggedIn { tenant, user in
            #expect(await user.logout().value.isComplete)
            #expect(tenant.network.asked.sorted() == ["LOGOUT", "REVOKE_TOKEN"])
            #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
        }
    }

    @Test("a log-out without a network removes the tokens from local storage")
    func logOutOffline() async throws {
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

    @Test("as the JavaScript SDK: endSession, the session's logout and revoke are all called")
    func logOutEverywhere() async throws {
        try await loggedIn { tenant, user in
            _ = await user.logout(forceEndSession: true).value
            #expect(tenant.network.asked.sorted() == ["END_SESSION", "LOGOUT", "REVOKE_TOKEN"])
        }
    }

    @Test("as the JavaScript SDK: a 401 of the app's own server has the token renewed once")
    func unauthorized() async throws {
        try await loggedIn { tenant, user in
            let token = try #require(user.token)
            // Somebody revokes it elsewhere.
            _ = try await tenant.send(
                HTTPRequest(
                    "POST", "\(Tenant.host)/am/oauth2/realms/root/realms/alpha/token/revoke",
                    headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Array("client_id=iosClient&token=\(token.value.text)".utf8)))
            let api = try #require(FRAuth.shared).authorizedTransport(for: [try Endpoint(Tenant.host)])
            let response = try await api.send(
                HTTPRequest("GET", "\(Tenant.host)/am/oauth2/realms/root/realms/alpha/userinfo"))
            #expect(response.status == 200)
            #expect(user.token?.value != token.value)
        }
    }
}
