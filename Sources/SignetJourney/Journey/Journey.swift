import Foundation
public import SignetCore
public import SignetNetwork
public import SignetOAuth

/// The journeys of one server.
///
/// Start a journey and answer its steps; it ends with a session or an error.
///
///     let journeys = Journey(profile, transport: transport)
///     var state = try await journeys.start("Login")
///     while case .step(var step) = state {
///         try step.fill(NameCallback.self) { $0.name = "demo" }
///         try step.fill(PasswordCallback.self) { $0.fill(password) }
///         state = try await journeys.next(step)
///     }
///
/// This type keeps no state of a journey, because each step contains the server's handle. Several journeys may therefore run at
/// the same time. ``JourneySession`` keeps the state of one run, for a user interface. It does keep which variant of the protocol
/// the server's answers have shown (`ServerProfile.dialect`).
///
/// The journeys of an ``IdentityClient`` use its session and cookies, and store the session that they deliver. Other journeys
/// store nothing, unless they have a `TokenSource`.
///
/// Every method throws ``JourneyError``, `TransportError`, the errors of interceptors, `ProfileError` for a profile that became
/// invalid by a change, and `TokenError.Code.storage` when a journey stores data. The methods don't change a step. After a
/// network failure, the same step can be sent again, and the server decides whether it is still valid.
public struct Journey: Sendable {
    /// The profile of the server.
    public let profile: ServerProfile
    private let pipeline: RequestPipeline
    private let tokens: TokenSource?
    /// The variant of the protocol that the server uses.
    private let dialect: DetectedDialect

