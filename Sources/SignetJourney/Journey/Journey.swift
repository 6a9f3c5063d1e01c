public import SignetCore
public import SignetNetwork

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The journeys of one server: start one, answer its steps, and end with a session or an error.
///
///     let journeys = Journey(profile, transport: transport)
///     var state = try await journeys.start("Login")
///     while case .step(var step) = state {
///         try step.fill(NameCallback.self) { $0.name = "demo" }
///         try step.fill(PasswordCallback.self) { $0.fill(password) }
///         state = try await journeys.next(step)
///     }
///
/// A value without state: the step carries the server's handle, so several walks may go on side by side. ``JourneySession`` keeps the
/// state of one walk, for a user interface.
///
/// The journeys of an ``IdentityClient`` know its session and cookies, and what they deliver is kept; these keep nothing, unless a
/// ``TokenSource`` is given.
///
/// Every method throws ``JourneyError``, `TransportError`, what an interceptor throws, ``ProfileError`` for a profile that was changed
/// into one that cannot be used, and ``TokenError/Code/storage`` where something is kept. None of them changes a step: after a
/// failure of the network the same step can be sent again, and the server decides whether it still counts.
public struct Journey: Sendable {
    /// The server.
    public let profile: ServerProfile
    private let pipeline: RequestPipeline
    private let tokens: TokenSource?

