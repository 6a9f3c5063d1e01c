import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Synchronization
import Testing

@Suite("The life of a session")
struct SessionTests {
    private static let next = SSOToken(value: Secret("sso-2".utf8), realm: "/alpha")

    @Test("A new session ends the previous one and its tokens")
    func newSessionEndsPrevious() async throws {
        try await Bench.with(
            token: Bench.old(left: 3600),
            .set {
                Bench.knowsOld(&$0)
                $0.sessions = ["sso-1", "sso-2"]
            }
        ) { bench in
            let report = try await bench.tokens.adopt(Self.next)
            #expect(report.isComplete && report.session == .done && report.tokens == .done)
            #expect(bench.tokens.replaced == report)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: Self.next))
            #expect(bench.provider.now.sessions == ["sso-2"] && bench.provider.now.revoked == ["refresh-old"])
            #expect(try await bench.tokens.token().text != "access-old")
        }
    }

    @Test("Adopting the same session again or an empty one keeps the tokens")
    func sameSessionKeepsTokens() async throws {
        let token = Bench.old(left: 3600)
        try await Bench.with(token: token, .set { Bench.knowsOld(&$0) }) { bench in
            let again = SSOToken(value: Bench.session.value, successURL: "/console", realm: "/")
            _ = try await bench.tokens.adopt(again)
            #expect(try await bench.kept() == Bench.Kept(token: token, session: again))
            #expect(try await bench.tokens.token().text == "access-old")
            #expect(try await bench.tokens.adopt(SSOToken(value: Secret("".utf8))).isComplete)
            #expect(bench.tokens.replaced == nil)
            #expect(try await bench.store.session() == again && bench.provider.now.counts.isEmpty)
        }
    }

    @Test("A failure to end the old session is reported and does not stop the new session")
    func reportsFailureToEndOldSession() async throws {
        try await Bench.with(
            token: Bench.old(left: 3600),
            .set {
                $0.faults = ["sessions": .failed, "revoke": .cut]
                $0.sessions.insert("sso-2")
            }
        ) { bench in
            let report = try await bench.tokens.adopt(Self.next)
            for outcome in [report.session, report.tokens] {
                guard case .failed(let error) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(error.code == .unreachable)
            }
            #expect(!report.isComplete && bench.tokens.replaced == report)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: Self.next))
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
            try await Bench.with(token: Bench.old(left: 3600), store: store, .set { Bench.knowsOld(&$0) }) {
                (bench: Bench) async throws in
                let before = try await bench.kept()
                records.inject(StoreFault(.full, at: .put))
                let error = await outcome { try await bench.tokens.adopt(Self.next) }.tokenError
                #expect(error?.code == .storage)
                records.heal()
                #expect(try await bench.kept() == before && bench.provider.now.counts.isEmpty)
                #expect(try await bench.tokens.token().text == "access-old")
            }
        }
    }

    @Test("Tokens that cannot be removed do not stop the end of the old session and are not used again")
    func unremovableTokensAreNotUsed() async throws {
        try await TemporaryDirectory.with { directory in
            let (store, records) = try faulty(in: directory)
            try await Bench.with(
                token: Bench.old(left: 3600), store: store,
                .set {
                    Bench.knowsOld(&$0)
                    $0.sessions = ["sso-1", "sso-2"]
                }
            ) { (bench: Bench) async throws in
                records.inject(StoreFault(.failed, at: .remove))
                let error = await outcome { try await bench.tokens.adopt(Self.next) }.tokenError
                #expect(error?.code == .storage)
                records.heal()
                #expect(bench.provider.now.sessions == ["sso-2"])
                #expect(try await bench.store.session() == Self.next)
                #expect(try await bench.tokens.token().text != "access-old")
                #expect(bench.provider.now.revoked == ["refresh-old"])
            }
        }
    }

    @Test("Logging out ends everything locally and at the server")
    func logOutEndsEverything() async throws {
        try await Bench.with(.set { $0.cookies = ["a=1; Path=/"] }) { bench in
            let token = try await bench.tokens.token()
            let report = await bench.tokens.logOut(endsOpenIDSession: true)
            #expect(report.isComplete)
            #expect(report.tokens == .done && report.session == .done && report.openIDSession == .done)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
            #expect(try await bench.store.cookies().cookies.isEmpty)
            #expect(bench.provider.now.sessions.isEmpty)
            #expect(bench.provider.now.revoked == [token.refreshToken?.text])
            let error = await outcome { try await bench.tokens.token() }.tokenError
            #expect(error?.code == .loginRequired)
            let again = await bench.tokens.logOut()
            #expect(again.isComplete && again.tokens == .notNeeded && again.session == .notNeeded)
        }
    }

