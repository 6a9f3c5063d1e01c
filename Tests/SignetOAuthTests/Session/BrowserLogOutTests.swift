import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@Suite("Logout in a browser")
struct BrowserLogOutTests {
    private static let idToken = "e30.e30.e30"

    private static func client(returningTo address: String?) -> OAuthClient {
        OAuthClient(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "read"], signOutRedirectURI: address)
    }

    /// Runs the body with stored tokens that the server knows.
    private func with(
        returningTo address: String?, idToken: String? = Self.idToken, endpoints: TokenSourceFixture.Addresses? = nil,
        _ body: (TokenSourceFixture) async throws -> Void
    ) async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: idToken), endpoints: endpoints,
            client: Self.client(returningTo: address), .set { TokenSourceFixture.addOldToken(&$0) }, body)
    }

    /// Sends a request of the browser, and returns the status.
    private static func visit(_ fixture: TokenSourceFixture, _ address: String) async throws -> Int {
        try await fixture.transport.send(HTTPRequest("GET", address)).status
    }

    @Test("The browser ends the session with a state, comes back, and the logout is complete", arguments: [false, true])
    func endsSessionInBrowser(hasFixedPort: Bool) async throws {
        let port = try ReservedPort()
        let bye = hasFixedPort ? "http://127.0.0.1:\(port.number)/bye" : "http://127.0.0.1/bye"
        try await with(returningTo: bye) { (fixture: TokenSourceFixture) async throws in
            let logout = BrowserLogOut(fixture.tokens) { address in
                // Everything else is done before the browser opens.
                let stored = try await fixture.store.token()
                #expect(stored == nil && fixture.provider.now.revoked == ["refresh-old"])
                let asked = FormCoding.query(of: address)
                #expect(address.hasPrefix("\(fixture.provider.url)/endsession?"))
                #expect(asked["id_token_hint"] == Self.idToken && asked["client_id"] == "app")
                let (back, state) = (try #require(asked["post_logout_redirect_uri"]), try #require(asked["state"]))
                #expect(state.count >= 40 && hasFixedPort == (back == bye))
                #expect(back.hasPrefix("http://127.0.0.1:") && back.hasSuffix("/bye"))
                let redirect = try await fixture.transport.send(HTTPRequest("GET", address))
                #expect(redirect.headers["Location"] == back)
                let statuses = [
                    try await Self.visit(fixture, back), try await Self.visit(fixture, "\(back)?state=guess"),
                    try await Self.visit(fixture, "\(back)?state=\(state)"),
                ]
                #expect(statuses == [400, 400, 200])
            }
            let report = await logout.logOut()
            #expect(report.local == .done && report.tokens == .done && report.openIDSession == .done && report.isComplete)
        }
    }

    @Test("Each logout in a browser has another state")
    func changesState() async throws {
        let states = Mutex<Set<String>>([])
        for _ in 0..<2 {
            try await with(returningTo: "http://127.0.0.1/bye") { (fixture: TokenSourceFixture) async throws in
                let logout = BrowserLogOut(fixture.tokens) { address in
                    let asked = FormCoding.query(of: address)
                    let state = try #require(asked["state"])
                    states.withLock { _ = $0.insert(state) }
                    _ = try await Self.visit(fixture, "\(asked["post_logout_redirect_uri"] ?? "")?state=\(state)")
                }
                let report = await logout.logOut()
                #expect(report.openIDSession == .done)
            }
        }
        let count = states.withLock { $0.count }
        #expect(count == 2)
    }

    @Test(
        "Without a loopback address the browser gets the address of the client, if there is one, and nothing is waited for",
        arguments: [nil, "https://app.example.com/bye", "com.example.app:/bye"])
    func showsPageWithoutAddress(address: String?) async throws {
        try await with(returningTo: address) { (fixture: TokenSourceFixture) async throws in
            let opened = Mutex<[String]>([])
            let report = await BrowserLogOut(fixture.tokens) { address in opened.withLock { $0.append(address) } }.logOut()
            #expect(report.openIDSession == .showedPage && report.tokens == .done && report.local == .done)
            #expect(!report.isComplete)
            let addresses = opened.withLock { $0 }
            let asked = FormCoding.query(of: addresses.first ?? "")
            #expect(addresses.count == 1 && asked["id_token_hint"] == Self.idToken && asked["client_id"] == "app")
            #expect(asked["post_logout_redirect_uri"] == address && asked["state"] == nil)
        }
    }

    @Test("A browser that comes back without the right state, or not at all, leaves the logout incomplete")
    func toldWhenBrowserStaysAway() async throws {
        try await with(returningTo: "http://127.0.0.1/bye") { (fixture: TokenSourceFixture) async throws in
            let timer = ManualTimer()
            let logout = BrowserLogOut(fixture.tokens, timeout: .seconds(3), clock: timer) { address in
                let back = FormCoding.query(of: address)["post_logout_redirect_uri"] ?? ""
                for query in ["", "?state=guess"] {
                    let status = try await Self.visit(fixture, back + query)
                    #expect(status == 400)
                }
                timer.fire()
            }
            let report = await logout.logOut()
            guard case .failed(let error) = report.openIDSession else {
                Issue.record("\(report.openIDSession)")
                return
            }
            let words = error.description
            #expect(
                error.code == .cancelled && words.contains("within 3 seconds") && words.contains("register http://127.0.0.1:"))
            #expect(words.contains("2 answers that came were not the answer to this logout") && !words.contains("guess"))
            #expect(!words.contains(Self.idToken))
            #expect(report.local == .done && report.tokens == .done && !report.isComplete)
        }
    }

    @Test("A logout that is canceled while the browser is open has removed and revoked the tokens, and closes the port")
    func cancelsLogOut() async throws {
        try await with(returningTo: "http://127.0.0.1/bye") { (fixture: TokenSourceFixture) async throws in
            let (opened, isOpen) = AsyncStream.makeStream(of: String.self)
            let logout = BrowserLogOut(fixture.tokens) { isOpen.yield($0) }
            let task = Task { await logout.logOut() }
            let first = await opened.first { _ in true }
            let address = try #require(first)
            task.cancel()
            let report = await task.value
            #expect(report.openIDSession == .failed(TokenError(.cancelled)))
            #expect(report.local == .done && report.tokens == .done)
            #expect(try await fixture.store.token() == nil)
            let back = FormCoding.query(of: address)["post_logout_redirect_uri"] ?? ""
            await #expect(throws: TransportError.self) { _ = try await fixture.transport.send(HTTPRequest("GET", back)) }
        }
    }

    @Test("A missing end-session endpoint is reported, and no browser opens")
    func toldWithoutEndpoint() async throws {
        let endpoints = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.endSession = nil
            return endpoints
        }
        for address in ["http://127.0.0.1/bye", nil] {
            try await with(returningTo: address, endpoints: endpoints) { (fixture: TokenSourceFixture) async throws in
                let report = await BrowserLogOut(fixture.tokens) { _ in Issue.record("a browser was opened") }.logOut()
                guard case .failed(let error) = report.openIDSession, case .server(let cause) = error.cause else {
                    Issue.record("\(report.openIDSession)")
                    return
                }
                #expect(error.code == .notConfigured && cause.code == .notOffered)
                #expect(cause.description.contains("the server has no end-session endpoint"))
                #expect(report.local == .done && report.tokens == .done && fixture.provider.now.revoked == ["refresh-old"])
            }
        }
    }

    @Test("A logout in a browser succeeds at a server without a revocation endpoint")
    func acceptsMissingRevocationInBrowser() async throws {
        let endpoints = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.revoke = nil
            return endpoints
        }
        try await with(returningTo: "http://127.0.0.1/bye", endpoints: endpoints) {
            (fixture: TokenSourceFixture) async throws in
            let logout = BrowserLogOut(fixture.tokens) { address in
                let asked = FormCoding.query(of: address)
                _ = try await Self.visit(
                    fixture, "\(asked["post_logout_redirect_uri"] ?? "")?state=\(asked["state"] ?? "")")
            }
            let report = await logout.logOut()
            guard case .notOffered(let rest) = report.tokens else {
                Issue.record("\(report.tokens)")
                return
            }
            #expect(rest.hasRefreshToken && report.openIDSession == .done && report.local == .done)
        }
    }

    @Test("Without an id_token there is nothing for the browser to end, and it stays closed")
    func opensNothingWithoutIDToken() async throws {
        try await with(returningTo: "http://127.0.0.1/bye", idToken: nil) { (fixture: TokenSourceFixture) async throws in
            let report = await BrowserLogOut(fixture.tokens) { _ in Issue.record("a browser was opened") }.logOut()
            #expect(report.openIDSession == .notNeeded && report.isComplete)
        }
    }

    @Test("A port that is in use, a browser that can't open and an error of the server are failures of the browser's part alone")
    func reportsFailuresOfBrowser() async throws {
        let holder = try RawServer { _ in }
        defer { holder.stop() }
        let bye = "http://127.0.0.1/bye"
        let cases:
            [(address: String, opener: @Sendable (TokenSourceFixture, String) async throws -> Void, code: TokenError.Code)] =
                [
                    ("http://127.0.0.1:\(holder.port)/bye", { _, _ in Issue.record("a browser was opened") }, .notConfigured),
                    (bye, { _, _ in throw TokenError(.notConfigured, .other("no browser")) }, .notConfigured),
                    (
                        bye,
                        { fixture, address in
                            let asked = FormCoding.query(of: address)
                            _ = try await Self.visit(
                                fixture,
                                "\(asked["post_logout_redirect_uri"] ?? "")?error=access_denied&state=\(asked["state"] ?? "")")
                        }, .refused
                    ),
                ]
        for (address, opener, code) in cases {
            try await with(returningTo: address) { (fixture: TokenSourceFixture) async throws in
                let report = await BrowserLogOut(fixture.tokens) { try await opener(fixture, $0) }.logOut()
                guard case .failed(let error) = report.openIDSession else {
                    Issue.record("\(report.openIDSession)")
                    return
                }
                #expect(error.code == code && report.local == .done && report.tokens == .done)
            }
        }
    }
}
