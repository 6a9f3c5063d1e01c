import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting
import Testing

@Suite("Journeys at a real server")
struct LiveTests {
    @Test("A user logs in, in each realm", arguments: [("", "demo"), ("root/realms/alpha", "mira"), ("/alpha", "mira")])
    func logsInPerRealm(realm: String, user: String) async throws {
        try await LiveServer.with(realm: Realm(realm)) { server in
            var step = try await server.journeys.start().step
            let types = step.callbacks.compactMap(\.typed).map { type(of: $0).type }
            #expect(types == ["NameCallback", "PasswordCallback"])
            try step.fill(name: user, password: LiveServer.password)
            let token = try await server.journeys.next(step).token
            #expect(token.value.count > 10)
            #expect(token.realm == Realm(realm).description)
        }
    }

    @Test("A wrong password, an unknown journey, an unknown realm and a changed handle are refused")
    func refusesInvalidInput() async throws {
        try await LiveServer.with { server in
            var step = try await server.journeys.start("Login").step
            try step.fill(name: "demo", password: Secret("wrong".utf8))
            await expect(.loginFailed) { try await server.journeys.next(step) }
            // The server forgot the step when it was answered.
            await expect(.timedOut) { try await server.journeys.next(step) }
            step.authId += "x"
            await expect(.refused) { try await server.journeys.next(step) }
            await expect(.refused) { try await server.journeys.start("NoSuchJourney") }
            await expect(.suspensionExpired) { try await server.journeys.resume("?suspendedId=x") }
            let other = try ServerProfile(url: server.profile.url.url, realm: "nowhere")
            await expect(.refused) { try await Journey(other, transport: server.transport).start() }
            let wrong = try ServerProfile(url: server.profile.url.url + "/typo")
            await #expect(throws: JourneyError.self) { try await Journey(wrong, transport: server.transport).start() }
        }
    }

    @Test("A journey that takes longer than the server waits times out")
    func journeyTimesOut() async throws {
        try await LiveServer.with { server in
            var step = try await server.journeys.start("Login").step
            try step.fill(name: "demo", password: LiveServer.password)
            server.clock.advance(by: 301)
            await expect(.timedOut) { try await server.journeys.next(step) }
        }
    }

    @Test("A journey ends without a session when none is requested")
    func completesWithoutSession() async throws {
        try await LiveServer.with { server in
            let options = JourneyOptions { $0.withoutSession = true }
            var step = try await server.journeys.start("Login", options: options).step
            try step.fill(name: "demo", password: LiveServer.password)
            guard case .completed(let completion) = try await server.journeys.next(step, options: options) else {
                throw Unexpected()
            }
            #expect(completion.realm == "/")
        }
    }

    @Test("A registration journey shows an enrollment URI and waits")
    func showsEnrollmentURI() async throws {
        try await LiveServer.with(pushTimeout: 1) { server in
            var step = try await server.journeys.start("PushRegistration").step
            try step.fill(name: "demo", password: LiveServer.password)
            step = try await server.journeys.next(step).step
            #expect(step.enrollmentURI?.hasPrefix("pushauth://") == true)
            #expect(step.first(PollingWaitCallback.self)?.waitTime == .milliseconds(20))
            let again = try await server.journeys.waitAndContinue(step).step
            #expect(again.enrollmentURI == step.enrollmentURI)
            #expect(again.authId != step.authId)
            server.clock.advance(by: 2)
            await expect(.loginFailed) { try await server.journeys.waitAndContinue(again) }
        }
    }

    @Test("A journey fails when the server has stopped")
    func failsWithoutServer() async throws {
        let transport = AsyncHTTPTransport()
        let profile = try ServerProfile(url: "http://127.0.0.1:1/am")
        await #expect(throws: TransportError.self) { try await Journey(profile, transport: transport).start() }
        await transport.close()
    }
}

/// Expects that a request of a journey, which returns the next state, fails with an error of this code.
func expect<State>(
    _ code: JourneyError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> State
) async {
    do {
        _ = try await body()
        Issue.record("the journey continued", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? JourneyError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
