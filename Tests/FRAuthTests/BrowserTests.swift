import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetServer
import SignetTesting
import Testing

import struct SignetOAuth.LogOutReport

@Suite("Login in a browser", .serialized)
struct BrowserTests {
    /// A user at a browser with a session: opens the address, and follows the redirect of the server.
    private static func person(with session: Token, log: Log) -> @Sendable (String) async throws -> Void {
        { address in
            log.append(address)
            try await AsyncHTTPTransport().use { transport in
                let page = try await transport.send(
                    HTTPRequest("GET", address, headers: ["Cookie": "iPlanetDirectoryPro=\(session.value.text)"]))
                guard let location = page.headers["Location"] else { throw Unexpected() }
                _ = try await transport.send(HTTPRequest("GET", location))
            }
        }
    }

    private func options(_ fixture: FRAuthFixture) -> FROptions {
        let options = fixture.options
        options.oauthRedirectUri = "http://127.0.0.1/callback"
        return options
    }

    /// Creates a session in the browser, unknown to any program.
    private func browserSession(_ fixture: FRAuthFixture) async throws -> Token {
        try await AsyncHTTPTransport().use { transport in
            let service = try AuthService(name: "Login", options: fixture.options, transport: transport)
            guard case .node(let node) = try await service.next(Token.self) else { throw Unexpected() }
            fill(node)
            guard case .success(let token?) = try await node.next(Token.self) else { throw Unexpected() }
            return token
        }
    }

    @Test("A user logs in once in the system's browser, with the app's custom parameters")
    func logsInOnceInSystemBrowser() async throws {
        try await FRAuthFixture.with { fixture in
            let log = Log()
            let session = try await browserSession(fixture)
            try await fixture.program {
                $0.openBrowser = Self.person(with: session, log: log)
            } _: {
                try FRAuth.start(options: options(fixture))
                let browser = try #require(FRUser.browser())
                    .set(browserType: .nativeBrowserApp).setCustomParam(key: "acr_values", value: "strong").build()
                let user = try await browser.login()
                #expect(try await fixture.takes(try #require(user.token)))
                #expect(user.token?.sessionToken == nil)
                #expect(FRUser.currentUser?.token == user.token && FRSession.currentSession == nil)
                #expect(log.lines.count == 1 && log.lines[0].contains("acr_values=strong"))
                #expect(!browser.isInProgress && Browser.currentBrowser == nil)
                let again = try #require(FRUser.browser()).build()
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { try await again.login() }
                try await user.refresh()
                #expect(await user.logout().value.tokens == .done)
            }
        }
    }

    @Test("A user whose access token has expired can log in again in the browser")
    func replacesExpiredTokenByBrowserLogin() async throws {
        var lifetimes = TokenLifetimes()
        lifetimes.accessToken = 60
        try await FRAuthFixture.with(lifetimes: lifetimes) { fixture in
            let session = try await browserSession(fixture)
            try await fixture.program {
                $0.openBrowser = Self.person(with: session, log: Log())
            } _: {
                try FRAuth.start(options: options(fixture))
                let user = try await logIn()
                let token = try #require(user.token)
                let browser = try #require(FRUser.browser())
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { try await browser.build().login() }
                fixture.clock.advance(by: 61)
                try await browser.build().login()
                #expect(user.token != nil && user.token != token)
            }
        }
    }

    @Test("A user whose token can't be renewed can log in again in the browser before it expires")
    func replacesTokenThatRequiresLogin() async throws {
        try await FRAuthFixture.with(refreshTokens: .none) { fixture in
            let session = try await browserSession(fixture)
            try await fixture.program {
                $0.openBrowser = Self.person(with: session, log: Log())
            } _: {
                try FRAuth.start(options: options(fixture))
                let browser = try #require(FRUser.browser())
                let user = try await browser.build().login()
                let token = try #require(user.token)
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { try await browser.build().login() }
                await #expect(throws: AuthError.userAuthenticationRequired) { try await user.refresh() }
                // Other parts of the app still get the token.
                try await user.getAccessToken()
                #expect(user.token == token && FRSession.currentSession == nil)
                try await browser.build().login()
                #expect(user.token != nil && user.token != token)
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { try await browser.build().login() }
            }
        }
    }

    @Test("An app can cancel a browser login, and only one login runs at a time")
    func cancelsBrowserLogin() async throws {
        try await FRAuthFixture.with { fixture in
            let (opened, opening) = AsyncStream.makeStream(of: Void.self)
            try await fixture.program {
                $0.openBrowser = { _ in opening.yield() }
            } _: {
                try FRAuth.start(options: options(fixture))
                let browser = try #require(FRUser.browser()).build()
                let second = try #require(FRUser.browser()).build()
                async let outcome: FRUser = browser.login()
                // No answer comes back from the browser.
                _ = await opened.first { _ in true }
                #expect(FRUser.browser() == nil && Browser.currentBrowser === browser)
                await #expect(throws: BrowserError.externalUserAgentAuthenticationInProgress) { try await second.login() }
                browser.cancel()
                do {
                    _ = try await outcome
                    Issue.record("the canceled login succeeded")
                } catch {
                    #expect(error as? BrowserError == .externalUserAgentCancelled)
                }
                #expect(Browser.currentBrowser == nil && FRUser.currentUser == nil)
            }
        }
    }

