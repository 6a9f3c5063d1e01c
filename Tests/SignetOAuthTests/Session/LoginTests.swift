import Crypto
import Foundation
import NIOCore
import NIOPosix
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("Login in a browser or on another device")
struct LoginTests {
    private static let client = OAuthClient(
        clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid", "read"],
        authorizationParameters: ["prompt": "login"])

    /// Acts as a browser with a session at the server: follows the redirect and loads the page it leads to.
    private func browse(_ fixture: TokenSourceFixture, _ address: String, changing: (String) -> String = { $0 }) async throws
        -> HTTPResponse
    {
        let response = try await fixture.transport.send(
            HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": "sso-1"]))
        return try await fixture.transport.send(HTTPRequest("GET", changing(try #require(response.headers["Location"]))))
    }

    @Test("The authorization response arrives at a port opened for this login, and the user sees a page")
    func browserLogin() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { fixture in
            let page = Mutex<Task<HTTPResponse, any Error>?>(nil)
            let login = BrowserLogin(fixture.tokens) { address in
                let query = FormCoding.decode(address.split(separator: "?")[1])
                #expect(query["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true && query["prompt"] == "login")
                // A browser works on its own: the login may be over before its page is loaded.
                page.withLock { $0 = Task { try await browse(fixture, address) } }
            }
            let token = try await login.logIn()
            #expect(token.idToken != nil)
            let shown = try await page.withLock { $0 }?.value
            #expect(shown?.status == 200)
            let text = shown.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(text?.contains("You can close this window") == true)
            #expect(shown?.headers["Cache-Control"] == "no-store")
            #expect(try await fixture.tokens.token() == token)
            #expect(fixture.provider.count("token") == 1)
        }
    }

    @Test("A request that is not the response of this login does not end the login")
    func otherRequestsDoNotEndLogin() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let query = FormCoding.decode(address.split(separator: "?")[1])
                let back = try #require(query["redirect_uri"])
                let origin = back.replacing("/callback", with: "")
                let state = query["state"] ?? ""
                func status(_ request: HTTPRequest) async throws -> Int { try await fixture.transport.send(request).status }
                #expect(try await status(HTTPRequest("GET", "\(origin)/favicon.ico")) == 404)
                #expect(try await status(HTTPRequest("GET", "\(back)?code=stolen&state=guess")) == 400)
                #expect(try await status(HTTPRequest("GET", "\(back)?error=access_denied")) == 400)
                #expect(try await status(HTTPRequest("GET", back)) == 400)
                #expect(try await status(HTTPRequest("POST", "\(back)?state=\(state)")) == 400)
                let port = origin.split(separator: ":").last ?? ""
                for host in [
                    "evil.example.com", "evil.example.com:\(port)", "127.0.0.1", "127.0.0.1:1", "localhost:\(port)",
                    "127.0.0.1.example.com:\(port)", "[", "[::1]:\(port)", "[::2]:\(port)",
                ] {
                    let rebound = HTTPRequest("GET", "\(back)?code=c&state=\(state)", headers: ["Host": host])
                    #expect(try await status(rebound) == 404, "\(host)")
                }
                _ = try await browse(fixture, address)
            }
            #expect(try await login.logIn().text.hasPrefix("access-"))
        }
    }

