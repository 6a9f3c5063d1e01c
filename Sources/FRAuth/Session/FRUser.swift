import SignetCore
public import SignetJourney
import SignetStorage

/// Who is logged in. It holds nothing: each call is about what is stored at that moment, with the settings of that moment.
public final class FRUser: Sendable {
    private let process: FRAuthProcess

    init(_ process: FRAuthProcess = .current) { self.process = process }

    /// Who is logged in: somebody with a session or with tokens that are stored, unless those came from a session that is stored no more.
    /// Nil when nobody is, when the SDK is not started, and when what is stored cannot be read, which ``FRAuth/lastStorageError`` tells
    /// then. The server is not asked.
    public static var currentUser: FRUser? {
        guard let session = FRAuthProcess.current.started?.session, !session.kept.isNobody else { return nil }
        return FRUser()
    }

    /// The access token as it is stored, ended or not; nil when there is none, or it came from another session than the stored one, or
    /// from one that is stored no more. It renews nothing and removes nothing: ``getAccessToken()-3l3ew`` does.
    public var token: AccessToken? {
        guard let kept = process.started?.session.kept else { return nil }
        return kept.ownToken.map { AccessToken($0, session: kept.session) }
    }

    /// The value of the `Authorization` header that presents the stored token; empty when there is none.
    public func buildAuthHeader() -> String { token?.buildAuthorizationHeader() ?? "" }
}

// MARK: Logging in

extension FRUser {
    /// Begins the journey that logs in (``FROptions/authServiceName``).
    /// - Parameter completion: gets the first step, or why there is none: ``ConfigError/invalidSDKState``,
    ///   ``AuthError/userAlreadyAuthenticated(_:)``. The user comes from ``Node/next(completion:)``.
    public static func login(completion: @escaping NodeCompletion<FRUser>) {
        begin(\.authenticationService, completion)
    }

    /// Begins the journey that registers (``FROptions/registrationServiceName``); otherwise as ``login(completion:)``.
    public static func register(completion: @escaping NodeCompletion<FRUser>) {
        begin(\.registrationService, completion)
    }

    /// ``login(completion:)`` for who waits.
    /// - Throws: ``ConfigError``, ``AuthError``, ``AuthApiError``, ``NetworkError``.
    public static func login() async throws -> sending NodeResult<FRUser> { try await begin(\.authenticationService) }

    /// ``register(completion:)`` for who waits.
    /// - Throws: as ``login()``.
    public static func register() async throws -> sending NodeResult<FRUser> { try await begin(\.registrationService) }

    private static func begin(
        _ name: any KeyPath<ServerProfile, String> & Sendable, _ completion: @escaping NodeCompletion<FRUser>
    ) {
        Task {
            do {
                try await service(name).next(completion: completion)
            } catch {
                completion(nil, nil, error)
            }
        }
    }

    private static func begin(_ name: KeyPath<ServerProfile, String>) async throws -> sending NodeResult<FRUser> {
        try await service(name).next()
    }

    /// The journey, if nobody is logged in.
    private static func service(_ name: KeyPath<ServerProfile, String>) async throws -> AuthService {
        guard let started = FRAuthProcess.current.started else { throw ConfigError.invalidSDKState }
        let kept = try await started.session.current()
        guard kept.isNobody else { throw AuthError.userAlreadyAuthenticated(kept.ownToken != nil) }
        return started.service(.service(started.session.client.profile[keyPath: name]))
    }
}

// MARK: Tokens

extension FRUser {
    /// Sees to it that there is a token that is good: renews it within the threshold, or gets one for the session.
    /// - Returns: this user, whose ``token`` it is.
    /// - Throws: ``TokenError/nullToken`` when nobody is logged in; ``AuthError/userAuthenticationRequired`` when what is stored gets no
    ///   token any more; ``OAuth2Error``, ``NetworkError`` and ``AuthApiError`` with everything kept, of which
    ///   ``OAuth2Error/missingOrInvalidRedirectURI(_:)`` and ``OAuth2Error/other(_:)`` may mean that the session lives and the server
    ///   wants something of the person first, a consent for example, which ``FRUser/browser()`` shows; ``ConfigError`` without an
    ///   OAuth 2.0 client; `StoreError`.
    @discardableResult
    public func getAccessToken() async throws -> FRUser {
        try await about { try await $0.token() }
        return self
    }

