public import SignetCore

/// One walk through a journey, with its state: for a user interface, which shows where the walk stands and sends what the person
/// enters.
///
/// An answer to another step than the one that is shown is refused, and so is a second one while the first is on its way: neither is
/// sent. After a failure the step stands as before, so that it can be sent again, unless the server has ended the journey.
public actor JourneySession {
    /// Where a walk stands.
    public enum State: Sendable {
        /// Nothing was started yet.
        case idle
        /// The server is being asked.
        case asking
        /// The server asks, tells, or wants to be asked again later.
        case step(JourneyStep)
        /// A step could not be sent; it can be sent again. The error is a `TransportError`, a ``JourneyError``, or an interceptor's.
        case stalled(JourneyStep, any Error)
        /// The person is logged in.
        case loggedIn(SSOToken)
        /// The journey came to its good end without a new session.
        case passed(JourneyCompletion)
        /// The journey is over, or did not begin.
        case failed(any Error)
    }

    private let journeys: Journey
    private let options: JourneyOptions
    private let clock: any Clock<Duration>
    private var index = AuthenticationIndex.standard
    private var listeners: [Int: AsyncStream<State>.Continuation] = [:]
    private var listenerCount = 0

    /// Where the walk stands.
    public private(set) var state = State.idle {
        didSet { for listener in listeners.values { listener.yield(state) } }
    }

    /// A walk that has not begun.
    /// - Parameters:
    ///   - journeys: the server's journeys.
    ///   - options: how the journey is walked.
    ///   - clock: what waits are measured by.
    public init(
        _ journeys: Journey, options: JourneyOptions = JourneyOptions(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.journeys = journeys
        self.options = options
        self.clock = clock
    }

    /// Where the walk stands, now and whenever that changes; as many may listen as like. A listener that is slow misses nothing.
    public func states() -> AsyncStream<State> {
        let (stream, listener) = AsyncStream<State>.makeStream()
        listenerCount += 1
        let id = listenerCount
        listeners[id] = listener
        listener.onTermination = { [weak self] _ in
            Task { await self?.forget(id) }
        }
        listener.yield(state)
        return stream
    }

    private func forget(_ id: Int) { listeners[id] = nil }

    deinit { for listener in listeners.values { listener.finish() } }

    /// Begins, or begins anew: what stood before is forgotten.
    /// - Returns: where the walk stands then.
    /// - Throws: ``JourneyError/Code/busy`` while the server is being asked; otherwise as ``Journey/start(_:options:)-(AuthenticationIndex,_)``.
    @discardableResult
    public func start(_ index: AuthenticationIndex) async throws -> State {
        try claim()
        self.index = index
        return try await ask(for: nil) { try await $0.start(index, options: $1) }
    }

    /// Begins with the journey called `name`, or the profile's authentication service.
    @discardableResult
    public func start(_ name: String? = nil) async throws -> State {
        try await start(.service(name ?? journeys.profile.authenticationService))
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    @discardableResult
    public func resume(_ link: String) async throws -> State {
        try claim()
        index = .standard
        return try await ask(for: nil) { try await $0.resume(link, options: $1) }
    }

    /// Sends the step that the walk stands at, filled in.
    /// - Throws: ``JourneyError/Code/staleStep``, ``JourneyError/Code/busy``; otherwise as ``Journey/next(_:of:options:)``.
    @discardableResult
    public func next(_ step: JourneyStep) async throws -> State {
        try check(step)
        return try await ask(for: step) { [index] in try await $0.next(step, of: index, options: $1) }
    }

    /// Sends the step that the walk stands at when the person has come back from elsewhere; see
    /// ``Journey/next(_:returnedTo:of:options:)``.
    @discardableResult
    public func next(_ step: JourneyStep, returnedTo address: String) async throws -> State {
        try check(step)
        return try await ask(for: step) { [index] in
            try await $0.next(step, returnedTo: address, of: index, options: $1)
        }
    }

    /// Waits as long as the step says and sends it, again and again, until the server asks for something else. While it waits the walk
    /// stands at the step, so that another answer to it can be sent: then this returns with where the walk stands. After a failure it
    /// may be called again, and goes on as before.
    /// - Parameter longest: more than this is not waited at once, whatever the server says.
    /// - Throws: as ``next(_:)``; also `CancellationError`, when the task is cancelled; the walk stands at the step then.
    @discardableResult
    public func wait(longest: Duration = .seconds(60)) async throws -> State {
        while let step = state.open, let milliseconds = step.waitMilliseconds {
            try await clock.sleep(for: min(.milliseconds(milliseconds), longest), tolerance: nil)
            guard state.open?.authId == step.authId else { return state }
            try await next(step)
        }
        return state
    }

    private func claim() throws(JourneyError) {
        if case .asking = state { throw JourneyError(.busy, message: "the answer before is still on its way") }
    }

    private func check(_ step: JourneyStep) throws(JourneyError) {
        try claim()
        guard state.open?.authId == step.authId else {
            throw JourneyError(.staleStep, message: "the journey has left this step")
        }
    }

    private func ask(
        for step: JourneyStep?,
        _ request: @Sendable (Journey, JourneyOptions) async throws -> JourneyState
    ) async throws -> State {
        state = .asking
        do {
            switch try await request(journeys, options) {
            case .step(let next): state = .step(next)
            case .loggedIn(let token): state = .loggedIn(token)
            case .passed(let passage): state = .passed(passage)
            }
        } catch {
            state = step.map { Self.isEnd(error) ? .failed(error) : .stalled($0, error) } ?? .failed(error)
            throw error
        }
        return state
    }

    /// Whether the server has said that the journey is over. After anything else the same step may still count.
    private static func isEnd(_ error: any Error) -> Bool {
        guard let error = error as? JourneyError else { return false }
        return switch error.code {
        case .loginFailed, .timedOut, .suspensionExpired, .refused: true
        case .policyFailed, .serverFailed, .serverMisbehaved, .staleStep, .busy, .invalidResumeURI, .invalidRequest: false
        }
    }
}

extension JourneySession.State {
    /// The step that can be sent; nil when there is none.
    fileprivate var open: JourneyStep? {
        switch self {
        case .step(let step), .stalled(let step, _): step
        case .idle, .asking, .loggedIn, .passed, .failed: nil
        }
    }
}