    /// Creates the journeys of one server.
    /// - Parameters:
    ///   - profile: The profile of the server.
    ///   - transport: The transport that sends the requests.
    ///   - interceptors: The interceptors that see each request before it is sent, in this order. The actions are
    ///     `START_AUTHENTICATE`, `AUTHENTICATE` and `RESUME_AUTHENTICATE`.
    ///   - tokens: The token source that stores the sessions of journeys, and that supplies the initial session and the cookies.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ profile: ServerProfile, transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [],
        keeping tokens: TokenSource? = nil, requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.profile = profile
        self.tokens = tokens
        let shared = tokens.flatMap { $0.dialect.setting == profile.dialect ? $0.dialect : nil }
        dialect = shared ?? DetectedDialect(profile.dialect)
        pipeline = RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger)
    }

    /// Starts a journey.
    /// - Parameters:
    ///   - name: The name of the journey; nil for the profile's authentication service.
    ///   - options: The options of the journey.
    /// - Returns: The first step, or the end of a journey that asks nothing.
    /// - Throws: ``JourneyError``, `TransportError`, and the other errors that ``Journey`` lists.
    public func start(_ name: String? = nil, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await start(.service(name ?? profile.authenticationService), options: options)
    }

    /// Starts the journey that an index selects: a journey, a module, the advice of a policy, or the realm's default.
    public func start(_ index: AuthenticationIndex, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await finish(try await sendStart(index, options))
    }

    /// Starts the profile's registration service.
    public func register(options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await start(.service(profile.registrationService), options: options)
    }

    /// Continues a suspended journey with the link from its email.
    /// - Parameters:
    ///   - link: The link, which identifies the journey by `suspendedId`.
    ///   - options: The options for the rest of the journey.
    /// - Returns: The next step, or the end of the journey.
    /// - Throws: ``JourneyError/Code/invalidResumeURI``; ``JourneyError/Code/suspensionExpired``.
    public func resume(_ link: String, options: JourneyOptions = JourneyOptions()) async throws -> JourneyState {
        try await finish(
            try await send(for: .resumeAuthenticate, options) { try resumeRequest(link, options: options) })
    }

    /// Sends a step whose callbacks have been filled in.
    ///
    /// Send a step that only waits unchanged.
    ///
    /// When the server refuses the step because its scripts are missing, it is sent once more with them. When an OpenAM refuses to
    /// upgrade the session at the end of a forced journey, the journey is started again, in the form that this server requires.
    /// - Parameters:
    ///   - step: The step.
    ///   - index: The index with which the journey was started. Interceptors receive it, and a journey is started again only with
    ///     another index than ``AuthenticationIndex/default``; the server identifies the journey by the step.
    ///   - options: The options with which the journey was started.
    /// - Returns: The next step, or the end of the journey.
    /// - Throws: ``JourneyError/Code/loginFailed`` and the other codes of ``JourneyError``; `TransportError`; the other errors
    ///   that ``Journey`` lists.
    public func next(
        _ step: JourneyStep, of index: AuthenticationIndex = .default, options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        try await answer(step, adding: [], of: index, options)
    }

    /// Continues a step that redirected the user to another site (``RedirectCallback``), when the user returns.
    /// - Parameters:
    ///   - step: The step that contains the callback.
    ///   - address: The address to which the user returned. The query parameters of the other site are sent to the server.
    ///   - index: The index with which the journey was started, as for ``next(_:of:options:)``.
    ///   - options: The options with which the journey was started.
    /// - Returns: The next step, or the end of the journey.
    /// - Throws: The errors of ``next(_:of:options:)``.
    public func next(
        _ step: JourneyStep, returnedTo address: String, of index: AuthenticationIndex = .default,
        options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        let parameters = FormCoding.query(of: address)
        let carried = Self.resumeParameters.compactMap { name in parameters[name].map { (name: name, value: $0) } }
        return try await answer(step, adding: carried, of: index, options)
    }

    private func answer(
        _ step: JourneyStep, adding parameters: [(name: String, value: String)], of index: AuthenticationIndex,
        _ options: JourneyOptions
    ) async throws -> JourneyState {
        let response = try await answer(step, of: index, options) {
            try await send(for: .authenticate(index), options) {
                try nextRequest(step, adding: parameters, options: options)
            }
        } start: {
            try await sendStart(index, options)
        }
        return try await finish(response)
    }

    private var isOpenAM: Bool { dialect.current == .openAM }
    /// True when the profile sets no variant of the protocol and no answer has shown an OpenAM.
    private var mayBeOpenAM: Bool { dialect.setting == nil && !isOpenAM }

    /// Waits for the time that a step requests, and sends the step.
    /// - Parameters:
    ///   - step: The step. A step that requests no wait is sent immediately.
    ///   - maxDelay: The maximum time to wait, even when the server requests more.
    ///   - clock: The clock for the wait.
    ///   - index: The index with which the journey was started, for interceptors.
    ///   - options: The options with which the journey was started.
    /// - Returns: The next step, or the end of the journey.
    /// - Throws: The errors of ``next(_:of:options:)``; `CancellationError` when the task is canceled, for example because the
    ///   user pressed another button.
    public func waitAndContinue(
        _ step: JourneyStep, maxDelay: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock(),
        of index: AuthenticationIndex = .default, options: JourneyOptions = JourneyOptions()
    ) async throws -> JourneyState {
        if let milliseconds = step.waitMilliseconds {
            try await clock.sleep(for: min(.milliseconds(milliseconds), maxDelay), tolerance: nil)
        }
        return try await next(step, of: index, options: options)
    }

    private static let nothing = Array("{}".utf8)

    /// The query parameters that another site may add to the return address (protocol/journey.md section 1.4).
    private static let resumeParameters = [
        "code", "error", "errorCode", "errorMessage", "form_post_entry", "nonce", "RelayState", "responsekey", "scope", "state",
        "suspendedId",
    ]

    private func sendStart(_ index: AuthenticationIndex, _ options: JourneyOptions) async throws -> HTTPResponse {
        try await send(for: .startAuthenticate(index), options) { try startRequest(index, options: options) }
    }

    /// Sends a request with the session.
    /// - Parameters:
    ///   - action: The purpose of the request.
    ///   - options: The options of the journey.
    ///   - makeRequest: Returns the request; called when the variant of the protocol that is stored with the session is known.
    /// - Returns: The response.
    /// - Throws: The errors that ``Journey`` lists.
    private func send(
        for action: RequestAction, _ options: JourneyOptions, _ makeRequest: () throws -> HTTPRequest
    ) async throws -> HTTPResponse {
        let session = try await session(options)
        var request = try makeRequest()
        try await add(session, to: &request, options)
        return try await send(request, for: action)
    }

    /// Reads a response and stores the session at the end of the journey.
    private func finish(_ response: HTTPResponse) async throws -> JourneyState {
        let state = try Self.state(after: response)
        if case .loggedIn(let session) = state { try await tokens?.adopt(session) }
        return state
    }

    private func session(_ options: JourneyOptions) async throws -> Secret? {
        if let session = options.session { return session }
        let session = try await tokens?.session()
        dialect.recall(session)
        return session?.value
    }

    /// Adds a session, the query parameters for it, and the cookies to a request.
    private func add(_ session: Secret?, to request: inout HTTPRequest, _ options: JourneyOptions) async throws {
        if let session {
            let isPlain = session.withUnsafeBytes { $0.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ";") } }
            guard isPlain, session.count > 0 else {
                throw JourneyError(
                    .invalidRequest, message: "the session token is invalid: it contains a character that no token has")
            }
        }
        let cookies = try await tokens?.cookies()
        let now = tokens?.clock.now ?? .distantPast
        if options.forceAuthentication {
            // A server also reads the session from the cookie that it set.
            let kept = cookies?.cookies(for: request.url, now: now) ?? []
            if session != nil || kept.contains(where: { $0.name == profile.cookieName }) { request.force() }
        }
        let headers = SessionHeaders(profile, dialect.current).headers(session, for: request.url, cookies, now: now)
        request.headers = headers.followed(by: request.headers)
    }

    private func request(
        query: [(name: String, value: String)], body: [UInt8], _ options: JourneyOptions
    ) throws -> HTTPRequest {
        try profile.validate()
        var headers: HTTPHeaders = [
            "Accept-API-Version": "resource=2.1, protocol=1.0", "Content-Type": "application/json", "Accept": "application/json",
        ]
        if let languages = PreferredLanguages.header(profile.preferredLanguages) { headers.append("Accept-Language", languages) }
        if !profile.requestedWith.isEmpty { headers.append("X-Requested-With", profile.requestedWith) }
        return HTTPRequest(
            "POST", FormCoding.address(profile.address(of: .authenticate), adding: query), headers: headers, body: body,
            timeout: options.timeout ?? profile.timeout, pins: profile.pins)
    }
}