    /// The same with a completion, called once.
    public func getAccessToken(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        tell(completion) { try await self.getAccessToken() }
    }

    /// The same for a thread that may block. Never call it from a task or a completion of this module.
    /// - Throws: as ``getAccessToken()-3l3ew``.
    @available(*, noasync, message: "It blocks the thread: use `try await getAccessToken()`.")
    @discardableResult
    public func getAccessToken() throws -> FRUser {
        try Blocking.wait { await Result(of: { try await self.getAccessToken() }) }.get()
    }

    /// Gets a new token, whether or not the stored one has ended.
    /// - Throws: as ``getAccessToken()-3l3ew``.
    @discardableResult
    public func refresh() async throws -> FRUser {
        try await about { try await $0.refresh() }
        return self
    }

    /// The same with a completion, called once.
    public func refresh(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        tell(completion) { try await self.refresh() }
    }

    /// The same for a thread that may block. Never call it from a task or a completion of this module.
    /// - Throws: as ``getAccessToken()-3l3ew``.
    @available(*, noasync, message: "It blocks the thread: use `try await refresh()`.")
    @discardableResult
    public func refreshSync() throws -> FRUser {
        try Blocking.wait { await Result(of: { try await self.refresh() }) }.get()
    }

    /// Removes the tokens and revokes them; the session stays.
    /// - Throws: ``NetworkError``, ``OAuth2Error`` and so on when the server could not be told; the tokens are removed all the same.
    public func revokeAccessToken() async throws {
        try await about { try await $0.revoke() }
    }

    /// The same with a completion, called once; it gets the user beside an error too.
    public func revokeAccessToken(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        Task {
            do {
                try await revokeAccessToken()
                completion(self, nil)
            } catch {
                completion(self, error)
            }
        }
    }

    /// What the server says about the person. A token that it does not take is renewed once.
    /// - Throws: as ``getAccessToken()-3l3ew``.
    public func getUserInfo() async throws -> UserInfo {
        UserInfo(try await about { try await $0.userInfo() })
    }

    /// The same with a completion, called once.
    public func getUserInfo(completion: @escaping @Sendable (_ info: UserInfo?, _ error: (any Error)?) -> Void) {
        tell(completion) { try await self.getUserInfo() }
    }

    /// Asks for something that is about tokens.
    @discardableResult
    private func about<Value: Sendable>(_ body: (TokenSource) async throws -> Value) async throws -> Value {
        guard let started = process.started else { throw ConfigError.invalidSDKState }
        if let missing = started.options.missingClient { throw missing }
        guard try await !started.session.current().isEmpty else { throw TokenError.nullToken }
        return try await started.session.run(body)
    }

    private func tell<Value: Sendable>(
        _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            switch await Result(of: body) {
            case .success(let value): completion(value, nil)
            case .failure(let error): completion(nil, error)
            }
        }
    }
}

// MARK: Logging out

extension FRUser {
    /// Logs out. On this machine nobody is logged in when this returns; then the tokens are revoked and the session is ended at the
    /// server, which the task waits for and reports. Without a network this machine is logged out all the same.
    /// - Parameter forceEndSession: whether the session that the id_token names is ended too where there was a session of a journey.
    @discardableResult
    public func logout(forceEndSession: Bool = false) -> Task<LogOutReport, Never> {
        guard let session = process.started?.session else { return Task { LogOutReport.nothing } }
        return session.logOut(endsOpenIDSession: forceEndSession)
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// What became of some work.
    init(of body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
