import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("A journey session")
struct JourneySessionTests {
    private static let login =
        #"{"authId":"1","callbacks":[{"type":"NameCallback","output":[],"input":[{"name":"IDToken1","value":""}]}]}"#
    private static let wait =
        #"{"authId":"2","callbacks":[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"0"}]}]}"#
    private static let end = #"{"tokenId":"t"}"#

    private func session(_ transport: any HTTPTransport) throws -> JourneySession {
        JourneySession(Journey(try profile(), transport: transport))
    }

    /// A transport that gives one answer after the other, and cuts the connection in the place of nil.
    private func unreliable(_ answers: [HTTPResponse?]) -> ScriptedTransport {
        let answers = Mutex(answers)
        return ScriptedTransport { request throws(TransportError) in
            guard let answer = answers.withLock({ $0.removeFirst() }) else {
                throw TransportError(.interrupted, host: "am.example.test", "cut")
            }
            return answer
        }
    }

    @Test("An earlier step is refused without a request")
    func refusesStaleStep() async throws {
        let transport = answering((200, Self.login), (200, Self.wait), (200, Self.end))
        let session = try session(transport)
        let first = try await session.start("Login").step
        _ = try await session.next(first)
        await expect(.staleStep) { try await session.next(first) }
        #expect(transport.requests.count == 2)
        _ = try await session.wait()
        guard case .loggedIn = await session.state else { throw Unexpected() }
        await expect(.staleStep) { try await session.next(first) }
        #expect(transport.requests.count == 3)
    }

