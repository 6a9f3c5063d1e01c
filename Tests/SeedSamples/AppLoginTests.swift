#if os(Linux)
import Foundation
import SignetCore
import SignetServer
import TestSupport
import Testing

import class SignetTesting.ManualClock
import struct SignetTesting.TemporaryDirectory
import func SignetTesting.eventually

/// The samples and sentences of the ForgeRock documentation on dynamic configuration and on token security, each in a process of
/// its own on a machine that has never seen Signet.
///
/// The apps use the public declarations of the ForgeRock SDK's modules only; those of `SignetSampleTests` have the calls that only
/// Signet has.
@Suite("Logins with the ForgeRock documents' samples, as processes with an empty home directory")
struct AppLoginTests {
    private static let apps = AppProcessTests.forgeRock
    private static let signetApps = SignetSampleTests.apps
    private static let scope = "openid profile email address"

    /// Runs `body` with a server and a new machine.
    private func withServer(
        _ app: String, refreshTokens: RegisteredClient.RefreshTokens = .rotate(), accessToken: Int = 600, refreshToken: Int = 900,
        clock: any WallClock = SystemWallClock(), _ body: (Machine, String) async throws -> Void
    ) async throws {
        let configuration = TenantFixture.configuration(
            refreshTokens: refreshTokens, accessToken: accessToken, refreshToken: refreshToken)
        try await TestServer.live(configuration, clock: clock) { server in
            try await Machine.with(app) { machine in try await body(machine, server.url) }
        }
    }

