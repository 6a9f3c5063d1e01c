import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("The life of a session")
struct SessionTests {
    private static let next = SSOToken(value: Secret("sso-2".utf8), realm: "/alpha")

    @Test("A new session ends the previous one and its tokens")
    func newSessionEndsPrevious() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.sessions = ["sso-1", "sso-2"]
            }
        ) { fixture in
            let report = try await fixture.tokens.adopt(Self.next)
            #expect(report.isComplete && report.session == .done && report.tokens == .done)
            #expect(fixture.tokens.replaced == report)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: Self.next))
            #expect(fixture.provider.now.sessions == ["sso-2"] && fixture.provider.now.revoked == ["refresh-old"])
            #expect(try await fixture.tokens.token().text != "access-old")
        }
    }

    @Test("Adopting the same session again or an empty one keeps the tokens")
    func sameSessionKeepsTokens() async throws {
        let token = TokenSourceFixture.old(left: 3600)
        try await TokenSourceFixture.with(token: token, .set { TokenSourceFixture.addOldToken(&$0) }) { fixture in
            let again = SSOToken(value: TokenSourceFixture.session.value, successURL: "/console", realm: "/")
            _ = try await fixture.tokens.adopt(again)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: token, session: again))
            #expect(try await fixture.tokens.token().text == "access-old")
            #expect(try await fixture.tokens.adopt(SSOToken(value: Secret("".utf8))).isComplete)
            #expect(fixture.tokens.replaced == nil)
            #expect(try await fixture.store.session() == again && fixture.provider.now.counts.isEmpty)
        }
    }

    @Test("A failure to end the old session is reported and does not stop the new session")
    func reportsFailureToEndOldSession() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600),
            .set {
                $0.faults = ["sessions": .failed, "revoke": .cut]
                $0.sessions.insert("sso-2")
            }
        ) { fixture in
            let report = try await fixture.tokens.adopt(Self.next)
            for outcome in [report.session, report.tokens] {
                guard case .failed(let error) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(error.code == .unreachable)
            }
            #expect(!report.isComplete && fixture.tokens.replaced == report)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: Self.next))
        }
    }

    /// Returns a session store and its record store, which can be made to fail.
    private func faulty(in directory: TemporaryDirectory) throws -> (SessionStore, FaultyStore) {
        let records = FaultyStore(MemoryStore())
        let keychain = VaultProvider { () throws(StoreError) in records }
        return (try .keychain(account: "app", in: keychain, lockFile: directory.file("lock")), records)
    }

    @Test("A new session that cannot be stored leaves the previous one unchanged")
    func unsavedSessionKeepsPrevious() async throws {
        try await TemporaryDirectory.with { directory in
            let (store, records) = try faulty(in: directory)
            try await TokenSourceFixture.with(
                token: TokenSourceFixture.old(left: 3600), store: store, .set { TokenSourceFixture.addOldToken(&$0) }
            ) {
                (fixture: TokenSourceFixture) async throws in
                let before = try await fixture.stored()
                records.inject(StoreFault(.full, at: .put))
                let error = await outcome { try await fixture.tokens.adopt(Self.next) }.tokenError
                #expect(error?.code == .storage)
                records.reset()
                #expect(try await fixture.stored() == before && fixture.provider.now.counts.isEmpty)
                #expect(try await fixture.tokens.token().text == "access-old")
            }
        }
    }

    @Test("Tokens that cannot be removed do not stop the end of the old session and are not used again")
    func unremovableTokensAreNotUsed() async throws {
        try await TemporaryDirectory.with { directory in
            let (store, records) = try faulty(in: directory)
            try await TokenSourceFixture.with(
                token: TokenSourceFixture.old(left: 3600), store: store,
                .set {
                    TokenSourceFixture.addOldToken(&$0)
                    $0.sessions = ["sso-1", "sso-2"]
                }
            ) { (fixture: TokenSourceFixture) async throws in
                records.inject(StoreFault(.failed, at: .remove))
                let error = await outcome { try await fixture.tokens.adopt(Self.next) }.tokenError
                #expect(error?.code == .storage)
                records.reset()
                #expect(fixture.provider.now.sessions == ["sso-2"])
                #expect(try await fixture.store.session() == Self.next)
                #expect(try await fixture.tokens.token().text != "access-old")
                #expect(fixture.provider.now.revoked == ["refresh-old"])
            }
        }
    }

    @Test("Logging out ends everything locally and at the server")
    func logOutEndsEverything() async throws {
        try await TokenSourceFixture.with(.set { $0.cookies = ["a=1; Path=/"] }) { fixture in
            let token = try await fixture.tokens.token()
            let report = await fixture.tokens.logOut(endsOpenIDSession: true)
            #expect(report.isComplete)
            #expect(report.tokens == .done && report.session == .done && report.openIDSession == .done)
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
            #expect(try await fixture.store.cookies().cookies.isEmpty)
            #expect(fixture.provider.now.sessions.isEmpty)
            #expect(fixture.provider.now.revoked == [token.refreshToken?.text])
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
            let again = await fixture.tokens.logOut()
            #expect(again.isComplete && again.tokens == .notNeeded && again.session == .notNeeded)
        }
    }

    @Test("C1: A session at OpenAM, which knows version 2.0 of the sessions resource, ends at logout and at the next login")
    func endsOpenAMSessions() async throws {
        try await TokenSourceFixture.with(
            .set {
                $0.sessionsVersions = ["2.0"]
                $0.sessions = ["sso-1", "sso-2"]
            }
        ) { fixture in
            let replaced = try await fixture.tokens.adopt(Self.next)
            #expect(replaced.session == .done && fixture.provider.now.sessions == ["sso-2"])
            // The version that the server understood is used from then on.
            #expect(await fixture.tokens.logOut().session == .done)
            #expect(fixture.provider.now.sessions.isEmpty)
            #expect(fixture.provider.now.askedSessionsVersions == ["3.1", "2.0", "2.0"])
        }
    }

    @Test("A server that knows no requested version of the sessions resource causes a failure in the report")
    func reportsUnknownSessionsVersion() async throws {
        try await TokenSourceFixture.with(.set { $0.sessionsVersions = [] }) { fixture in
            let report = await fixture.tokens.logOut()
            guard case .failed(let error) = report.session else {
                Issue.record("\(report.session)")
                return
            }
            #expect(!error.isRetryable && !report.isComplete && report.local == .done)
            #expect(fixture.provider.now.askedSessionsVersions == ["3.1", "2.0"])
        }
    }

    @Test("Logging out without a network clears the local data and reports what stays valid at the server")
    func logOutOffline() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 3600, idToken: "e30.e30.e30"),
            .set { $0.faults = ["sessions": .reset, "revoke": .busy, "endsession": .cut] }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut(endsOpenIDSession: true)
            #expect(!report.isComplete && report.local == .done)
            for step in [report.tokens, report.session, report.openIDSession] {
                guard case .failed(let error) = step else {
                    Issue.record("\(step)")
                    continue
                }
                #expect(error.isRetryable)
            }
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
        }
    }

    @Test("A login without a journey session is ended by its ID token")
    func endsSessionByIDToken() async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: "e30.e30.e30"),
            .set { TokenSourceFixture.addOldToken(&$0) }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            #expect(report.isComplete && report.session == .notNeeded && report.openIDSession == .done)
            #expect(fixture.provider.count("endsession") == 1)
        }
        // A server that redirects to its own page needs the user.
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: "e30.e30.e30"),
            .set { $0.faults["endsession"] = .status(302, ["Location: /login"], "") }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            #expect(report.openIDSession.address?.contains("id_token_hint=e30.e30.e30") == true && !report.isComplete)
            var dumped = ""
            dump(report, to: &dumped)
            for text in ["\(report)", String(reflecting: report), dumped] { #expect(!text.contains("e30")) }
        }
    }

    @Test(
        "An ID token session counts as ended only by a clear response, not by a page for the user",
        arguments: [
            (204, [], "", true), (200, [], "", true), (200, [], "{}", true), (200, [], "<form>Log out?</form>", false),
            (302, ["Location: https://app.example.com/bye"], "", true),
            (302, ["Location: https://app.example.com/bye?state=1"], "", true),
            (302, ["Location: https://app.example.com/bye.evil"], "", false),
            (302, ["Location: https://app.example.com/bye/now"], "", false), (302, ["Location: /login"], "", false),
            (302, [], "", false),
        ] as [(Int, [String], String, Bool)])
    func recognizesEndSessionResponses(status: Int, headers: [String], body: String, isDone: Bool) async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: "e30.e30.e30"),
            .set { $0.faults["endsession"] = .status(status, headers, body) }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            #expect((report.openIDSession == .done) == isDone && (report.openIDSession.address == nil) == isDone)
        }
    }

    @Test(
        "A missing end-session address counts as complete, and an address that is not allowed as a failure",
        arguments: [(nil, true), ("http://op.example.com/end", false)] as [(String?, Bool)])
    func checksEndSessionAddress(address: String?, isOver: Bool) async throws {
        let addresses = TokenSourceFixture.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.endSession = address
            return endpoints
        }
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: "e30.e30.e30"), endpoints: addresses
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            #expect(report.isComplete == isOver && report.openIDSession.isOver == isOver)
        }
    }

    @Test("Unreadable data is removed at logout, and the report contains the read failure")
    func logOutRemovesUnreadableData() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(left: 3600), store: store) {
            (fixture: TokenSourceFixture) async throws in
            storage.refusesReading.turnOn()
            let report = await fixture.tokens.logOut(endsOpenIDSession: true)
            #expect(report.local == .done && report.session == .done && !report.isComplete)
            for step in [report.tokens, report.openIDSession] {
                guard case .failed(let error) = step else {
                    Issue.record("\(step)")
                    continue
                }
                #expect(error.code == .storage)
            }
            storage.refusesReading.turnOff()
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
        }
    }

    @Test("Logging out during a renewal leaves no token behind")
    func logOutDuringRenewal() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.delay = 0.2
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let renewal = Task { await outcome { try await fixture.tokens.token() } }
            let isAsked = try await eventually { fixture.provider.count("token") > 0 }
            #expect(isAsked)
            let report = await fixture.tokens.logOut()
            #expect(report.isComplete)
            _ = await renewal.value
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: nil))
            #expect(fixture.provider.now.accessTokens.isEmpty, "a token is still valid at the server")
        }
    }

    @Test("Revoking the tokens keeps the session, which gets new ones")
    func revokingKeepsSession() async throws {
        try await TokenSourceFixture.with { fixture in
            let first = try await fixture.tokens.token()
            try await fixture.tokens.revoke()
            #expect(try await fixture.stored() == TokenSourceFixture.StoredState(token: nil, session: TokenSourceFixture.session))
            #expect(try await fixture.tokens.token().text != first.text)
        }
    }

    @Test("The user's claims are requested again with a renewed token after the first one is refused")
    func userInfoRenewsToken() async throws {
        try await TokenSourceFixture.with { fixture in
            let token = try await fixture.tokens.token()
            #expect(try await fixture.tokens.userInfo().name == "Alice")
            fixture.provider.change { $0.accessTokens[token.text] = nil }
            let info = try await fixture.tokens.userInfo()
            #expect(info.subject == "alice" && info.isEmailVerified == true)
            #expect(fixture.provider.count("userinfo") == 3 && fixture.provider.count("token") == 2)
            // Claims about another user are refused.
            fixture.provider.change { $0.faults["userinfo"] = .status(200, [], #"{"sub":"bob"}"#) }
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            #expect(error?.code == .idTokenRefused && error?.cause == .other("the userinfo was refused: subject"))
        }
    }

    @Test("An app's request carries the token and is repeated once with a new one after a 401")
    func authorizedRequestRetriesOnce() async throws {
        try await TokenSourceFixture.with { fixture in
            let here = try Endpoint(fixture.provider.url)
            let api = AuthorizedTransport(fixture.transport, tokens: fixture.tokens, origins: [here])
            let request = HTTPRequest("GET", "\(fixture.provider.url)/api")
            #expect(try await api.send(request).status == 200 && fixture.provider.count("api") == 1)
            let token = try await fixture.tokens.token()
            fixture.provider.change { $0.accessTokens[token.text] = nil }
            #expect(try await api.send(request).status == 200)
            #expect(fixture.provider.count("api") == 3 && fixture.provider.count("token") == 2)
            // A server that always refuses the token is not asked again and again.
            fixture.provider.change { $0.faults["api"] = .status(401, [], "") }
            #expect(try await api.send(request).status == 401)
            #expect(fixture.provider.count("api") == 5 && fixture.provider.count("token") == 3)
            // If the renewal has no network, the server's own response is returned.
            fixture.provider.change { $0.faults["token"] = .cut }
            #expect(try await api.send(request).status == 401)
            // The token is not sent to another origin.
            await #expect(throws: TransportError.self) { _ = try await api.send(HTTPRequest("GET", "http://127.0.0.1:1/api")) }
        }
    }

    @Test(
        "An app's request uses the pins of its server and is not sent if no transport can check them",
        arguments: [true, false])
    func authorizedRequestUsesPins(canPin: Bool) async throws {
        let transport = ScriptedTransport(canPin: canPin) { _ in HTTPResponse(status: 200) }
        let (own, others, named) = (PublicKeyPin(of: [1]), PublicKeyPin(of: [2]), PublicKeyPin(of: [3]))
        try await TokenSourceFixture.with(token: TokenSourceFixture.old(left: 3600), transport: transport) {
            (fixture: TokenSourceFixture) async throws in
            let app = try fixture.app(at: "https://am.example.test/am", pins: [own])
            let origins = [try Endpoint("https://am.example.test"), try Endpoint("https://api.example.test")]
            let all = AuthorizedTransport(transport, tokens: app.tokens, origins: origins, pins: [others, own])
            let rows: [(api: AuthorizedTransport, url: String, asked: Set<PublicKeyPin>, pins: Set<PublicKeyPin>?)] = [
                (app.authorized(for: origins), "https://am.example.test/orders", [], [own]),
                (app.authorized(for: origins, pins: [others]), "https://am.example.test/orders", [], [own]),
                (app.authorized(for: origins, pins: [others]), "https://api.example.test/orders", [], [others]),
                (app.authorized(for: origins), "https://api.example.test/orders", [named], [named]),
                (all, "https://am.example.test", [], [others, own]), (all, "https://am.example.test", [own, named], [own]),
                (all, "https://am.example.test", [named], nil),
            ]
            for (api, url, asked, pins) in rows {
                let answer = await outcome { try await api.send(HTTPRequest("GET", url, pins: asked)) }
                if pins == nil {
                    #expect(answer.error?.transportCode == .invalidRequest)
                } else if canPin {
                    #expect(try answer.get().status == 200 && transport.requests.last?.pins == pins)
                } else {
                    #expect(answer.error?.transportCode == .cannotPin && transport.requests.isEmpty)
                }
            }
        }
    }

    @Test("A renewal that fails because of the local storage is reported")
    func reportsLocalRenewalFailure() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await TokenSourceFixture.with(store: store, .set { $0.faults["api"] = .status(401, [], "") }) {
            (fixture: TokenSourceFixture) async throws in
            let api = AuthorizedTransport(
                fixture.transport, tokens: fixture.tokens, origins: [try Endpoint(fixture.provider.url)])
            _ = try await fixture.tokens.token()
            storage.refuses.turnOn()
            let answer = await outcome { try await api.send(HTTPRequest("GET", "\(fixture.provider.url)/api")) }
            #expect(answer.tokenError?.code == .storage)
        }
    }
}