    @Test("Only one answer is sent at a time")
    func sendsOneAnswerAtATime() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        let transport = ScriptedTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { for await _ in gate { break } }
            return HTTPResponse(status: 200, body: Array((number == 1 ? Self.login : Self.end).utf8))
        }
        let session = try session(transport)
        let step = try await session.start("Login").step
        let states = await session.states()
        async let first = session.next(step)
        for await state in states { if case .asking = state { break } }
        await expect(.busy) { try await session.next(step) }
        await expect(.busy) { try await session.start("Login") }
        open.yield()
        guard case .loggedIn = try await first else { throw Unexpected() }
        #expect(transport.requests.count == 2)
    }

    @Test("A journey stays at its step after a network failure and ends when the server refuses it")
    func staysAtStepAfterNetworkFailure() async throws {
        let transport = unreliable([
            HTTPResponse(status: 200, body: Array(Self.login.utf8)), nil, HTTPResponse(status: 503),
            HTTPResponse(status: 401, body: Array(#"{"code":401,"message":"Login failure"}"#.utf8)),
        ])
        let session = try session(transport)
        let step = try await session.start("Login").step
        await #expect(throws: TransportError.self) { try await session.next(step) }
        guard case .stalled(let stalled, _) = await session.state else { throw Unexpected() }
        #expect(stalled == step)
        await expect(.serverFailed) { try await session.next(step) }
        guard case .stalled = await session.state else { throw Unexpected() }
        await expect(.loginFailed) { try await session.next(step) }
        guard case .failed = await session.state else { throw Unexpected() }
        await expect(.staleStep) { try await session.next(step) }
    }

    @Test("Waiting continues after a network failure with the same interval")
    func continuesWaiting() async throws {
        let transport = unreliable([
            HTTPResponse(status: 200, body: Array(Self.wait.utf8)), nil, nil,
            HTTPResponse(status: 200, body: Array(Self.end.utf8)),
        ])
        let clock = GateClock()
        let session = JourneySession(Journey(try profile(), transport: transport), clock: clock)
        _ = try await session.start("Login")
        for count in 2...3 {
            let waiting = Task { try await session.wait() }
            await clock.sleeper()
            #expect(transport.requests.count == count - 1)
            clock.wake()
            await #expect(throws: TransportError.self) { try await waiting.value }
            #expect(transport.requests.count == count)
        }
        let waiting = Task { try await session.wait() }
        await clock.sleeper()
        clock.wake()
        guard case .loggedIn = try await waiting.value else { throw Unexpected() }
    }

    @Test("A server that requests a wait forever ends the wait, not the journey, and is not asked in a loop without a pause")
    func endsWaitNotJourney() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(Self.wait.utf8)) }
        let session = JourneySession(Journey(try profile(), transport: transport), clock: SkippingClock())
        _ = try await session.start("Login")
        await expect(.timedOut) { try await session.wait(timeout: .seconds(10)) }
        #expect(transport.requests.count == 51)
        #expect(try await session.state.step.authId == "2")
    }

    @Test("The timeout of a wait counts the time by the clock, and not the time that the server requests")
    func measuresWaits() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array(Self.wait.utf8)) }
        let clock = SkippingClock(factor: 10)
        let session = JourneySession(Journey(try profile(), transport: transport), clock: clock)
        _ = try await session.start("Login")
        await expect(.timedOut) { try await session.wait(timeout: .seconds(10)) }
        #expect(clock.now.offset == .seconds(10))
        #expect(transport.requests.count == 6)
    }

    @Test("Every observer receives the states from the moment it starts to observe")
    func notifiesObservers() async throws {
        let session = try session(answering((200, Self.login), (200, Self.wait), (200, Self.end)))
        let early = await session.states()
        let step = try await session.start("Login").step
        let late = await session.states()
        _ = try await session.next(step)
        _ = try await session.wait()
        let (first, second) = (await names(early), await names(late))
        #expect(first == ["idle", "asking", "step 1", "asking", "step 2", "asking", "loggedIn"])
        #expect(second == ["step 1", "asking", "step 2", "asking", "loggedIn"])
    }

    @Test("The state streams end when the session object is released")
    func streamsEndWithSession() async throws {
        var session: JourneySession? = try session(answering((200, Self.login)))
        let states = await session?.states()
        session = nil
        var count = 0
        for await _ in try #require(states) { count += 1 }
        #expect(count == 1)
    }

    @Test("An answer given during a wait replaces the polling answer")
    func answerReplacesWait() async throws {
        let transport = answering((200, Self.login), (200, Self.wait), (200, Self.end))
        let clock = GateClock()
        let session = JourneySession(Journey(try profile(), transport: transport), clock: clock)
        let step = try await session.next(try await session.start("Login").step).step
        async let waiting = session.wait()
        await clock.sleeper()
        guard case .loggedIn = try await session.next(step) else { throw Unexpected() }
        clock.wake()
        guard case .loggedIn = try await waiting else { throw Unexpected() }
        #expect(transport.requests.count == 3)
    }

    @Test("A canceled wait leaves the journey at its step")
    func canceledWaitKeepsStep() async throws {
        let transport = answering((200, Self.wait), (200, Self.end))
        let clock = GateClock()
        let session = JourneySession(Journey(try profile(), transport: transport), clock: clock)
        _ = try await session.start("Login")
        let waiting = Task { try await session.wait() }
        await clock.sleeper()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await session.state.step.authId == "2")
        #expect(transport.requests.count == 1)
    }

    @Test("A session runs a real server's journey to its end")
    func runsLiveJourney() async throws {
        try await LiveServer.with { server in
            let session = JourneySession(server.journeys)
            var step = try await session.start("OATHRegistration").step
            try step.fill(name: "demo", password: LiveServer.password)
            step = try await session.next(step).step
            let enrollment = try EnrollmentURI.parse(try #require(step.enrollmentURI))
            try step.fill(ConfirmationCallback.self) { try $0.select("Next") }
            step = try await session.next(step).step
            let secret = try #require(enrollment.oath).secret
            let code = TOTP.code(secret: secret, at: server.clock.now)
            try step.fill(NameCallback.self) { $0.name = code }
            guard case .loggedIn = try await session.next(step) else { throw Unexpected() }
            guard case .loggedIn = await session.state else { throw Unexpected() }
        }
    }

    private func names(_ states: AsyncStream<JourneySession.State>) async -> [String] {
        var names: [String] = []
        for await state in states {
            switch state {
            case .idle: names.append("idle")
            case .asking: names.append("asking")
            case .step(let step): names.append("step \(step.authId)")
            case .stalled: names.append("stalled")
            case .loggedIn: names.append("loggedIn")
            case .completed: names.append("passed")
            case .failed: names.append("failed")
            }
            if names.last == "loggedIn" { break }
        }
        return names
    }
}

extension JourneySession.State {
    fileprivate var step: JourneyStep {
        get throws {
            guard case .step(let step) = self else { throw Unexpected() }
            return step
        }
    }
}

/// A clock on which a sleep lasts until the test ends it or its task is canceled.
private final class GateClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let (asleep, fallAsleep) = AsyncStream<Void>.makeStream()
    private let (awake, awaken) = AsyncStream<Void>.makeStream()

    var now: Instant { Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        fallAsleep.yield()
        for await _ in awake { break }
        try Task.checkCancellation()
    }

    /// Returns when a task sleeps.
    func sleeper() async { for await _ in asleep { break } }

    func wake() { awaken.yield() }
}

/// A clock on which every sleep is over at once, after `factor` times its duration by this clock.
private final class SkippingClock: Clock {
    private let offset = Mutex(Duration.zero)
    private let factor: Int

    init(factor: Int = 1) { self.factor = factor }

    var now: GateClock.Instant { GateClock.Instant(offset: offset.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: GateClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        offset.withLock { $0 += (deadline.offset - $0) * factor }
    }
}
