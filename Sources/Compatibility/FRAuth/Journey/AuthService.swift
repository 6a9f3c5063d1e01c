import SignetJourney
public import SignetNetwork

/// A journey of a server, ready to run.
///
///     let service = try AuthService(name: "Login", options: options, transport: transport)
///     service.next { (token: Token?, node, error) in ... }
public struct AuthService: Sendable {
    /// The journey's name.
    public let serviceName: String
    private let journey: LegacyJourney

    /// The identifier of this run of the journey, generated on the client.
    public var authServiceId: String { journey.id }

    /// Creates a journey of the server that the settings name.
    /// - Parameters:
    ///   - name: The journey's name on the server.
    ///   - options: The settings.
    ///   - transport: The transport for requests.
    ///   - interceptors: The interceptors, which see each request before it is sent. They can't change `x-requested-with` and
    ///     `x-requested-platform`.
    ///   - factory: The factory for the classes of callbacks.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)``.
    public init(
        name: String, options: FROptions, transport: any HTTPTransport, interceptors: [any SignetNetwork.RequestInterceptor] = [],
        factory: CallbackFactory = CallbackFactory()
    ) throws {
        self.init(
            index: .service(name), options: JourneyOptions(),
            journeys: Journey(
                try options.profile(), transport: transport, interceptors: interceptors + [SDKIdentification.forgeRock()]),
            factory: factory, session: nil)
    }

    init(
        index: AuthenticationIndex, options: JourneyOptions, journeys: Journey, factory: CallbackFactory, session: LegacySession?
    ) {
        serviceName = index.value
        journey = LegacyJourney(journeys: journeys, index: index, options: options, factory: factory, session: session)
    }

    /// Starts the journey.
    ///
    /// `T` is the type of the journey's result; see ``Node/next(completion:)``.
    public func next<T: Sendable>(completion: @escaping NodeCompletion<T>) {
        journey.run(completion) { try await $0.start(journey.index, options: journey.options) }
    }

    /// Starts the journey; its result is the user.
    public func nextWithUserCompletion(completion: @escaping NodeCompletion<FRUser>) { next(completion: completion) }
    /// Starts the journey; its result is an access token.
    public func nextWithAccessTokenCompletion(completion: @escaping NodeCompletion<AccessToken>) {
        next(completion: completion)
    }
    /// Starts the journey; its result is the session's token.
    public func nextWithTokenCompletion(completion: @escaping NodeCompletion<Token>) { next(completion: completion) }

    /// Starts the journey and returns its first step or its result.
    /// - Throws: ``AuthError``, ``AuthApiError``, `NetworkError`.
    public func next<T: Sendable>(_ type: T.Type = T.self) async throws -> sending NodeResult<T> {
        try await journey.result { try await $0.start(journey.index, options: journey.options) }
    }

    /// Resumes a suspended journey at the link from its email.
    public func resume<T: Sendable>(_ link: String, completion: @escaping NodeCompletion<T>) {
        journey.run(completion) { try await $0.resume(link, options: journey.options) }
    }

    /// Resumes a suspended journey at the link from its email, and returns the next step or the result.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; the errors of ``next(_:)``.
    public func resume<T: Sendable>(_ type: T.Type = T.self, link: String) async throws -> sending NodeResult<T> {
        try await journey.result { try await $0.resume(link, options: journey.options) }
    }
}