    @Test("A browser login fails with the reason: no browser, an unsupported type, a redirect URI of another host")
    func reportsWhyBrowserLoginCannotBegin() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                $0.openBrowser = { _ in throw Unexpected() }
            } _: {
                #expect(FRUser.browser() == nil)
                try FRAuth.start(options: options(fixture))
                func error(_ browser: BrowserBuilder?) async throws -> Int? {
                    do {
                        _ = try await #require(browser).build().login()
                        return nil
                    } catch {
                        return (error as? any CodedFRError)?.code
                    }
                }
                #expect(try await error(FRUser.browser()) == 1_400_000)
                #expect(try await error(FRUser.browser()?.set(browserType: .ephemeralAuthSession)) == 1_400_000)
                let elsewhere = fixture.options
                elsewhere.oauthRedirectUri = "https://app.example.com/callback"
                try FRAuth.start(options: elsewhere)
                #expect(try await error(FRUser.browser()) == 1_500_008)
            }
        }
    }

    @Test("A second browser login that fails reports its own error, not that of the first")
    func reportsErrorOfEachBrowserLogin() async throws {
        try await FRAuthFixture.with { fixture in
            let attempts = Log()
            try await fixture.program {
                $0.openBrowser = { address in
                    attempts.append(address)
                    guard attempts.lines.count > 1 else { throw Unexpected() }
                    // The user denies access.
                    let asked = FormCoding.query(of: address)
                    let back = FormCoding.address(
                        try #require(asked["redirect_uri"]),
                        adding: [("error", "access_denied"), ("state", try #require(asked["state"]))])
                    try await AsyncHTTPTransport().use { transport in _ = try await transport.send(HTTPRequest("GET", back)) }
                }
            } _: {
                try FRAuth.start(options: options(fixture))
                let browser = try #require(FRUser.browser()).build()
                await #expect(throws: BrowserError.self) { try await browser.login() }
                await #expect(throws: OAuth2Error.self) { try await browser.login() }
            }
        }
    }

    @Test("An app can cancel a browser login as soon as it is in progress")
    func cancelsBrowserLoginEarly() async throws {
        try await FRAuthFixture.with { fixture in
            let log = Log()
            try await fixture.program {
                $0.openBrowser = { log.append($0) }
            } _: {
                try FRAuth.start(options: options(fixture))
                for _ in 0..<20 {
                    let browser = try #require(FRUser.browser()).build()
                    // A cancellation before the login is not an error, and does not cancel the login that follows.
                    browser.cancel()
                    let process = FRAuthProcess.current
                    let canceler = Task.detached {
                        await FRAuthProcess.$current.withValue(process) {
                            while Browser.currentBrowser == nil { await Task.yield() }
                            Browser.currentBrowser?.cancel()
                        }
                    }
                    await #expect(throws: BrowserError.externalUserAgentCancelled) { try await browser.login() }
                    await canceler.value
                }
                #expect(Browser.currentBrowser == nil)
            }
        }
    }

    @Test("The app hands over the answer of a browser login when its redirect URI has a custom scheme")
    func completesBrowserLoginAtCustomScheme() async throws {
        try await FRAuthFixture.with { fixture in
            let session = try await browserSession(fixture)
            try await fixture.program {
                $0.openBrowser = { address in
                    let location = try await AsyncHTTPTransport().use { transport in
                        try await transport.send(
                            HTTPRequest("GET", address, headers: ["Cookie": "iPlanetDirectoryPro=\(session.value.text)"]))
                    }.headers["Location"]
                    let back = try #require(location)
                    #expect(back.hasPrefix("frauth://com.forgerock.ios.frexample"))
                    for foreign in ["frauth://elsewhere?code=x", "frauth://com.forgerock.ios.frexample?code=x&state=y", "junk"] {
                        #expect(!Browser.validateBrowserLogin(url: foreign))
                    }
                    #expect(Browser.validateBrowserLogin(url: try #require(URL(string: back))))
                    // The answer is accepted once.
                    #expect(!Browser.validateBrowserLogin(url: back))
                }
            } _: {
                try FRAuth.start(options: fixture.options)
                #expect(!Browser.validateBrowserLogin(url: "frauth://com.forgerock.ios.frexample?code=x"))
                let user = try await #require(FRUser.browser()).build().login()
                #expect(try await fixture.takes(try #require(user.token)))
            }
        }
    }
}
