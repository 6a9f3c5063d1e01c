import PingJourney
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("Journeys under the Ping SDK's names at an OpenAM")
struct PingOpenAMTests {
    /// The page of the module DataStore without the members by which a client recognizes a module.
    private static let plainLogin = {
        var page = FakeOpenAM.Page.dataStore
        page.module = nil
        return page
    }()

    /// Returns the journeys of an app whose modules mark each request and note what they see.
    private func journey(_ machine: JourneyFixture, _ log: EventLog = EventLog()) -> Journey {
        let module = Module.of(setup: { setup in
            setup.next { _, _, request in
                log.record("next")
                request.parameter(name: "app", value: "1")
                return request
            }
            setup.response { _, response in log.record("\(response.status())") }
        })
        return machine.journey { config in
            config.module(module)
            config.module(CustomHeader.config) { $0.header(name: "x-tenant", value: "one") }
        }
    }

    /// Answers a step as the user dave.
    private func next(_ node: any Node) async throws -> any Node {
        guard let step = node as? ContinueNode else { throw Unexpected() }
        fill(step, name: "dave", password: FakeOpenAM.Page.password)
        return await step.next()
    }

    private func start(_ journey: Journey, forced: Bool = false) async -> any Node {
        await journey.start("Login") { $0.forceAuth = forced }
    }

    @Test("C2: A step that OpenAM refuses without its script is sent once more with it, and the modules see one request")
    func hidesScriptRetryFromModules() async throws {
        let server = try FakeOpenAM(.chain([.plainScript, .plainScript]))
        let (machine, log) = (JourneyFixture.at(server), EventLog())
        let journey = journey(machine, log)
        let second = try await next(await start(journey))
        #expect(server.callbackCounts == [1, 2])
        let end = try await next(second)
        #expect(end is SuccessNode)
        #expect(server.callbackCounts == [1, 2, 2] && log.all == ["200", "next", "200", "next", "200"])
        let requests = machine.network.requests
        let tenants = requests.map { $0.headers["x-tenant"] }
        #expect(tenants == ["one", "one", "one", "one"])
        let marks = server.authenticateQueries.map { $0["app"] }
        #expect(marks == [nil, "1", "1", "1"])
    }

    @Test("C2: A refused step is also sent once more in a run that an app starts with a request of its own")
    func sendsScriptsInRunOfOwnRequest() async throws {
        let server = try FakeOpenAM(.chain([.plainScript]))
        let request = Request(urlString: "\(server.url)/json/realms/root/realms/alpha/authenticate")
        request.parameter(name: "authIndexType", value: "service")
        request.parameter(name: "authIndexValue", value: "Login")
        request.body(body: [:])
        let end = try await next(await journey(JourneyFixture.at(server)).start(request))
        #expect(end is SuccessNode && server.callbackCounts == [1, 2])
    }

    @Test("C1: A log-out at a recognized OpenAM uses its version of the sessions resource, and otherwise falls back to it")
    func logsOut() async throws {
        for (step, versions) in [(.none, ["3.1", "2.0"]), (.chain([.script]), ["2.0"])] as [(FakeOpenAM.Step, [String])] {
            let server = try FakeOpenAM(step)
            let journey = journey(JourneyFixture.at(server))
            let first = await start(journey)
            if first is ContinueNode { _ = try await next(first) }
            #expect(server.sessions == ["sso-1"])
            guard case .success = await journey.journeySignOff() else { throw Unexpected() }
            #expect(server.sessions.isEmpty && server.read(\.sessionsVersions) == versions)
        }
    }