    @Test("A session at OpenAM, which knows version 2.0 of the sessions resource, ends at logout and at the next login")
    func endsOpenAMSessions() async throws {
        try await Bench.with(
            .set {
                $0.sessionsVersions = ["2.0"]
                $0.sessions = ["sso-1", "sso-2"]
            }
        ) { bench in
            let replaced = try await bench.tokens.adopt(Self.next)
            #expect(replaced.session == .done && bench.provider.now.sessions == ["sso-2"])
            // The version that the server understood is used from then on.
            #expect(await bench.tokens.logOut().session == .done)
            #expect(bench.provider.now.sessions.isEmpty)
            #expect(bench.provider.now.askedSessionsVersions == ["3.1", "2.0", "2.0"])
        }
    }

    @Test("A server that knows no requested version of the sessions resource causes a failure in the report")
    func reportsUnknownSessionsVersion() async throws {
        try await Bench.with(.set { $0.sessionsVersions = [] }) { bench in
            let report = await bench.tokens.logOut()
            guard case .failed(let error) = report.session else {
                Issue.record("\(report.session)")
                return
            }
            #expect(!error.isRetryable && !report.isComplete && report.local == .done)
            #expect(bench.provider.now.askedSessionsVersions == ["3.1", "2.0"])
        }
    }

    @Test("Logging out without a network clears the local data and reports what stays valid at the server")
    func logOutOffline() async throws {
        try await Bench.with(
            token: Bench.old(left: 3600, idToken: "e30.e30.e30"),
            .set { $0.faults = ["sessions": .reset, "revoke": .busy, "endsession": .cut] }
        ) { (bench: Bench) async throws in
            let report = await bench.tokens.logOut(endsOpenIDSession: true)
            #expect(!report.isComplete && report.local == .done)
            for step in [report.tokens, report.session, report.openIDSession] {
                guard case .failed(let error) = step else {
                    Issue.record("\(step)")
                    continue
                }
                #expect(error.isRetryable)
            }
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
        }
    }

