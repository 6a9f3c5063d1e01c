import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("Journeys at an OpenAM")
struct OpenAMJourneyTests {
    private static let address = "https://am.example.test/am/json/realms/root/authenticate"
    private static let session = "AQIC5w.*AAJT.*"
    private static let end = #"{"tokenId":"\#(session)","successUrl":"/openam/console","realm":"/"}"#
    private static let script =
        #"{"type":"TextOutputCallback","output":[{"name":"message","value":"x"},{"name":"messageType","value":"4"}]}"#
    private static let hidden =
        #"{"type":"HiddenValueCallback","output":[{"name":"value","value":""}],"input":[{"name":"IDToken1","value":""}]}"#
    /// A step without the members that show a module.
    private static let step = #"{"authId":"a","template":"","stage":"S1","callbacks":[\#(hidden),\#(script)]}"#
    private static let moduleStep =
        #"{"authId":"a","template":"","stage":"Scripted2","header":"Sign in to OpenAM","infoText":[""],"#
        + #""callbacks":[\#(hidden),\#(script)]}"#
    private static let missing =
        #"{"code":400,"reason":"Bad Request","message":"Incorrect number of callbacks found in JSON response"}"#
    private static let refused =
        #"{"code":400,"reason":"Bad Request","#
        + #""message":"Session Upgrade fails since user is different than original authenticated user"}"#

    private static let forced = JourneyOptions {
        $0.forceAuthentication = true
        $0.session = Secret(session.utf8)
    }
    private static let upgrade = "ForceAuth=true&sessionUpgradeSSOTokenId=\(session.percentEncoded())"

    private func counts(_ transport: ScriptedTransport) throws -> [Int] {
        try transport.requests.compactMap { try JSON.value(of: $0.body)["callbacks"]?.array?.count }
    }