    @Test("A login keeps its tokens for the next process, and another scope at the next start removes them", arguments: apps)
    func keepsTokensForNextProcess(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("user", url, gives: "nobody")
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("user", url, gives: Self.scope)
            try await machine.expect("second-start", url, gives: "\(Self.scope), nobody")
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("logout", url, gives: "nobody")
            try await machine.expect("user", url, gives: "nobody")
        }
    }

    @Test("An app with the document's order of settings logs in, and the next process finds its tokens", arguments: signetApps)
    func logsInWithDocumentedOrder(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("user", url, gives: Self.scope)
        }
    }

    @Test("An app has the tokens of the active server only, also in the next process", arguments: apps)
    func keepsTokensOfOneServer(app: String) async throws {
        try await withServer(app) { machine, url in
            try await TestServer.live(TenantFixture.configuration()) { other in
                let none = "nobody"
                try await machine.expect("login", url, gives: Self.scope)
                try await machine.expect("two-servers", url, other.url, gives: "\(Self.scope), \(none), \(none)")
                try await machine.expect("user", url, gives: none)
            }
        }
    }

    @Test("Dynamic configuration is not persistent: a start without it fails in the next process", arguments: apps)
    func forgetsDynamicConfiguration(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            let started = try await machine.run("start-without-options")
            #expect(started.hasPrefix("error "), "\(started)")
        }
    }

    @Test("Without options an app gets its settings from FRAuthConfig.plist", arguments: apps)
    func readsPropertyListBesideApp(app: String) async throws {
        try await withServer(app) { machine, url in
            let installed = try machine.installed()
            let missing = try await installed.run("property-list-login")
            #expect(missing.hasPrefix("error "), "\(missing)")
            let settings = [
                "forgerock_url": url, "forgerock_realm": "alpha", "forgerock_cookie_name": "46b42b4229cd7a3",
                "forgerock_oauth_client_id": "iosClient",
                "forgerock_oauth_redirect_uri": "frauth://com.forgerock.ios.frexample", "forgerock_oauth_scope": Self.scope,
                "forgerock_auth_service_name": "Login", "forgerock_registration_service_name": "Register",
            ]
            try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0)
                .write(to: URL(filePath: machine.home.file("app/FRAuthConfig.plist")))
            try await installed.expect("property-list-login", gives: Self.scope)
        }
    }

    @Test("Interceptors and callback overrides stay after a start with other options", arguments: apps)
    func keepsOverridesOfApp(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("overrides", url, gives: "true START_AUTHENTICATE")
        }
    }

    @Test("A token within the threshold is replaced by the refresh token", arguments: apps)
    func renewsTokenByRefreshToken(app: String) async throws {
        try await withServer(app, accessToken: 2) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("renew", url, gives: "another token: REFRESH_TOKEN")
        }
    }

    @Test("Without a refresh token, a token within the threshold is replaced by the SSO token", arguments: apps)
    func renewsTokenBySSOToken(app: String) async throws {
        try await withServer(app, refreshTokens: .none, accessToken: 2) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("renew", url, gives: "another token: AUTHORIZE EXCHANGE_TOKEN")
        }
    }

    @Test("With an expired refresh token, a token within the threshold is replaced by the SSO token", arguments: apps)
    func renewsTokenAfterExpiredRefreshToken(app: String) async throws {
        // The access token is replaced after half of its life, 3 seconds, when the refresh token has expired.
        try await withServer(app, accessToken: 6, refreshToken: 1) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            let renewed = try await machine.run("renew", url)
            #expect(renewed.hasPrefix("another token: AUTHORIZE EXCHANGE_TOKEN REFRESH_TOKEN"), "\(renewed)")
        }
    }

    @Test("With an expired SSO token the user must log in again, and the stored tokens are removed", arguments: apps)
    func requiresLoginOfAppAfterExpiredSSOToken(app: String) async throws {
        let clock = ManualClock(SystemWallClock().now)
        try await withServer(app, refreshTokens: .none, accessToken: 2, clock: clock) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            // Only the server's clock shows that the session has ended.
            clock.advance(by: 8000)
            let renewed = try await machine.run("renew", url)
            #expect(renewed.hasPrefix("error 1000035 "), "\(renewed)")
            try await machine.expect("user", url, gives: "nobody")
        }
    }

    /// The statuses of the requests of a logout that the server has answered.
    private static func logoutStatuses(of server: TestServer.Live) -> (logouts: [Int], revocations: [Int]) {
        let requests = server.devServer.requestLog.entries.compactMap(\.request)
        return (
            requests.filter { $0["_action"] == "logout" }.map(\.status),
            requests.filter { $0.path.hasSuffix("/token/revoke") }.map(\.status)
        )
    }

    @Test("A logout ends the session and revokes the token at the server, and the next process finds no user", arguments: apps)
    func sendsRequestsOfLogout(app: String) async throws {
        try await TestServer.live(TenantFixture.configuration()) { server in
            try await Machine.with(app) { machine in
                try await machine.expect("login", server.url, gives: Self.scope)
                let process = try machine.start("recorded-logout", server.url)
                defer { process.closeInput() }
                let isAnswered = try await eventually {
                    let statuses = Self.logoutStatuses(of: server)
                    return !statuses.logouts.isEmpty && !statuses.revocations.isEmpty
                }
                #expect(isAnswered)
                process.closeInput()
                let ended = await process.end()
                #expect(ended.line == "nobody: LOGOUT REVOKE_TOKEN", "\(ended.errors)")
                let statuses = Self.logoutStatuses(of: server)
                #expect(statuses.logouts == [200] && statuses.revocations == [200])
                try await machine.expect("user", server.url, gives: "nobody")
            }
        }
    }

    @Test("The server gets the requests of a logout that an app waits for", arguments: signetApps)
    func revokesTokensOfAppAtServer(app: String) async throws {
        try await TestServer.live(TenantFixture.configuration()) { server in
            try await Machine.with(app) { machine in
                try await machine.expect("login", server.url, gives: Self.scope)
                try await machine.expect("logout", server.url, gives: "nobody: complete")
                let statuses = Self.logoutStatuses(of: server)
                #expect(statuses.logouts == [200] && statuses.revocations == [200])
                try await machine.expect("user", server.url, gives: "nobody")
            }
        }
    }

    @Test("A logout without a network removes the tokens for the next process too", arguments: signetApps)
    func removesTokensOfAppWithoutNetwork(app: String) async throws {
        try await Machine.with(app) { machine in
            let port = try ReservedPort()
            var url = ""
            try await TestServer.live(TenantFixture.configuration(), port: port) { server in
                url = server.url
                try await machine.expect("login", url, gives: Self.scope)
            }
            try await machine.expect("offline-logout", url, gives: "\(Self.scope), nobody")
            try await machine.expect("user", url, gives: "nobody")
            withExtendedLifetime(port) {}
        }
    }

    @Test("A forced logout calls endSession, logout and revoke", arguments: signetApps)
    func endsSessionOnForcedLogout(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("end-session", url, gives: "nobody: END_SESSION LOGOUT REVOKE_TOKEN")
        }
    }

    @Test("A 401 of the app's own server replaces the token, once", arguments: signetApps)
    func replacesRejectedToken(app: String) async throws {
        let requests = Counter()
        let api = try RawServer { connection in
            guard connection.request() != nil else { return }
            connection.answer(requests.add() == 1 ? "401 Unauthorized" : "200 OK", headers: ["Connection: close"])
        }
        defer { api.stop() }
        try await withServer(app) { machine, url in
            try await machine.expect("login", url, gives: Self.scope)
            try await machine.expect("call-server", url, "http://127.0.0.1:\(api.port)", gives: "200 another token")
            #expect(requests.count == 2)
        }
    }

    @Test("A token store of the app gets the tokens, and no vault is made", arguments: signetApps)
    func storesTokensInAppStore(app: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("own-store", url, gives: Self.scope)
            #expect(!machine.hasVault)
            try await machine.expect("user", url, gives: "nobody")
        }
    }

    @Test(
        "Another app of an access group gets tokens with the SSO token that the first one stored",
        arguments: zip(["ForgeRockApp", "ForgeRockApp6"], ["ForgeRockApp6", "ForgeRockApp"]))
    func sharesSSOTokenInGroup(app: String, other: String) async throws {
        try await withServer(app) { machine, url in
            try await machine.expect("group-login", url, gives: Self.scope)
            var second = machine
            second.app = other
            try await second.expect("user", url, gives: "nobody")
            try await second.expect("group-user", url, gives: Self.scope)
        }
    }
}
#endif