    @Test("C1, C5: The next start of the app upgrades and ends the session in the form for the OpenAM that a login has shown")
    func storesDialectWithPingSession() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        let machine = JourneyFixture.at(server)
        _ = try await next(await start(journey(machine)))
        let step = await start(journey(machine), forced: true)
        #expect(step is ContinueNode && server.authenticateQueries.count == 3)
        #expect(server.authenticateQueries.last?["sessionUpgradeSSOTokenId"] == "sso-1")
        guard case .success = await journey(machine).journeySignOff() else { throw Unexpected() }
        #expect(server.sessions.isEmpty && server.read(\.sessionsVersions) == ["2.0"])
    }

    @Test("A session that the Ping SDK wrote is read, and a session without a recognized OpenAM is written in the same form")
    func keepsFormOfPingSession() throws {
        let content = #"{"realm":"/","successUrl":"/console","value":"t"}"#
        let session = try JSON.decode(SSOTokenImpl.self, from: content.utf8)
        #expect(session.value == "t" && session.successUrl == "/console" && session.realm == "/")
        let written = try JSON.value(of: try JSON.encode(session))
        let expected = try JSON.value(of: content.utf8)
        #expect(written == expected)
    }

    @Test("C5: An upgrade that OpenAM refuses at its end is started again with the session in the query")
    func startsRefusedPingUpgradeAgain() async throws {
        let server = try FakeOpenAM(.chain([Self.plainLogin]))
        let machine = JourneyFixture.at(server)
        _ = try await next(await start(journey(machine)))
        #expect(server.sessions == ["sso-1"])
        let forced = journey(machine)
        let again = try await next(await start(forced, forced: true))
        #expect(server.authenticateQueries.last?["sessionUpgradeSSOTokenId"] == "sso-1")
        let success = try #require(try await next(again) as? SuccessNode)
        #expect(success.session.value == "sso-1" && server.sessions == ["sso-1"])
        let areMarked = machine.network.requests.allSatisfy { $0.headers["x-tenant"] == "one" }
        #expect(areMarked)
    }

    @Test("C5: An upgrade that is started again names no session that was removed in the meantime")
    func startsAgainWithoutRemovedSession() async throws {
        let server = try FakeOpenAM(.chain([Self.plainLogin]))
        let machine = JourneyFixture.at(server)
        _ = try await next(await start(journey(machine)))
        let forced = journey(machine)
        let step = await start(forced, forced: true)
        await forced.deleteSession()
        let success = try #require(try await next(try await next(step)) as? SuccessNode)
        #expect(success.session.value == "sso-2" && server.sessions == ["sso-1", "sso-2"])
        let again = try #require(machine.network.requests.dropLast().last)
        #expect(again.headers["iPlanetDirectoryPro"] == nil && again.headers["x-tenant"] == "one")
        #expect(again.url.contains("authIndexValue=Login") && !again.url.contains("ForceAuth"))
    }

    @Test(
        "C5: A refusal with 400 is final at an AM and for the answer to a step, also when a module names a session to upgrade",
        arguments: [nil, #"{"authId":"a","template":"","infoText":[""],"callbacks":[]}"#] as [String?])
    func sendsParameterOfModuleOnce(step: String?) async throws {
        let transport = ScriptedTransport { request in
            let isStart = request.url.contains("authIndexValue=Login")
            guard isStart, let step else { return HTTPResponse(status: 400, body: Array(#"{"code":400}"#.utf8)) }
            return HTTPResponse(status: 200, body: Array(step.utf8))
        }
        let module = Module.of(setup: { setup in
            setup.start { _, request in
                request.parameter(name: "sessionUpgradeSSOTokenId", value: "t")
                return request
            }
            setup.next { _, _, request in
                request.parameter(name: "sessionUpgradeSSOTokenId", value: "t")
                return request
            }
        })
        let machine = JourneyFixture.at("https://am.example.test/am", transport)
        let first = await start(machine.journey { $0.module(module) })
        let end: any Node = if let step = first as? ContinueNode { await step.next() } else { first }
        #expect(end is ErrorNode)
        #expect(machine.network.requests.count == (step == nil ? 1 : 2))
    }

    @Test("C5: An upgrade of a session that has ended at OpenAM is a login without it, with the other cookies")
    func logsInWhenUpgradedSessionHasEnded() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        let machine = JourneyFixture.at(server)
        _ = try await next(await start(journey(machine)))
        server.change { $0.sessions = [] }
        let forced = machine.journey { config in
            config.module(CustomHeader.config) {
                $0.header(name: "x-tenant", value: "one")
                $0.header(name: "Cookie", value: "lb=1")
            }
        }
        let success = try #require(try await next(await start(forced, forced: true)) as? SuccessNode)
        #expect(success.session.value == "sso-2" && server.sessions == ["sso-2"])
        let starts = machine.network.requests.filter { $0.url.contains("authIndexValue=Login") }
        let (upgrade, plain) = (try #require(starts.dropLast().last), try #require(starts.last))
        #expect(upgrade.url.contains("sessionUpgradeSSOTokenId=sso-1") && !plain.url.contains("ForceAuth"))
        #expect(plain.headers["iPlanetDirectoryPro"] == nil && plain.headers["x-tenant"] == "one")
        #expect(upgrade.headers.all("Cookie") == ["iPlanetDirectoryPro=sso-1; lb=1"] && plain.headers.all("Cookie") == ["lb=1"])
    }
}
