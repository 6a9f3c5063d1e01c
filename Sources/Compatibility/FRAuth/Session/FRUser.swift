public import Foundation
import SignetCore
import SignetJourney
public import SignetOAuth
import SignetStorage

#if canImport(UIKit)
public import UIKit
#endif

/// The user that is logged in.
///
/// It holds no data: each call reads the data that is stored at that time, with the settings of that time.
public final class FRUser: NSObject, NSSecureCoding, Sendable {
    private let process: FRAuthProcess

    init(_ process: FRAuthProcess = .current) { self.process = process }

    /// Returns true for the user of the same SDK, because the object holds no data.
    override public func isEqual(_ object: Any?) -> Bool { (object as? FRUser)?.process === process }
    /// The hash of the SDK.
    override public var hash: Int { ObjectIdentifier(process).hashValue }
    /// The type's name, without a token.
    override public var debugDescription: String { "FRUser" }
    /// True: decoding accepts only this class.
    public static var supportsSecureCoding: Bool { true }
    /// Creates the user of this process's SDK, because an archive of a user holds no data.
    public convenience init?(coder: NSCoder) { self.init() }
    /// Encodes nothing.
    public func encode(with coder: NSCoder) {}

    /// The user that is logged in, which means that a session or tokens are stored.
    ///
    /// Tokens from a session that was removed do not count. Nil when no user is logged in, when the SDK is not started, or when
    /// the stored data cannot be read; then ``FRAuth/lastStorageError`` has the error. It doesn't ask the server.
    public static var currentUser: FRUser? {
        guard let session = FRAuthProcess.current.started?.session, session.contents.hasUser else { return nil }
        return FRUser()
    }

    /// The stored access token, expired or not.
    ///
    /// Nil when no token is stored, or when the token came from a session other than the stored one. It renews and removes
    /// nothing; ``getAccessToken()-3l3ew`` does.
    public var token: AccessToken? {
        guard let stored = process.started?.session.contents else { return nil }
        return stored.ownToken.map { AccessToken($0, session: stored.session) }
    }

    /// Returns the value of the `Authorization` header for the stored token; an empty string without a token.
    public func buildAuthHeader() -> String { token?.buildAuthorizationHeader() ?? "" }
}

// MARK: Logging in

extension FRUser {
    /// Starts the journey that logs the user in (``FROptions/authServiceName``).
    /// - Parameter completion: Gets the first step, or an error: ``ConfigError/invalidSDKState`` or
    ///   ``AuthError/userAlreadyAuthenticated(_:)``, but not after ``AuthError/userAuthenticationRequired``. The user comes from
    ///   ``Node/next(completion:)``.
    public static func login(completion: @escaping NodeCompletion<FRUser>) {
        LegacyJourney.report(to: completion) { try await login() }
    }

    /// Starts the journey that registers a user (``FROptions/registrationServiceName``); see ``login(completion:)`` for the
    /// completion.
    public static func register(completion: @escaping NodeCompletion<FRUser>) {
        LegacyJourney.report(to: completion) { try await register() }
    }

    /// Starts the journey that logs the user in, and returns its first step or its result.
    /// - Throws: ``ConfigError``, ``AuthError``, ``AuthApiError``, `NetworkError`.
    public static func login() async throws -> sending NodeResult<FRUser> { try await begin(\.authenticationService) }

    /// Starts the journey that registers a user, and returns its first step or its result.
    /// - Throws: The errors of ``login()``.
    public static func register() async throws -> sending NodeResult<FRUser> { try await begin(\.registrationService) }

    /// Starts a journey if no user is logged in, or if a login is required although a session or a token is stored.
    private static func begin(_ name: KeyPath<ServerProfile, String>) async throws -> sending NodeResult<FRUser> {
        guard let started = FRAuthProcess.current.started else { throw ConfigError.invalidSDKState }
        let stored = try await started.session.current()
        guard !stored.hasUser || started.session.requiresLogin else {
            throw AuthError.userAlreadyAuthenticated(stored.ownToken != nil)
        }
        let index = AuthenticationIndex.service(started.session.client.profile[keyPath: name])
        // The server would otherwise end the journey at once with the stored session, which gets no token.
        return try await started.service(index) { $0.forceAuthentication = stored.hasUser }.next()
    }
}

// MARK: Tokens

extension FRUser {
    /// Makes sure that a valid token is stored: renews the token within the threshold, or gets one for the session.
    /// - Returns: This user, with the token in ``token``.
    /// - Throws:
    ///   - ``TokenError/nullToken`` when no user is logged in.
    ///   - ``AuthError/userAuthenticationRequired`` when the stored session and tokens no longer get a new token.
    ///   - ``OAuth2Error``, `NetworkError` and ``AuthApiError``; everything stays stored.
    ///     ``OAuth2Error/missingOrInvalidRedirectURI(_:)`` and ``OAuth2Error/other(_:)`` can mean that the session is valid and
    ///     that the server first wants an interaction with the user, such as consent, which ``FRUser/browser()`` shows.
    ///   - ``ConfigError`` without an OAuth 2.0 client.
    ///   - `StoreError`.
    @discardableResult
    public func getAccessToken() async throws -> FRUser {
        try await about { try await $0.token() }
        return self
    }

