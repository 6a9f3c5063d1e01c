import PingJourney
import SignetCore
import SignetNetwork
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
    private func journey(_ machine: JourneyFixture, _ notes: Notes = Notes()) -> Journey {
        let module = Module.of(setup: { setup in
            setup.next { _, _, request in
                notes.note("next")
                request.parameter(name: "app", value: "1")
                return request
            }
            setup.response { _, response in notes.note("\(response.status())") }
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
    func sendsScriptsAfterRefusal() async throws {
        let server = try FakeOpenAM(.chain([.plainScript, .plainScript]))
        let (machine, notes) = (JourneyFixture.at(server), Notes())
        let journey = journey(machine, notes)
        let second = try await next(await start(journey))
        #expect(server.callbackCounts == [1, 2])
        let end = try await next(second)
        #expect(end is SuccessNode)
        #expect(server.callbackCounts == [1, 2, 2] && notes.all == ["200", "next", "200", "next", "200"])
        let requests = machine.network.requests
        let tenants = requests.map { $0.headers["x-tenant"] }
        #expect(tenants == ["one", "one", "one", "one"])
        let marks = server.authenticateQueries.map { $0["app"] }
        #expect(marks == [nil, "1", "1", "1"])
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

    @Test("C5: An upgrade that OpenAM refuses at its end is started again with the session in the query")
    func startsRefusedUpgradeAgain() async throws {
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

    @Test("C5: An upgrade of a session that has ended at OpenAM is a login without it")
    func replacesEndedSession() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        let machine = JourneyFixture.at(server)
        _ = try await next(await start(journey(machine)))
        server.change { $0.sessions = [] }
        let success = try #require(try await next(await start(journey(machine), forced: true)) as? SuccessNode)
        #expect(success.session.value == "sso-2" && server.sessions == ["sso-2"])
        let starts = machine.network.requests.filter { $0.url.contains("authIndexValue=Login") }
        let (upgrade, plain) = (try #require(starts.dropLast().last), try #require(starts.last))
        #expect(upgrade.url.contains("sessionUpgradeSSOTokenId=sso-1") && !plain.url.contains("ForceAuth"))
        #expect(plain.headers["iPlanetDirectoryPro"] == nil && plain.headers["x-tenant"] == "one")
    }
}