    /// The loopback addresses that this machine has.
    private static let loopbacks = ["127.0.0.1", "localhost", "127.0.0.2", "[::1]"].filter { host in
        let address = host == "localhost" ? "127.0.0.1" : host.trimmingCharacters(in: ["[", "]"])
        return (try? ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: address, port: 0).wait())
            .map { (try? $0.close().wait()) != nil } ?? false
    }

    @Test("The redirect address may be any loopback address", arguments: loopbacks)
    func acceptsLoopbackAddresses(host: String) async throws {
        let client = OAuthClient(clientID: "app", redirectURI: "http://\(host)/callback", scopes: ["openid"])
        try await TokenSourceFixture.with(session: nil, client: client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                // A refused browser does not come back: the login would wait in vain.
                guard try await browse(fixture, address).status == 200 else { throw CancellationError() }
            }
            let token = try await login.logIn()
            #expect(token.text.hasPrefix("access-"))
        }
    }

    @Test("A confidential address opens through a local redirect that works once, on its own path, for a limited time")
    func opensConfidentialAddress() async throws {
        let target = "https://am.example.test/bye?id_token_hint=eyJ"
        let (opened, opening) = AsyncStream.makeStream(of: String.self)
        try await AsyncHTTPTransport().use { transport in
            // The visitor continues when the response is there, as a browser does.
            async let visit: Void = {
                let firstOpened = await opened.first { _ in true }
                let address = try #require(firstOpened)
                #expect(address.hasPrefix("http://127.0.0.1:") && !address.contains("eyJ"))
                let foreign = try await transport.send(HTTPRequest("GET", address + "x"))
                #expect(foreign.status == 404 && foreign.headers["Location"] == nil)
                let answer = try await transport.send(HTTPRequest("GET", address))
                #expect(answer.status == 303 && answer.headers["Location"] == target)
                #expect(answer.headers["Referrer-Policy"] == "no-referrer" && answer.headers["Cache-Control"] == "no-store")
                // The redirect works once.
                let again = try? await transport.send(HTTPRequest("GET", address))
                #expect(again?.headers["Location"] == nil)
            }()
            try await SystemBrowser.open(confidential: Secret(target.utf8)) { opening.yield($0) }
            try await visit
        }
        await #expect(throws: SystemBrowser.CannotOpen.self) {
            try await SystemBrowser.open(confidential: Secret(target.utf8), within: .milliseconds(50)) { _ in }
        }
        await #expect(throws: SystemBrowser.CannotOpen.self) {
            try await SystemBrowser.open(confidential: Secret("file:///etc/passwd".utf8)) { _ in Issue.record("opened") }
        }
    }

    @Test("A login whose authorization address cannot be built leaves no open port")
    func failedStartLeavesNoOpenPort() async throws {
        // A port that was free a moment ago, at an address that no other test uses.
        let host = Self.loopbacks.contains("127.0.0.2") ? "127.0.0.2" : "127.0.0.1"
        let listener = try await LoopbackListener.listening(at: "http://\(host)/callback")
        await #expect(throws: RedirectReceiver.Failure.self) {
            _ = try await listener.answer(
                within: .seconds(240), accepting: { _ in false }, whileOpening: { throw CancellationError() })
        }
        let client = OAuthClient(clientID: "app", redirectURI: listener.redirectURI, scopes: ["read"])
        let endpoints = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.authorize = nil
            return endpoints
        }
        try await TokenSourceFixture.with(session: nil, endpoints: endpoints, client: client) {
            (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { _ in Issue.record("a browser was opened") }
            for _ in 0..<2 {
                // Twice in a row: the first login released the port.
                let error = await outcome { try await login.logIn() }.tokenError
                guard case .server(let oauthError) = error?.cause else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(oauthError.code == .notOffered)
            }
        }
    }

    @Test("A login replaces the previous tokens and revokes them")
    func loginReplacesTokens() async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil), client: Self.client,
            .set { TokenSourceFixture.addOldToken(&$0) }
        ) { (fixture: TokenSourceFixture) async throws in
            let token = try await BrowserLogin(fixture.tokens) { _ = try await browse(fixture, $0) }.logIn()
            #expect(fixture.provider.now.revoked == ["refresh-old"])
            #expect(try await fixture.tokens.token() == token && token.text != "access-old")
        }
    }

    @Test("A response of another server is refused, and a denial is reported as one")
    func refusesForeignResponse() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { (fixture: TokenSourceFixture) async throws in
            let mixed = BrowserLogin(fixture.tokens) { address in
                _ = try await browse(fixture, address) { $0.replacing("iss=http", with: "iss=xhttp") }
            }
            let mixedError = await outcome { try await mixed.logIn() }.tokenError
            let words = mixedError?.description ?? ""
            #expect(words.hasPrefix("refused: issuerMismatch: the iss of the answer is not the issuer http"))
            fixture.provider.change { $0.authorizeError = "access_denied" }
            let denied = BrowserLogin(fixture.tokens) { _ = try await browse(fixture, $0) }
            let error = await outcome { try await denied.logIn() }.tokenError
            #expect(error?.code == .refused && error?.description.contains("access_denied") == true)
            #expect(try await fixture.store.token() == nil && fixture.provider.count("token") == 0)
        }
    }

    @Test("A login that the user abandons or the program cancels leaves no open port")
    func abandonedLoginLeavesNoOpenPort() async throws {
        try await TokenSourceFixture.with(session: nil, client: Self.client) { (fixture: TokenSourceFixture) async throws in
            let port = Mutex("")
            let late = BrowserLogin(fixture.tokens, timeout: .milliseconds(50)) { address in
                let query = FormCoding.decode(address.split(separator: "?")[1])
                port.withLock { $0 = query["redirect_uri"] ?? "" }
            }
            let lateError = await outcome { try await late.logIn() }.tokenError
            #expect(lateError?.code == .cancelled)
            let address = port.withLock { $0 }
            await #expect(throws: TransportError.self) { _ = try await fixture.transport.send(HTTPRequest("GET", address)) }

            let (opened, isOpen) = AsyncStream.makeStream(of: Void.self)
            let waiting = BrowserLogin(fixture.tokens) { _ in isOpen.yield() }
            let task = Task { await outcome { try await waiting.logIn() } }
            for await _ in opened { break }
            task.cancel()
            #expect(await task.value.tokenError?.code == .cancelled)
        }
    }

    @Test(
        "Only a loopback address is accepted for listening",
        arguments: ["https://app.example.com/cb", "app://cb", "http://192.0.2.1/cb", "https://127.0.0.1/cb", ""])
    func refusesNonLoopbackRedirect(redirectURI: String) async throws {
        let client = OAuthClient(clientID: "app", redirectURI: redirectURI, scopes: ["read"])
        try await TokenSourceFixture.with(session: nil, client: client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { _ in Issue.record("a browser was opened") }
            let error = await outcome { try await login.logIn() }.tokenError
            #expect(error?.code == .notConfigured)
        }
    }

    @Test(
        "Only a web address is passed to the program that opens it",
        arguments: ["file:///etc/passwd", "-h", "", "https://a b"])
    func opensOnlyWebAddresses(address: String) async {
        await #expect(throws: SystemBrowser.CannotOpen.self) { try await SystemBrowser.open(address) }
    }

    @Test("A device login polls as the server asks and continues after temporary failures")
    func deviceLoginPolls() async throws {
        @Sendable func says(_ name: String) -> TestProvider.Fault { .status(400, [], #"{"error":"\#(name)"}"#) }
        let polls = [says("authorization_pending"), says("slow_down"), says("authorization_pending"), .failed]
        try await TokenSourceFixture.with(session: nil, .set { $0.devicePolls = polls }) { fixture in
            let waits = Mutex<[Duration]>([])
            let login = DeviceLogin(fixture.tokens) { wait in waits.withLock { $0.append(wait) } }
            let invitation = try await login.begin()
            #expect(invitation.userCode == "WDJB-MJHT" && invitation.verificationURI == "https://op/device")
            let token = try await login.finish(invitation)
            let waited = waits.withLock { $0 }
            #expect(waited == [.seconds(1), .seconds(1), .seconds(6), .seconds(6), .seconds(12)])
            #expect(try await fixture.tokens.token() == token)
        }
        for (name, code) in [("access_denied", OAuthError.Code.accessDenied), ("expired_token", .expiredToken)] {
            try await TokenSourceFixture.with(session: nil, .set { $0.devicePolls = [says(name)] }) { fixture in
                let login = DeviceLogin(fixture.tokens) { _ in }
                let invitation = try await login.begin()
                let error = await outcome { try await login.finish(invitation) }.tokenError
                guard case .server(let oauthError) = error?.cause else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(error?.code == .refused && oauthError.code == code)
            }
        }
    }

    @Test("A device login waits for the server's keys before it uses its code")
    func deviceLoginWaitsForKeys() async throws {
        try await TokenSourceFixture.with(
            session: nil,
            .set {
                $0.deviceScope = "openid read"
                $0.faults["jwks"] = .busy
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let waits = Counter()
            let login = DeviceLogin(fixture.tokens) { _ in
                if waits.add() == 3 { fixture.provider.change { $0.faults = [:] } }
            }
            let token = try await login.finish(try await login.begin())
            #expect(token.idToken != nil && waits.count == 3)
            #expect(fixture.provider.count("token") == 1)
        }
    }

    @Test("A device login whose tokens are refused ends, and the tokens are revoked")
    func deviceLoginRevokesRefusedTokens() async throws {
        try await TokenSourceFixture.with(session: nil, .set { $0.deviceScope = "openid read" }) {
            (fixture: TokenSourceFixture) async throws in
            let login = DeviceLogin(fixture.tokens) { _ in }
            let first = try await login.finish(try await login.begin())
            // Signed with an unknown key that cannot be loaded now.
            fixture.provider.change {
                $0.key = P256.Signing.PrivateKey()
                $0.faults["jwks"] = .busy
            }
            let error = await outcome { try await login.finish(try await login.begin()) }.tokenError
            #expect(error?.code == .unreachable)
            #expect(fixture.provider.count("token") == 2 && fixture.provider.now.revoked.count == 1)
            #expect(fixture.provider.now.accessTokens.count == 1)
            #expect(try await fixture.store.token() == first)
        }
    }

    @Test("A device login can be canceled and ends at its expiry")
    func deviceLoginEnds() async throws {
        try await TokenSourceFixture.with(session: nil, .set { $0.devicePolls = [] }) { fixture in
            let canceling = DeviceLogin(fixture.tokens) { _ in throw CancellationError() }
            let invitation = try await canceling.begin()
            let cancelingError = await outcome { try await canceling.finish(invitation) }.tokenError
            #expect(cancelingError?.code == .cancelled)
            let late = DeviceLogin(fixture.tokens) { _ in fixture.clock.advance(by: 601) }
            let lateError = await outcome { try await late.finish(invitation) }.tokenError
            #expect(lateError?.code == .refused)
            #expect(fixture.provider.count("token") == 0)
        }
    }
}