    @Test("C2: A step that is refused for its number of callbacks is sent once more with its scripts, and later ones at once")
    func sendsScriptsAfterCallbackCountError() async throws {
        let transport = answering((200, Self.step), (400, Self.missing), (200, Self.step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let second = try await journeys.next(try await journeys.start("Login").step).step
        #expect(try await journeys.next(second).token.value.text == Self.session)
        #expect(try counts(transport) == [1, 2, 2])
    }

    @Test("C2: A step that is refused with its scripts too is an error, and it is not sent again")
    func reportsSecondRefusal() async throws {
        let transport = answering((200, Self.step), (400, Self.missing), (400, Self.missing), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let step = try await journeys.start("Login").step
        await #expect { try await journeys.next(step) } throws: { ($0 as? JourneyError)?.code == .refused }
        #expect(try counts(transport) == [1, 2])
    }

    @Test(
        "C2: A refusal of another kind, or with a setting for the server, is not answered with the scripts",
        arguments: [(nil, #"{"code":400,"message":"No Configuration found"}"#), (.accessManager, missing), (.openAM, missing)]
            as [(ServerProfile.Dialect?, String)])
    func keepsToSetting(dialect: ServerProfile.Dialect?, refusal: String) async throws {
        let transport = answering((200, Self.step), (400, refusal), (200, Self.end))
        let journeys = Journey(try profile { $0.dialect = dialect }, transport: transport)
        let step = try await journeys.start("Login").step
        await #expect(throws: JourneyError.self) { try await journeys.next(step) }
        #expect(try counts(transport) == [dialect == .openAM ? 2 : 1])
    }

    @Test("C2: A step of a module is sent with its scripts at once, unless a setting says otherwise")
    func recognizesModules() async throws {
        for (dialect, count) in [(nil, 2), (.openAM, 2), (.accessManager, 1)] as [(ServerProfile.Dialect?, Int)] {
            let transport = answering((200, Self.moduleStep), (200, Self.end))
            let journeys = Journey(try profile { $0.dialect = dialect }, transport: transport)
            _ = try await journeys.next(try await journeys.start("Login").step)
            #expect(try counts(transport) == [count])
        }
    }

    @Test(
        "C2: A step with infoText only in a text or inside another member shows no module",
        arguments: [
            #"{"authId":"a","template":"","header":"\"infoText","callbacks":[\#(hidden),\#(script)]}"#,
            #"{"authId":"a","template":"","page":{"infoText":[""]},"callbacks":[\#(hidden),\#(script)]}"#,
        ])
    func seesNoModuleInOtherStep(step: String) async throws {
        let transport = answering((200, step), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        _ = try await journeys.next(try await journeys.start("Login").step)
        #expect(try counts(transport) == [1])
    }

    @Test("C5: ForceAuth is sent only with a session")
    func forcesOnlyWithSession() async throws {
        let transport = answering((200, Self.step), (200, Self.end), (200, Self.step))
        let app = try IdentityClient(try profile(), store: .memory(), transport: transport)
        let options = JourneyOptions { $0.forceAuthentication = true }
        _ = try await app.journeys.next(try await app.journeys.start("Login", options: options).step, options: options)
        _ = try await app.journeys.start("Login", options: options)
        let query = "?authIndexType=service&authIndexValue=Login"
        #expect(
            transport.requests.map(\.url) == [Self.address + query, Self.address, Self.address + query + "&ForceAuth=true"])
    }

    @Test("C5: ForceAuth is sent with a session that only a cookie carries")
    func forcesWithSessionCookie() async throws {
        let transport = ScriptedTransport { _ in
            HTTPResponse(
                status: 200, headers: ["Set-Cookie": "iPlanetDirectoryPro=t; Path=/"], body: Array(Self.step.utf8))
        }
        let app = try IdentityClient(try profile(), store: .memory(), transport: transport)
        let options = JourneyOptions { $0.forceAuthentication = true }
        for _ in 0..<2 { _ = try await app.journeys.start("Login", options: options).step }
        let query = "?authIndexType=service&authIndexValue=Login"
        #expect(transport.requests.map(\.url) == [Self.address + query, Self.address + query + "&ForceAuth=true"])
    }

    @Test("C5: The first step that shows an OpenAM starts a forced journey again, with the session in the query")
    func upgradesSessionAtFirstModule() async throws {
        let transport = answering((200, Self.moduleStep), (200, Self.moduleStep), (200, Self.end), (200, Self.moduleStep))
        let journeys = Journey(try profile(), transport: transport)
        let step = try await journeys.start("Login", options: Self.forced).step
        #expect(try await journeys.next(step, options: Self.forced).token.value.text == Self.session)
        _ = try await journeys.start("Login", options: Self.forced)
        let query = "?authIndexType=service&authIndexValue=Login&"
        #expect(
            transport.requests.map(\.url) == [
                Self.address + query + "ForceAuth=true", Self.address + query + Self.upgrade, Self.address + "?ForceAuth=true",
                Self.address + query + Self.upgrade,
            ])
    }

    @Test("C5: A forced journey that is refused at its end is started once more, with the session in the query")
    func startsRefusedForcedJourneyAgain() async throws {
        let index = AuthenticationIndex.service("Login")
        let transport = answering(
            (200, Self.step), (400, Self.refused), (200, Self.step), (400, Self.refused), (200, Self.end))
        let journeys = Journey(try profile(), transport: transport)
        let first = try await journeys.start(index, options: Self.forced).step
        let again = try await journeys.next(first, of: index, options: Self.forced).step
        #expect(transport.requests.last?.url.hasSuffix(Self.upgrade) == true)
        // Another user's password is refused for good.
        await #expect {
            try await journeys.next(again, of: index, options: Self.forced)
        } throws: { ($0 as? JourneyError)?.code == .refused }
        #expect(transport.requests.count == 4)
    }

    @Test("C5: A journey whose index is unknown is not started again; the next start names the session")
    func reportsRefusedUpgradeWithoutIndex() async throws {
        let transport = answering((200, Self.step), (400, Self.refused), (200, Self.step))
        let journeys = Journey(try profile(), transport: transport)
        let step = try await journeys.start("Login", options: Self.forced).step
        await #expect(throws: JourneyError.self) { try await journeys.next(step, options: Self.forced) }
        #expect(transport.requests.count == 2)
        _ = try await journeys.start("Login", options: Self.forced)
        #expect(transport.requests.last?.url.hasSuffix(Self.upgrade) == true)
    }

    @Test("C5: A session that cannot be upgraded any more is left out, and it is in no error and no log")
    func hidesUpgradedSession() async throws {
        let echo = #"{"code":400,"message":"Failed to create encrypted storage key for:\nSession ID: \#(Self.session)","#
        let body = echo + #""detail":{"texts":["\#(Self.session)"]}}"#
        let transport = answering((400, body), (200, Self.moduleStep), (401, body.replacing("400", with: "401")))
        let log = Mutex<[String]>([])
        let journeys = Journey(try profile { $0.dialect = .openAM }, transport: transport) { request in
            log.withLock { $0.append("\(request) \(request.requestHeaders)") }
        }
        _ = try await journeys.start("Login", options: Self.forced).step
        #expect(transport.requests[1].url == Self.address + "?authIndexType=service&authIndexValue=Login")
        #expect(transport.requests[1].headers["iPlanetDirectoryPro"] == nil && transport.requests[1].headers["Cookie"] == nil)
        await #expect {
            try await journeys.start("Login", options: Self.forced)
        } throws: { error in
            var dumped = ""
            dump(error, to: &dumped)
            return "\(error)".contains("Session ID: …") && !dumped.contains(Self.session)
        }
        let lines = log.withLock { $0 }
        #expect(lines.count == 3 && lines[0].contains("sessionUpgradeSSOTokenId=…"))
        #expect(!lines.joined().contains("AQIC5w"))
    }

    @Test("C5: When a session that has ended is left out, the other cookies are sent as they are stored now")
    func keepsOtherCookies() async throws {
        let transport = ScriptedTransport { request in
            let isForced = request.url.contains("ForceAuth=true")
            var headers: HTTPHeaders = ["Set-Cookie": "lb=\(isForced ? 2 : 1); Path=/"]
            if !isForced { headers.append("Set-Cookie", "iPlanetDirectoryPro=\(Self.session); Path=/") }
            return HTTPResponse(
                status: request.url.contains("sessionUpgradeSSOTokenId") ? 400 : 200, headers: headers,
                body: Array((isForced ? Self.moduleStep : Self.end).utf8))
        }
        let app = try IdentityClient(try profile(), store: .memory(), transport: transport)
        _ = try await app.journeys.start("Login")
        _ = try await app.journeys.start("Login", options: JourneyOptions { $0.forceAuthentication = true })
        let forced = "iPlanetDirectoryPro=\(Self.session); lb=1"
        let sent = transport.requests.map { $0.headers["Cookie"] }
        #expect(sent == [nil, forced, forced, "lb=2"])
    }

    @Test("C5: When a session that has ended is left out, the cookies of every field stay")
    func keepsCookiesOfEveryField() async throws {
        let transport = answering((400, "{}"), (200, Self.moduleStep))
        let journeys = Journey(try profile { $0.dialect = .openAM }, transport: transport)
        var request = try journeys.startRequest(.service("Login"), options: Self.forced)
        try await journeys.addSession(to: &request, Self.forced)
        request.headers.append("Cookie", "lb=1; iPlanetDirectoryPro=old")
        request.headers.append("Cookie", "region=eu")
        _ = try await journeys.send(request, for: .startAuthenticate(.service("Login")))
        #expect(transport.requests.count == 2 && transport.requests.last?.headers.all("Cookie") == ["lb=1; region=eu"])
    }

    @Test("The variant of the protocol is stored with the session, and read from a session that has none")
    func storesDialectWithSession() throws {
        var session = SSOToken(value: Secret("t".utf8), successURL: "/console", realm: "/")
        let old = try JSON.encode(session)
        #expect(try JSON.value(of: old) == JSON.value(of: #"{"value":"t","successUrl":"/console","realm":"/"}"#.utf8))
        #expect(try JSON.decode(SSOToken.self, from: old) == session)
        session.dialect = "openAM"
        #expect(try JSON.decode(SSOToken.self, from: try JSON.encode(session)) == session)
    }

    @Test(
        "C1: The variant that a step has shown is used until the session ends, also by the next process",
        arguments: [("openAM", "2.0"), ("future", "3.1"), (nil, "3.1")] as [(String?, String)])
    func recallsDialect(dialect: String?, version: String) async throws {
        let transport = answering((200, "{}"), (200, #"{"tokenId":"u"}"#), (200, "{}"))
        let store = try SessionStore.memory()
        var session = SSOToken(value: Secret("t".utf8))
        session.dialect = dialect
        try await store.save(session)
        let app = try IdentityClient(try profile { $0.keepsCookies = false }, store: store, transport: transport)
        #expect(await app.logOut().isComplete)
        _ = try await app.journeys.start()
        #expect(await app.logOut().isComplete)
        let versions = transport.requests.map { $0.headers["Accept-API-Version"]?.prefix { $0 != "," } }
        #expect(versions == ["resource=\(version)", "resource=2.1", "resource=3.1"])
    }

    @Test("C1: A server that refuses the stored version is asked with the other one, which is stored then")
    func correctsStoredDialect() async throws {
        let transport = answering((200, #"{"tokenId":"u"}"#), (404, "{}"), (200, "{}"))
        let store = try SessionStore.memory()
        var session = SSOToken(value: Secret("t".utf8))
        session.dialect = "openAM"
        try await store.save(session)
        let app = try IdentityClient(try profile(), store: store, transport: transport)
        _ = try await app.journeys.start()
        #expect(app.tokens.replaced?.isComplete == true)
        #expect(try await store.session()?.dialect == "accessManager")
    }
}
