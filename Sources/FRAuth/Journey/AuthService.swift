package import SignetJourney
public import SignetNetwork

/// A journey by its name, ready to be walked, of one server.
///
///     let service = try AuthService(name: "Login", options: options, transport: transport)
///     service.next { (token: Token?, node, error) in ... }
public struct AuthService: Sendable {
    /// The journey's name.
    public let serviceName: String
    private let walk: LegacyWalk

    /// What this walk is known by on this side.
    public var authServiceId: String { walk.id }

    /// A journey of the server that the settings name.
    /// - Parameters:
    ///   - name: its name on the server.
    ///   - options: the settings.
    ///   - transport: what requests go through.
    ///   - interceptors: see each request before it is sent.
    ///   - factory: which classes callbacks get.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)``.
    public init(
        name: String, options: FROptions, transport: any HTTPTransport, interceptors: [any SignetNetwork.RequestInterceptor] = [],
        factory: CallbackFactory = CallbackFactory()
    ) throws {
        self.init(
            index: .service(name), journeys: Journey(try options.profile(), transport: transport, interceptors: interceptors),
            factory: factory, endings: nil)
    }

    package init(
        index: AuthenticationIndex, journeys: Journey, options: JourneyOptions = JourneyOptions(),
        factory: CallbackFactory = CallbackFactory(), endings: (any JourneyEndings)?
    ) {
        serviceName = index.value
        walk = LegacyWalk(
            journeys: journeys, index: index, options: options, factory: factory, endings: endings ?? PassingEndings())
    }

    /// Begins. `T` says what the journey is to end with; see ``Node/next(completion:)``.
    public func next<T: Sendable>(completion: @escaping NodeCompletion<T>) {
        let walk = walk
        walk.run(completion) { try await $0.start(walk.index, options: walk.options) }
    }

    /// The same for who waits.
    /// - Throws: ``AuthError``, ``AuthApiError``, ``NetworkError``.
    public func next<T: Sendable>(_ type: T.Type = T.self) async throws -> sending NodeResult<T> {
        let walk = walk
        return try await walk.result { try await $0.start(walk.index, options: walk.options) }
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    public func resume<T: Sendable>(_ link: String, completion: @escaping NodeCompletion<T>) {
        let walk = walk
        walk.run(completion) { try await $0.resume(link, options: walk.options) }
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; as ``next(_:)``.
    public func resume<T: Sendable>(_ type: T.Type = T.self, link: String) async throws -> sending NodeResult<T> {
        let walk = walk
        return try await walk.result { try await $0.resume(link, options: walk.options) }
    }
}