// The parts of a step, for a caller that changes the request or the response between them.
extension Journey {
    /// Returns the request that starts a journey, without the session.
    package func startRequest(_ index: AuthenticationIndex, options: JourneyOptions) throws -> HTTPRequest {
        try request(query: index.query + options.query, body: Self.nothing, options)
    }

    /// Returns the request that continues a suspended journey, without the session.
    package func resumeRequest(_ link: String, options: JourneyOptions) throws -> HTTPRequest {
        guard let id = FormCoding.query(of: link)["suspendedId"], !id.isEmpty else {
            throw JourneyError(.invalidResumeURI, message: "the link has no suspendedId, so it belongs to no journey")
        }
        return try request(query: [("suspendedId", id)] + options.query, body: Self.nothing, options)
    }

    /// Returns the request with the answer to a step, without the session.
    package func nextRequest(
        _ step: JourneyStep, adding parameters: [(name: String, value: String)] = [], options: JourneyOptions
    ) throws -> HTTPRequest {
        guard !step.authId.isEmpty else {
            throw JourneyError(.invalidRequest, message: "the step has an empty authId, so it belongs to no journey")
        }
        return try request(query: parameters + options.query, body: content(answering: step), options)
    }

    /// Returns the content of the request with the answer to a step, in the form for the variant of the protocol.
    package func content(answering step: JourneyStep) -> [UInt8] { JSON.encode(step.echoed(to: dialect.current).json) }

