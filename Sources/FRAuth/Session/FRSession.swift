public import SignetJourney

/// The session of the server, and journeys for one.
public struct FRSession: Sendable {
    private let process: FRAuthProcess

    private init() { process = FRAuthProcess.current }

    /// The session that is stored. Nil when there is none, when the SDK is not started, and when what is stored cannot be read, which
    /// ``FRAuth/lastStorageError`` tells then. The server is not asked.
    public static var currentSession: FRSession? {
        FRAuthProcess.current.started?.session.kept.session == nil ? nil : FRSession()
    }

    /// The session's token as it is stored; nil when there is none any more.
    public var sessionToken: Token? { process.started?.session.kept.session.map { Token($0) } }

    /// Ends the session, and what came of it; see ``FRUser/logout(forceEndSession:)``. The original leaves the tokens, which nothing can be
    /// done with any more.
    @discardableResult
    public func logout() -> Task<LogOutReport, Never> {
        FRUser(process).logout()
    }
}

// MARK: Journeys

extension FRSession {
    /// Begins a journey.
    /// - Parameters:
    ///   - authIndexValue: its name.
    ///   - authIndexType: what the name is of; `service` for a journey.
    ///   - completion: called once with the first step, or why there is none: ``ConfigError/invalidSDKState`` before ``FRAuth/start(options:)``.
    public static func authenticate<T: Sendable>(
        authIndexValue: String, authIndexType: String = "service", completion: @escaping NodeCompletion<T>
    ) {
        begin(AuthenticationIndex(type: authIndexType, value: authIndexValue), completion)
    }

    /// The same for who waits.
    /// - Parameters:
    ///   - type: what the journey is to end with; see ``Node/next(completion:)``.
    ///   - authIndexValue: its name.
    ///   - authIndexType: what the name is of; `service` for a journey.
    /// - Throws: ``ConfigError``, ``AuthError``, ``AuthApiError``, ``NetworkError``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, authIndexValue: String, authIndexType: String = "service"
    ) async throws -> sending NodeResult<T> {
        guard let started = FRAuth.shared else { throw ConfigError.invalidSDKState }
        return try await started.service(AuthenticationIndex(type: authIndexType, value: authIndexValue)).next(type)
    }

    /// Begins what a policy asks for before it lets somebody in.
    public static func authenticate<T: Sendable>(policyAdvice: PolicyAdvice, completion: @escaping NodeCompletion<T>) {
        begin(.advice(policyAdvice), completion)
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    public static func authenticate<T: Sendable>(resumeURI: String, completion: @escaping NodeCompletion<T>) {
        guard let started = FRAuth.shared else { return LegacyWalk.refuse(completion, ConfigError.invalidSDKState) }
        started.service(.standard).resume(resumeURI, completion: completion)
    }

    private static func begin<T: Sendable>(_ index: AuthenticationIndex, _ completion: @escaping NodeCompletion<T>) {
        guard let started = FRAuth.shared else { return LegacyWalk.refuse(completion, ConfigError.invalidSDKState) }
        started.service(index).next(completion: completion)
    }
}