    /// Journeys of one server.
    /// - Parameters:
    ///   - profile: the server.
    ///   - transport: what requests go through.
    ///   - interceptors: see each request before it is sent, in this order; they are told `START_AUTHENTICATE`, `AUTHENTICATE` and
    ///     `RESUME_AUTHENTICATE`.
    ///   - tokens: where sessions go that journeys deliver, and where the session and the cookies are that journeys begin with.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ profile: ServerProfile, transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [],
        keeping tokens: TokenSource? = nil, requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.profile = profile
        self.tokens = tokens
        pipeline = RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger)
    }

    /// Starts a journey.
    /// - Parameters:
    ///   - name: its name; nil for the profile's authentication service.
    ///   - options: how it is walked.
    public func start(_ name: String? = nil, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await start(.service(name ?? profile.authenticationService), options: options)
    }

    /// Starts what an index stands for: a journey, a module, what a policy asks for, or the realm's default.
    public func start(_ index: AuthenticationIndex, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await post(query: index.query + options.query, body: Self.nothing, for: .startAuthenticate(index), options)
    }

    /// Starts the profile's registration service.
    public func register(options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await start(.service(profile.registrationService), options: options)
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    /// - Parameters:
    ///   - link: the link; it names the journey by `suspendedId`.
    ///   - options: how the journey is walked from there on.
    /// - Throws: ``JourneyError/Code/invalidResumeURI``; ``JourneyError/Code/suspensionExpired``.
    public func resume(_ link: String, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        guard let id = FormCoding.query(of: link)["suspendedId"], !id.isEmpty else {
            throw JourneyError(.invalidResumeURI, message: "the link has no suspendedId, so it belongs to no journey")
        }
        return try await post(
            query: [("suspendedId", id)] + options.query, body: Self.nothing, for: .resumeAuthenticate, options)
    }

    /// Sends a step whose callbacks have been filled in. A step that only waits is sent back as it is.
    /// - Parameters:
    ///   - step: the step.
    ///   - index: what was started, for interceptors; the server knows it from the step.
    ///   - options: those that the journey was started with.
    public func next(
        _ step: JourneyStep, of index: AuthenticationIndex = .standard, options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        try await post(
            query: options.query, body: JSON.encode(step.echoed(to: profile.dialect).json), for: .authenticate(index), options)
    }

    /// Goes on with a step that had sent the person elsewhere (``RedirectCallback``), when they come back.
    /// - Parameters:
    ///   - step: the step that has the callback.
    ///   - address: the address they came back to. What the other side put into its query is handed to the server.
    ///   - index: what was started, for interceptors.
    ///   - options: those that the journey was started with.
    public func next(
        _ step: JourneyStep, returnedTo address: String, of index: AuthenticationIndex = .standard,
        options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        let parameters = FormCoding.query(of: address)
        let carried = Self.carriedBack.compactMap { name in parameters[name].map { (name: name, value: $0) } }
        return try await post(
            query: carried + options.query, body: JSON.encode(step.echoed(to: profile.dialect).json), for: .authenticate(index),
            options)
    }

    /// Waits as long as a step asks for, and sends it.
    /// - Parameters:
    ///   - step: the step; one that asks for no wait is sent at once.
    ///   - longest: more than this is not waited, whatever the server says.
    ///   - clock: what to wait by.
    ///   - index: what was started, for interceptors.
    ///   - options: those that the journey was started with.
    /// - Throws: also `CancellationError`, when the task is cancelled: somebody pressed the other button.
    public func waitAndGoOn(
        _ step: JourneyStep, longest: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock(),
        of index: AuthenticationIndex = .standard, options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        if let milliseconds = step.waitMilliseconds {
            try await clock.sleep(for: min(.milliseconds(milliseconds), longest), tolerance: nil)
        }
        return try await next(step, of: index, options: options)
    }

    private static let nothing = Array("{}".utf8)

    /// What may come back with a person from elsewhere (protocol/journey.md section 1.4).
    private static let carriedBack = [
        "code", "error", "errorCode", "errorMessage", "form_post_entry", "nonce", "RelayState", "responsekey", "scope", "state",
        "suspendedId",
    ]

    private func post(
        query: [(name: String, value: String)], body: [UInt8], for action: RequestAction, _ options: JourneyOptions
    ) async throws -> JourneyState {
        try profile.validate()
        let url = FormCoding.address(profile.address(of: .authenticate), adding: query)
        let request = HTTPRequest(
            "POST", url, headers: try await headers(for: url, options), body: body, timeout: options.timeout ?? profile.timeout,
            pins: profile.pins)
        let response = try await pipeline.send(request, for: action)
        try await tokens?.take(response, to: request)
        guard (200..<300).contains(response.status) else { throw JourneyError(response) }
        let state = try JourneyState(response.body, status: response.status)
        if case .loggedIn(let session) = state { try await tokens?.adopt(session) }
        return state
    }

    private func headers(for url: String, _ options: JourneyOptions) async throws -> HTTPHeaders {
        var session = options.session
        if session == nil { session = try await tokens?.session()?.value }
        if let session {
            let isPlain = session.withUnsafeBytes { $0.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ";") } }
            guard isPlain, session.count > 0 else {
                throw JourneyError(.invalidRequest, message: "the session token is none: it has a character that no token has")
            }
        }
        let cookies = try await tokens?.cookies()
        var headers = SessionHeaders(profile).headers(session, for: url, cookies, now: tokens?.clock.now ?? .distantPast)
        headers.append("Accept-API-Version", "resource=2.1, protocol=1.0")
        headers.append("Content-Type", "application/json")
        headers.append("Accept", "application/json")
        if !profile.requestedWith.isEmpty { headers.append("X-Requested-With", profile.requestedWith) }
        return headers
    }
}

extension JourneyStep {
    /// The step as it goes back (protocol/journey.md section 2.1). A `TextOutputCallback` that carries a script (type 4) stays
    /// behind: it is for browsers, and AM does not read it back. OpenAM counts the callbacks and wants every one.
    func echoed(to dialect: ServerProfile.Dialect) -> JourneyStep {
        guard dialect == .accessManager, callbacks.contains(where: \.isScript) else { return self }
        var step = self
        step.callbacks.removeAll(where: \.isScript)
        return step
    }
}

extension JourneyCallback {
    var isScript: Bool { type == "TextOutputCallback" && output("messageType")?.wholeNumber == 4 }
}
