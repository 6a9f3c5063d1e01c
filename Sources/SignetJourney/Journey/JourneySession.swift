public import SignetCore
import SignetOAuth

/// One run of a journey with its state, for a user interface that shows the state and sends the user's input.
///
/// This actor rejects an answer to any step other than the current one, and a second answer while the first one is being sent. It
/// doesn't send such answers. After a failure, the step stays current and can be sent again, unless the server has ended the
/// journey.
public actor JourneySession {
    /// The state of a run.
    public enum State: Sendable {
        /// No journey was started.
        case idle
        /// A request to the server is in progress.
        case asking
        /// The server requests input, shows a message, or asks the client to wait.
        case step(JourneyStep)
        /// A step failed and can be sent again. The error is a `TransportError`, a ``JourneyError``, or the error of an
        /// interceptor.
        case stalled(JourneyStep, any Error)
        /// The user is logged in.
        case loggedIn(SSOToken)
        /// The journey succeeded without a new session.
        case completed(JourneyCompletion)
        /// The journey has failed, or didn't start.
        case failed(any Error)
    }

    private let journeys: Journey
    private let options: JourneyOptions
    private let clock: any Clock<Duration>
    private var index = AuthenticationIndex.default
    private var listeners: [Int: AsyncStream<State>.Continuation] = [:]
    private var listenerCount = 0

    /// The current state of the run.
    public private(set) var state = State.idle {
        didSet { for listener in listeners.values { listener.yield(state) } }
    }

    /// Creates a run without starting it.
    /// - Parameters:
    ///   - journeys: The journeys of the server.
    ///   - options: The options of the journey.
    ///   - clock: The clock for waits.
    public init(
        _ journeys: Journey, options: JourneyOptions = JourneyOptions(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.journeys = journeys
        self.options = options
        self.clock = clock
    }

    /// Returns a stream of the current state and all later states.
    ///
    /// Any number of listeners is allowed. A slow listener misses no state.
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

    /// Starts or restarts the run.
    ///
    /// The previous state is discarded.
    /// - Returns: The new state.
    /// - Throws: ``JourneyError/Code/busy`` while a request is in progress; the errors of
    ///   ``Journey/start(_:options:)-(AuthenticationIndex,_)``.
    @discardableResult
    public func start(_ index: AuthenticationIndex) async throws -> State {
        try claim()
        self.index = index
        return try await ask(for: nil) { try await $0.start(index, options: $1) }
    }

    /// Starts the journey with the given name; nil for the profile's authentication service.
    @discardableResult
    public func start(_ name: String? = nil) async throws -> State {
        try await start(.service(name ?? journeys.profile.authenticationService))
    }

    /// Continues a suspended journey with the link from its email.
    @discardableResult
    public func resume(_ link: String) async throws -> State {
        try claim()
        index = .default
        return try await ask(for: nil) { try await $0.resume(link, options: $1) }
    }

    /// Sends the current step, after it was filled in.
    /// - Throws: ``JourneyError/Code/staleStep``, ``JourneyError/Code/busy``; the errors of ``Journey/next(_:of:options:)``.
    @discardableResult
    public func next(_ step: JourneyStep) async throws -> State {
        try check(step)
        return try await ask(for: step) { [index] in try await $0.next(step, of: index, options: $1) }
    }

    /// Sends the current step when the user has returned from another site; see ``Journey/next(_:returnedTo:of:options:)``.
    @discardableResult
    public func next(_ step: JourneyStep, returnedTo address: String) async throws -> State {
        try check(step)
        return try await ask(for: step) { [index] in
            try await $0.next(step, returnedTo: address, of: index, options: $1)
        }
    }

    /// Waits for the time that the step requests and sends the step, until the server sends a step that requests no wait.
    ///
    /// During the wait, the step stays current, so another answer to it can be sent; this method then returns the new state. It
    /// may be called again after a failure, and then continues.
    /// - Parameters:
    ///   - maxDelay: The maximum time of each wait, even when the server requests more. The minimum is 200 milliseconds.
    ///   - timeout: The maximum time of all waits and their requests together, by the session's clock, so that a server can't
    ///     keep the client waiting forever. A wait that would end later does not begin.
    /// - Returns: The state after the last wait: a step that requests no wait, the end of the journey, or the state after another
    ///   answer.
    /// - Throws: The errors of ``next(_:)``; ``JourneyError/Code/timedOut`` after the timeout, and `CancellationError` when the task
    ///   is canceled during a wait, and then the step stays current.
    @discardableResult
    public func wait(maxDelay: Duration = .seconds(60), timeout: Duration = .seconds(600)) async throws -> State {
        var waited = Duration.zero
        while let step = state.open, let milliseconds = step.waitMilliseconds {
            let delay = max(min(.milliseconds(milliseconds), maxDelay), Self.minDelay)
            guard waited + delay <= timeout else {
                throw JourneyError(
                    .timedOut, message: "the server still requests a wait after \(timeout.components.seconds) seconds")
            }
            var isCurrent = false
            waited += try await clock.measure {
                try await clock.sleep(for: delay, tolerance: nil)
                isCurrent = state.open?.authId == step.authId
                if isCurrent { try await next(step) }
            }
            guard isCurrent else { return state }
        }
        return state
    }

    /// The minimum time of a wait, for a server that requests none.
    private static let minDelay = Duration.milliseconds(200)

    private func claim() throws(JourneyError) {
        if case .asking = state { throw JourneyError(.busy, message: "the previous answer is still being sent") }
    }

    private func check(_ step: JourneyStep) throws(JourneyError) {
        try claim()
        guard state.open?.authId == step.authId else {
            throw JourneyError(.staleStep, message: "the journey has already continued to another step")
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
            case .completed(let completion): state = .completed(completion)
            }
        } catch {
            state = step.map { Self.isEnd(error) ? .failed(error) : .stalled($0, error) } ?? .failed(error)
            throw error
        }
        return state
    }

    /// Returns true when the error means that the server has ended the journey.
    ///
    /// After other errors, the same step may still be valid.
    private static func isEnd(_ error: any Error) -> Bool {
        guard let error = error as? JourneyError else { return false }
        return [.loginFailed, .timedOut, .suspensionExpired, .refused].contains(error.code)
    }
}

extension JourneySession.State {
    /// The step that can be sent; nil when the state has none.
    fileprivate var open: JourneyStep? {
        switch self {
        case .step(let step), .stalled(let step, _): step
        case .idle, .asking, .loggedIn, .completed, .failed: nil
        }
    }
}
