public import SignetJourney

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
        try await service(AuthenticationIndex(type: authIndexType, value: authIndexValue)).next(type)
    }

    /// Begins what a policy asks for before it lets somebody in.
    public static func authenticate<T: Sendable>(policyAdvice: PolicyAdvice, completion: @escaping NodeCompletion<T>) {
        begin(.advice(policyAdvice), completion)
    }

    /// The same for who waits.
    /// - Throws: as ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, policyAdvice: PolicyAdvice
    ) async throws -> sending NodeResult<T> {
        try await service(.advice(policyAdvice)).next(type)
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    public static func authenticate<T: Sendable>(resumeURI: String, completion: @escaping NodeCompletion<T>) {
        with(.standard, completion) { $0.resume(resumeURI, completion: completion) }
    }

    /// The same with the link as a `URL`, as the original takes it.
    public static func authenticate<T: Sendable>(resumeURI: URL, completion: @escaping NodeCompletion<T>) {
        authenticate(resumeURI: resumeURI.absoluteString, completion: completion)
    }

    /// The same for who waits.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; as ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, resumeURI: String
    ) async throws -> sending NodeResult<T> {
        try await service(.standard).resume(type, link: resumeURI)
    }

    /// The same for who waits, with the link as a `URL`.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; as ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, resumeURI: URL
    ) async throws -> sending NodeResult<T> {
        try await authenticate(type, resumeURI: resumeURI.absoluteString)
    }

    private static func begin<T: Sendable>(_ index: AuthenticationIndex, _ completion: @escaping NodeCompletion<T>) {
        with(index, completion) { $0.next(completion: completion) }
    }

    private static func with<T: Sendable>(
        _ index: AuthenticationIndex, _ completion: @escaping NodeCompletion<T>, _ body: (AuthService) -> Void
    ) {
        do { body(try service(index)) } catch { LegacyWalk.refuse(completion, error) }
    }

    private static func service(_ index: AuthenticationIndex) throws -> AuthService {
        guard let started = FRAuth.shared else { throw ConfigError.invalidSDKState }
        return started.service(index)
    }
}
