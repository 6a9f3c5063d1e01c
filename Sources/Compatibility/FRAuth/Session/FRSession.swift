public import Foundation
import SignetJourney
public import SignetOAuth

/// The session with the server, and the functions that run journeys.
public struct FRSession: Sendable {
    private let process: FRAuthProcess

    private init() { process = FRAuthProcess.current }

    /// The stored session.
    ///
    /// Nil when no session is stored, when the SDK is not started, or when the stored data cannot be read; then
    /// ``FRAuth/lastStorageError`` has the error. It doesn't ask the server.
    public static var currentSession: FRSession? {
        FRAuthProcess.current.started?.session.contents.session == nil ? nil : FRSession()
    }

    /// The token of the stored session; nil after the session has been removed.
    public var sessionToken: Token? { process.started?.session.contents.session.map { Token($0) } }

    /// Ends the session and the tokens from it; see ``FRUser/logout(forceEndSession:)``.
    ///
    /// The ForgeRock SDK keeps the tokens, although they can't be used any more.
    @discardableResult
    public func logout() -> Task<LogOutReport, Never> {
        FRUser(process).logout()
    }
}

// MARK: Journeys

extension FRSession {
    /// Starts a journey.
    /// - Parameters:
    ///   - authIndexValue: The journey's name.
    ///   - authIndexType: The type of the name; `service` for a journey.
    ///   - completion: Called once with the first step, or with an error: ``ConfigError/invalidSDKState`` before
    ///     ``FRAuth/start(options:)``.
    public static func authenticate<T: Sendable>(
        authIndexValue: String, authIndexType: String = "service", completion: @escaping NodeCompletion<T>
    ) {
        LegacyJourney.report(to: completion) {
            try await authenticate(authIndexValue: authIndexValue, authIndexType: authIndexType)
        }
    }

    /// Starts a journey whose result is the session's token.
    public static func authenticate(
        authIndexValue: String, authIndexType: String = "service", completion: @escaping NodeCompletion<Token>
    ) {
        LegacyJourney.report(to: completion) {
            try await authenticate(authIndexValue: authIndexValue, authIndexType: authIndexType)
        }
    }

    /// Starts the journey that a policy's advice asks for; its result is the session's token.
    public static func authenticate(policyAdvice: PolicyAdvice, completion: @escaping NodeCompletion<Token>) {
        LegacyJourney.report(to: completion) { try await authenticate(policyAdvice: policyAdvice) }
    }

    /// Resumes a suspended journey at the link from its email; its result is the session's token.
    public static func authenticate(resumeURI: URL, completion: @escaping NodeCompletion<Token>) {
        LegacyJourney.report(to: completion) { try await authenticate(resumeURI: resumeURI) }
    }

    /// Starts a journey and waits for the server's response.
    /// - Parameters:
    ///   - type: The type of the journey's result; see ``Node/next(completion:)``.
    ///   - authIndexValue: The journey's name.
    ///   - authIndexType: The type of the name; `service` for a journey.
    /// - Returns: The first step, or the result. The result is nil when the journey creates no session.
    /// - Throws: ``ConfigError``, ``AuthError``, ``AuthApiError``, `NetworkError`.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, authIndexValue: String, authIndexType: String = "service"
    ) async throws -> sending NodeResult<T> {
        try await service(AuthenticationIndex(type: authIndexType, value: authIndexValue)).next(type)
    }

    /// Starts the journey that a policy's advice asks for before the user gets access.
    public static func authenticate<T: Sendable>(policyAdvice: PolicyAdvice, completion: @escaping NodeCompletion<T>) {
        LegacyJourney.report(to: completion) { try await authenticate(policyAdvice: policyAdvice) }
    }

    /// Starts the journey that a policy's advice asks for, and returns its first step or its result.
    /// - Throws: The errors of ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, policyAdvice: PolicyAdvice
    ) async throws -> sending NodeResult<T> {
        try await service(.advice(policyAdvice.advice)).next(type)
    }

    /// Resumes a suspended journey at the link from its email.
    public static func authenticate<T: Sendable>(resumeURI: String, completion: @escaping NodeCompletion<T>) {
        LegacyJourney.report(to: completion) { try await authenticate(resumeURI: resumeURI) }
    }

    /// Resumes a suspended journey at the link from its email, as a `URL`, which the ForgeRock SDK takes.
    public static func authenticate<T: Sendable>(resumeURI: URL, completion: @escaping NodeCompletion<T>) {
        authenticate(resumeURI: resumeURI.absoluteString, completion: completion)
    }

    /// Resumes a suspended journey at the link from its email, and returns the next step or the result.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; the errors of ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, resumeURI: String
    ) async throws -> sending NodeResult<T> {
        try await service(.default).resume(type, link: resumeURI)
    }

    /// Resumes a suspended journey at the link from its email, as a `URL`, and returns the next step or the result.
    /// - Throws: ``AuthError/invalidResumeURI(_:)``; the errors of ``authenticate(_:authIndexValue:authIndexType:)``.
    public static func authenticate<T: Sendable>(
        _ type: T.Type = T.self, resumeURI: URL
    ) async throws -> sending NodeResult<T> {
        try await authenticate(type, resumeURI: resumeURI.absoluteString)
    }

    private static func service(_ index: AuthenticationIndex) throws -> AuthService {
        guard let started = FRAuth.shared else { throw ConfigError.invalidSDKState }
        return started.service(index)
    }
}