    /// Adds the session and the cookies to a request, before its other header fields.
    ///
    /// With a session, the request also gets the query parameters that force a journey.
    package func addSession(to request: inout HTTPRequest, _ options: JourneyOptions) async throws {
        try await add(try await session(options), to: &request, options)
    }

    /// Replaces the session of a request, and each of its cookies that the store has too.
    ///
    /// The request keeps its other cookies: those of the app, and those that have been removed from the store since they were added.
    package func renewSession(of request: inout HTTPRequest, _ options: JourneyOptions) async throws {
        request.removeSession(profile.cookieName)
        try await addSession(to: &request, options)
    }

    /// Sends the answer to a step, and once more when its refusal shows an OpenAM, in the form that this server requires.
    ///
    /// When OpenAM refuses to upgrade the session at the end of a forced journey, the journey is started again.
    /// - Parameters:
    ///   - step: The step.
    ///   - index: The index with which the journey was started.
    ///   - options: The options with which the journey was started.
    ///   - send: Sends ``content(answering:)``, which changes between two calls.
    ///   - start: Sends the request that starts the journey.
    /// - Returns: The last response.
    /// - Throws: The errors of `send` and `start`.
    package func answer(
        _ step: JourneyStep, of index: AuthenticationIndex, _ options: JourneyOptions,
        send: () async throws -> HTTPResponse, start: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let response = try await send()
        guard mayBeOpenAM else { return response }
        if step.hasScripts, response.isMissingCallbacks {
            dialect.show(.openAM)
            let second = try await send()
            if second.isMissingCallbacks { dialect.show(.accessManager) }
            return second
        }
        guard options.forceAuthentication, response.isRefusedUpgrade else { return response }
        dialect.show(.openAM)
        return index == .default ? response : try await start()
    }

    /// Sends a request and stores the cookies of the response.
    ///
    /// OpenAM upgrades only the session that the query of the start names, and says so only after the last step
    /// (protocol/journey.md section 8.2). When the first step of a forced journey shows an OpenAM, the journey is therefore started
    /// again with the session in the query.
    package func send(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPResponse {
        var request = request
        if isOpenAM, action.isStart { request.upgradeSession(profile.cookieName) }
        var response = try await exchange(request, for: action)
        if mayBeOpenAM, response.isModuleStep {
            dialect.show(.openAM)
            if action.isStart, request.upgradeSession(profile.cookieName) { response = try await exchange(request, for: action) }
        }
        guard isOpenAM, action.isStart, response.status == 400, request.upgradedSession != nil else { return response }
        // OpenAM answers this to a session that has ended. Without a session, the journey runs in any case.
        try await add(nil, to: &request, JourneyOptions())
        request.removeSession(profile.cookieName)
        return try await exchange(request, for: action)
    }

    private func exchange(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPResponse {
        var response = try await pipeline.send(request, for: action)
        try await tokens?.take(response, to: request)
        if let session = request.upgradedSession { response.hide(session) }
        return response
    }

    /// Reads a response.
    package static func state(after response: HTTPResponse) throws(JourneyError) -> JourneyState {
        guard (200..<300).contains(response.status) else { throw JourneyError(response) }
        return try JourneyState(response.body, status: response.status)
    }
}

extension JourneyStep {
    /// Returns the step in the form in which it is sent back (protocol/journey.md section 2.1).
    ///
    /// For AM, this omits a `TextOutputCallback` that contains a script (type 4), because it is for browsers and AM doesn't read
    /// it. OpenAM counts the callbacks and requires all of them.
    func echoed(to dialect: ServerProfile.Dialect) -> JourneyStep {
        guard dialect == .accessManager, hasScripts else { return self }
        var step = self
        step.callbacks.removeAll(where: \.isScript)
        return step
    }

    fileprivate var hasScripts: Bool { callbacks.contains(where: \.isScript) }
}

extension JourneyCallback {
    var isScript: Bool { type == "TextOutputCallback" && output("messageType")?.lenientInteger == 4 }
}
