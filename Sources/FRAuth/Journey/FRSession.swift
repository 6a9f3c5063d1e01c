public import SignetJourney

/// Journeys for a session of the server, without tokens.
public enum FRSession {
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

    /// Begins what a policy asks for before it lets somebody in.
    public static func authenticate<T: Sendable>(policyAdvice: PolicyAdvice, completion: @escaping NodeCompletion<T>) {
        begin(.advice(policyAdvice), completion)
    }

    /// Goes on with a journey that was suspended, at the link that its e-mail has.
    public static func authenticate<T: Sendable>(resumeURI: String, completion: @escaping NodeCompletion<T>) {
        guard let started = FRAuth.shared else { return LegacyWalk.refuse(completion, ConfigError.invalidSDKState) }
        let service = started.service(.standard)
        service.run(completion) { try await $0.resume(resumeURI) }
    }

    private static func begin<T: Sendable>(_ index: AuthenticationIndex, _ completion: @escaping NodeCompletion<T>) {
        guard let started = FRAuth.shared else { return LegacyWalk.refuse(completion, ConfigError.invalidSDKState) }
        started.service(index).next(completion: completion)
    }
}