    @Test("A login without a journey session is ended by its ID token")
    func endsSessionByIDToken() async throws {
        try await Bench.with(
            session: nil, token: Bench.old(left: 3600, session: nil, idToken: "e30.e30.e30"), .set { Bench.knowsOld(&$0) }
        ) { (bench: Bench) async throws in
            let report = await bench.tokens.logOut()
            #expect(report.isComplete && report.session == .notNeeded && report.openIDSession == .done)
            #expect(bench.provider.count("endsession") == 1)
        }
        // A server that redirects to its own page needs the user.
        try await Bench.with(
            session: nil, token: Bench.old(left: 3600, session: nil, idToken: "e30.e30.e30"),
            .set { $0.faults["endsession"] = .status(302, ["Location: /login"], "") }
        ) { (bench: Bench) async throws in
            let report = await bench.tokens.logOut()
            #expect(report.openIDSession.address?.contains("id_token_hint=e30.e30.e30") == true && !report.isComplete)
            var dumped = ""
            dump(report, to: &dumped)
            for text in ["\(report)", String(reflecting: report), dumped] { #expect(!text.contains("e30")) }
        }
    }

    @Test(
        "An ID token session counts as ended only by a clear response, not by a page for the user",
        arguments: [
            (204, [], "", true), (200, [], "", true), (200, [], "{}", true), (200, [], "<p>Do you want to log out?</p>", false),
            (302, ["Location: https://app.example.com/bye"], "", true),
            (302, ["Location: https://app.example.com/bye?state=1"], "", true),
            (302, ["Location: https://app.example.com/bye.evil"], "", false),
            (302, ["Location: https://app.example.com/bye/now"], "", false), (302, ["Location: /login"], "", false),
            (302, [], "", false),
        ] as [(Int, [String], String, Bool)])
    func recognizesEndSessionResponses(status: Int, headers: [String], body: String, isDone: Bool) async throws {
        try await Bench.with(
            session: nil, token: Bench.old(left: 3600, session: nil, idToken: "e30.e30.e30"),
            .set { $0.faults["endsession"] = .status(status, headers, body) }
        ) { (bench: Bench) async throws in
            let report = await bench.tokens.logOut()
            #expect((report.openIDSession == .done) == isDone && (report.openIDSession.address == nil) == isDone)
        }
    }

    @Test(
        "A missing end-session address counts as complete, and an address that is not allowed as a failure",
        arguments: [(nil, true), ("http://op.example.com/end", false)] as [(String?, Bool)])
    func checksEndSessionAddress(address: String?, isOver: Bool) async throws {
        let addresses = Bench.Addresses.from {
            var endpoints = $0.endpoints()
            endpoints.endSession = address
            return endpoints
        }
        try await Bench.with(
            session: nil, token: Bench.old(left: 3600, session: nil, idToken: "e30.e30.e30"), endpoints: addresses
        ) { (bench: Bench) async throws in
            let report = await bench.tokens.logOut()
            #expect(report.isComplete == isOver && report.openIDSession.isOver == isOver)
        }
    }

    @Test("Unreadable data is removed at logout, and the report contains the read failure")
    func logOutRemovesUnreadableData() async throws {
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        try await Bench.with(token: Bench.old(left: 3600), store: store) { (bench: Bench) async throws in
            storage.refusesReading.store(true, ordering: .relaxed)
            let report = await bench.tokens.logOut(endsOpenIDSession: true)
            #expect(report.local == .done && report.session == .done && !report.isComplete)
            for step in [report.tokens, report.openIDSession] {
                guard case .failed(let error) = step else {
                    Issue.record("\(step)")
                    continue
                }
                #expect(error.code == .storage)
            }
            storage.refusesReading.store(false, ordering: .relaxed)
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
        }
    }

    @Test("Logging out during a renewal leaves no token behind")
    func logOutDuringRenewal() async throws {
        try await Bench.with(
            token: Bench.old(),
            .set {
                Bench.knowsOld(&$0)
                $0.thought = 0.2
            }
        ) { (bench: Bench) async throws in
            let renewal = Task { await outcome { try await bench.tokens.token() } }
            let isAsked = try await eventually { bench.provider.count("token") > 0 }
            #expect(isAsked)
            let report = await bench.tokens.logOut()
            #expect(report.isComplete)
            _ = await renewal.value
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: nil))
            #expect(bench.provider.now.accessTokens.isEmpty, "a token is still valid at the server")
        }
    }

    @Test("Revoking the tokens keeps the session, which gets new ones")
    func revokingKeepsSession() async throws {
        try await Bench.with { bench in
            let first = try await bench.tokens.token()
            try await bench.tokens.revoke()
            #expect(try await bench.kept() == Bench.Kept(token: nil, session: Bench.session))
            #expect(try await bench.tokens.token().text != first.text)
        }
    }

    @Test("The user's claims are requested again with a renewed token after the first one is refused")
    func userInfoRenewsToken() async throws {
        try await Bench.with { bench in
            let token = try await bench.tokens.token()
            #expect(try await bench.tokens.userInfo().name == "Alice")
            bench.provider.change { $0.accessTokens[token.text] = nil }
            let info = try await bench.tokens.userInfo()
            #expect(info.subject == "alice" && info.isEmailVerified == true)
            #expect(bench.provider.count("userinfo") == 3 && bench.provider.count("token") == 2)
            // Claims about another user are refused.
            bench.provider.change { $0.faults["userinfo"] = .status(200, [], #"{"sub":"bob"}"#) }
            let error = await outcome { try await bench.tokens.userInfo() }.tokenError
            #expect(error?.code == .idTokenRefused)
        }
    }

    @Test("An app's request carries the token and is repeated once with a new one after a 401")
    func authorizedRequestRetriesOnce() async throws {
        try await Bench.with { bench in
            let here = try Endpoint(bench.provider.url)
            let api = AuthorizedTransport(bench.transport, tokens: bench.tokens, origins: [here])
            let request = HTTPRequest("GET", "\(bench.provider.url)/api")
            #expect(try await api.send(request).status == 200 && bench.provider.count("api") == 1)
            let token = try await bench.tokens.token()
            bench.provider.change { $0.accessTokens[token.text] = nil }
            #expect(try await api.send(request).status == 200)
            #expect(bench.provider.count("api") == 3 && bench.provider.count("token") == 2)
            // A server that always refuses the token is not asked again and again.
            bench.provider.change { $0.faults["api"] = .status(401, [], "") }
            #expect(try await api.send(request).status == 401)
            #expect(bench.provider.count("api") == 5 && bench.provider.count("token") == 3)
            // If the renewal has no network, the server's own response is returned.
            bench.provider.change { $0.faults["token"] = .cut }
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
        try await Bench.with(token: Bench.old(left: 3600), transport: transport) { (bench: Bench) async throws in
            let app = try bench.app(at: "https://am.example.test/am", pins: [own])
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
        try await Bench.with(store: store, .set { $0.faults["api"] = .status(401, [], "") }) { (bench: Bench) async throws in
            let api = AuthorizedTransport(
                bench.transport, tokens: bench.tokens, origins: [try Endpoint(bench.provider.url)])
            _ = try await bench.tokens.token()
            storage.refuses.store(true, ordering: .relaxed)
            let answer = await outcome { try await api.send(HTTPRequest("GET", "\(bench.provider.url)/api")) }
            #expect(answer.tokenError?.code == .storage)
        }
    }
}