    /// Makes sure that a valid token is stored, and calls the completion once.
    public func getAccessToken(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        Self.callBack(completion) { try await self.getAccessToken() }
    }

    /// Makes sure that a valid token is stored, and blocks the calling thread meanwhile.
    ///
    /// Never call it from a task or a completion of this module.
    /// - Throws: The errors of ``getAccessToken()-3l3ew``.
    @available(*, noasync, message: "It blocks the thread: use `try await getAccessToken()`.")
    @discardableResult
    public func getAccessToken() throws -> FRUser {
        try Blocking.wait { await Swift.Result(of: { try await self.getAccessToken() }) }.get()
    }

    /// Gets a new token, even when the stored one has not expired.
    /// - Throws: The errors of ``getAccessToken()-3l3ew``, with ``TokenError/nullToken`` also when only a session is stored.
    @discardableResult
    public func refresh() async throws -> FRUser {
        try await about(requiresToken: true) { try await $0.refresh() }
        return self
    }

    /// Gets a new token, and calls the completion once.
    public func refresh(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        Self.callBack(completion) { try await self.refresh() }
    }

    /// Gets a new token, and blocks the calling thread meanwhile.
    ///
    /// Never call it from a task or a completion of this module.
    /// - Throws: The errors of ``getAccessToken()-3l3ew``.
    @available(*, noasync, message: "It blocks the thread: use `try await refresh()`.")
    @discardableResult
    public func refreshSync() throws -> FRUser {
        try Blocking.wait { await Swift.Result(of: { try await self.refresh() }) }.get()
    }

    /// Removes the tokens and revokes them at the server.
    ///
    /// The session stays. At a server without a revocation endpoint the call succeeds, and the tokens expire there.
    /// - Throws: `NetworkError`, ``OAuth2Error`` and others when the server could not revoke the tokens. The stored tokens are
    ///   removed anyway.
    public func revokeAccessToken() async throws {
        _ = try await about { try await $0.revoke() }
    }

    /// Removes and revokes the tokens, and calls the completion once.
    ///
    /// The completion gets the user even with an error.
    public func revokeAccessToken(completion: @escaping @Sendable (_ user: FRUser?, _ error: (any Error)?) -> Void) {
        Self.callBack({ completion(self, $1) }, revokeAccessToken)
    }

    /// Returns the server's claims about the user.
    ///
    /// A token that the server rejects is renewed once.
    /// - Throws: The errors of ``getAccessToken()-3l3ew``.
    public func getUserInfo() async throws -> UserInfo {
        UserInfo(try await about { try await $0.userInfo() })
    }

    /// Gets the server's claims about the user, and calls the completion once.
    public func getUserInfo(completion: @escaping @Sendable (_ info: UserInfo?, _ error: (any Error)?) -> Void) {
        Self.callBack(completion) { try await self.getUserInfo() }
    }

    /// Runs work that needs stored tokens or a session, after a check of the configuration and of the stored data.
    @discardableResult
    private func about<Value: Sendable>(
        requiresToken: Bool = false, _ body: (TokenSource) async throws -> Value
    ) async throws -> Value {
        guard let started = process.started else { throw ConfigError.invalidSDKState }
        if let missing = started.session.options.missingClient { throw missing }
        let stored = try await started.session.current()
        guard !stored.isEmpty, !requiresToken || stored.ownToken != nil else { throw TokenError.nullToken }
        return try await started.session.run(body)
    }

    /// Runs `body` and calls the completion with its value or its error.
    static func callBack<Value: Sendable>(
        _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            switch await Swift.Result(of: body) {
            case .success(let value): completion(value, nil)
            case .failure(let error): completion(nil, error)
            }
        }
    }
}

// MARK: Logging out

extension FRUser {
    /// Logs out.
    ///
    /// When this method returns, no user is logged in in this process. The task first removes the session and the tokens from the
    /// storage, also without a network: a process that ends soon awaits its value.
    /// - Parameter forceEndSession: True to also end the OpenID session that the ID token names when the user had a session from
    ///   a journey.
    /// - Returns: A task that revokes the tokens and ends the session at the server. Its value reports the outcome of each step.
    @discardableResult
    public func logout(forceEndSession: Bool = false) -> Task<LogOutReport, Never> {
        guard let session = process.started?.session else { return Task { LogOutReport.nothing } }
        return session.logOut(endsOpenIDSession: forceEndSession)
    }

    #if canImport(UIKit)
    /// Logs out as ``logout(forceEndSession:)`` does, and also ends the OpenID session.
    ///
    /// It shows no window and no browser. A cookie that the browser has from the login stays there.
    /// - Parameters:
    ///   - presentingViewController: Not used.
    ///   - browserType: Not used.
    /// - Returns: A task whose value reports the outcome of each step.
    @discardableResult
    public func logout(
        presentingViewController: UIViewController, browserType: BrowserType = .authSession
    ) -> Task<LogOutReport, Never> { logout(forceEndSession: true) }
    #endif
}
