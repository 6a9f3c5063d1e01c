import Foundation
public import SignetCore
public import SignetNetwork

/// A verifier of the logout tokens that a provider posts to the back-channel logout address of an app's service (OpenID Connect
/// Back-Channel Logout 1.0).
///
/// The service calls ``answer(_:endingSessions:)`` with the body of each request, and sends the response of the result:
///
///     let answer = await verifier.answer(body) { token in
///         try await sessions.end(issuer: token.issuer, id: token.sessionID, subject: token.subject)
///     }
///
/// The keys come from the provider's JWKS, as for ID tokens. They are requested for the first token, and again for a signature that
/// matches no known key, but at most every 30 seconds, also after a request that failed: the address is public, so each sender could
/// make the service send requests. The known keys stay until new ones have arrived.
///
/// One verifier is for one client at one provider. All its methods may be called at the same time.
public final class LogoutTokenVerifier: Sendable {
    /// The maximum length of a body and of a token, in bytes.
    public static let maximumLength = 65_536

    private let provider: TokenIssuer
    private let clientID: String
    private let policy: LogoutTokenPolicy
    private let memory: any LogoutTokenMemory
    /// The digests of the tokens whose sessions this process is ending.
    private let running = Mutex<Set<String>>([])

    /// Creates a verifier for the client and the server of a profile.
    /// - Parameters:
    ///   - profile: The profile. It must have a client, whose ID is the audience of the tokens.
    ///   - memory: The memory of received tokens, which all processes of the service share.
    ///   - transport: The transport that sends the requests for the discovery document and the keys.
    ///   - policy: The requirements for tokens. Without an algorithm, ``OAuthClient/idTokenSignedResponseAlg`` is required. The
    ///     ``OAuthClient/trustedAudiences`` are trusted too.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the times of tokens.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: ``ProfileError``.
    public convenience init(
        _ profile: ServerProfile, memory: any LogoutTokenMemory, transport: any HTTPTransport,
        policy: LogoutTokenPolicy = LogoutTokenPolicy(), interceptors: [any RequestInterceptor] = [],
        clock: any WallClock = SystemWallClock(), requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws(ProfileError) {
        try profile.validate()
        guard let client = profile.client else { throw ProfileError("client", .missing) }
        var policy = policy
        policy.algorithm = policy.algorithm ?? client.idTokenSignedResponseAlg
        policy.trustedAudiences += client.trustedAudiences
        self.init(
            OAuthEndpoints(profile), clientID: client.clientID, memory: memory, transport: transport, policy: policy,
            interceptors: interceptors, clock: clock, requestLogger: requestLogger)
    }

    /// Creates a verifier for a client of any provider.
    ///
    /// `OAuthEndpoints(issuer:discovery:)` is enough: the address of the keys is that of the discovery document. The endpoints
    /// must have the issuer, or a discovery document that names it.
    /// - Parameters:
    ///   - endpoints: The endpoints of the provider.
    ///   - clientID: The client ID, which is the audience of the tokens.
    ///   - memory: The memory of received tokens, which all processes of the service share.
    ///   - transport: The transport that sends the requests for the discovery document and the keys.
    ///   - policy: The requirements for tokens.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the times of tokens.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ endpoints: OAuthEndpoints, clientID: String, memory: any LogoutTokenMemory, transport: any HTTPTransport,
        policy: LogoutTokenPolicy = LogoutTokenPolicy(), interceptors: [any RequestInterceptor] = [],
        clock: any WallClock = SystemWallClock(), requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        provider = TokenIssuer(
            endpoints, client: nil,
            pipeline: RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger), clock: clock)
        self.clientID = clientID
        self.policy = policy
        self.memory = memory
    }

    // MARK: Verification

    /// Verifies the token in the body of a request; see ``verify(_:)``.
    /// - Parameter body: The body: a form with `logout_token` once. Other parameters are ignored.
    /// - Returns: The content of the token.
    /// - Throws: `LogoutTokenError`.
    public func verify(body: [UInt8]) async throws(LogoutTokenError) -> LogoutToken {
        try await verify(try Self.token(in: body))
    }

    /// Verifies a token whose sessions the app ends next.
    ///
    /// The app must call ``finish(_:)`` after it has ended the sessions: until then the same token is accepted again, because the
    /// provider repeats it when the app fails.
    /// - Parameter text: The token: a JWS in compact form.
    /// - Returns: The content of the token.
    /// - Throws: `LogoutTokenError`.
    public func verify(_ text: String) async throws(LogoutTokenError) -> LogoutToken {
        let checked = try await verified(text)
        try await begin(checked)
        return checked.token
    }

    /// Remembers that the sessions of a token have ended, so that the same token is refused from now on.
    /// - Throws: `LogoutTokenError` with the code `unavailable` when the memory fails.
    public func finish(_ token: LogoutToken) async throws(LogoutTokenError) {
        do { try await memory.finish(token.id, issuer: token.issuer) } catch { throw Self.refusal(error) }
    }

    // MARK: Requests of the provider

    /// Verifies the token in the body of a request, ends the sessions, and returns the response to the provider.
    ///
    /// The token is accepted again until the sessions have ended and the memory has stored that. A request with the same token that
    /// arrives while `endSessions` runs in this process is answered with 503. Another process may run `endSessions` for the same
    /// token at the same time.
    /// - Parameters:
    ///   - body: The body of the request.
    ///   - endSessions: Ends the sessions that the token names. A session that has already ended counts as ended.
    /// - Returns: The response, and the token or the error.
    public func answer(
        _ body: [UInt8], endingSessions endSessions: (LogoutToken) async throws -> Void
    ) async -> BackChannelLogoutAnswer {
        do {
            let checked = try await verified(try Self.token(in: body))
            let token = checked.token
            let digest = LogoutTokenDigest.text(of: token.id, issuer: token.issuer)
            guard running.withLock({ $0.insert(digest).inserted }) else {
                throw LogoutTokenError(
                    .unavailable, explanation: "another request with the same token is being answered", isRetryable: true)
            }
            defer { running.withLock { _ = $0.remove(digest) } }
            try await begin(checked)
            try await endSessions(token)
            try await finish(token)
            return BackChannelLogoutAnswer(response: Self.success, outcome: .success(token))
        } catch {
            return BackChannelLogoutAnswer(response: Self.response(to: error), outcome: .failure(error))
        }
    }

    /// The response after the sessions were ended: 200 with `Cache-Control: no-store` (section 2.8).
    public static var success: HTTPResponse { HTTPResponse(status: 200, headers: ["Cache-Control": "no-store"]) }

    /// Returns the response after an error, with `Cache-Control: no-store` and JSON that names the error.
    ///
    /// The status is 400 for a token that was refused and for sessions that could not be ended (section 2.8). It is 503 for a
    /// `RetryableError` that states that a repetition may succeed, for example because the keys of the provider are not available:
    /// many providers repeat a request after 503, and not after 400.
    /// - Parameter error: The error. Only the code of a `LogoutTokenError` is part of the response.
    /// - Returns: The response.
    public static func response(to error: any Error) -> HTTPResponse {
        let isTemporary = (error as? any RetryableError)?.isRetryable ?? false
        let code = (error as? LogoutTokenError)?.code.rawValue
        let content: JSONValue = .object([
            "error": .string(isTemporary ? "temporarily_unavailable" : "invalid_request"),
            "error_description": .string(code.map { "the logout token was refused: \($0)" } ?? "the sessions could not be ended"),
        ])
        return HTTPResponse(
            status: isTemporary ? 503 : 400, headers: ["Cache-Control": "no-store", "Content-Type": "application/json"],
            body: JSON.encode(content))
    }

    // MARK: Parts

    /// Returns the token in a form.
    private static func token(in body: [UInt8]) throws(LogoutTokenError) -> String {
        guard body.count <= maximumLength, let text = String(strictUTF8: body) else { throw LogoutTokenError(.request) }
        let fields: [String: String]
        do throws(FormError) {
            fields = try FormCoding.decodeOnce(text)
        } catch {
            throw LogoutTokenError(.request)
        }
        guard let token = fields["logout_token"], !token.isEmpty else { throw LogoutTokenError(.request) }
        return token
    }

    /// A token that was verified, and is not in the memory yet.
    private struct VerifiedToken: Sendable {
        let token: LogoutToken
        /// The time until which the token must be remembered.
        let end: Date
        /// The time of the verification.
        let now: Date
    }

    /// Verifies a token without the memory.
    private func verified(_ text: String) async throws(LogoutTokenError) -> VerifiedToken {
        do {
            guard text.utf8.count <= Self.maximumLength else { throw LogoutTokenError(.request) }
            let signed = try await provider.verified(Secret(text: text))
            guard let issuer = try await provider.issuer() else {
                throw OAuthError(.notConfigured, explanation: "the issuer of the provider is not known")
            }
            let listed = provider.idTokenSigningAlgs
            guard policy.algorithm != nil || listed.isEmpty || listed.contains(signed.algorithm) else {
                throw LogoutTokenError(.algorithm)
            }
            let now = provider.clock.now
            let rules = LogoutTokenRules(issuer: issuer, clientID: clientID, policy: policy)
            let token = try rules.token(header: signed.header, claims: signed.claims, now: now)
            return VerifiedToken(token: token, end: rules.lastUse(of: token), now: now)
        } catch {
            throw Self.refusal(error)
        }
    }

    /// Remembers that the app begins to end the sessions of a token.
    private func begin(_ verified: VerifiedToken) async throws(LogoutTokenError) {
        let token = verified.token
        do {
            let isBegun = try await memory.begin(token.id, issuer: token.issuer, until: verified.end, now: verified.now)
            guard isBegun else { throw LogoutTokenError(.replayed) }
        } catch {
            throw Self.refusal(error)
        }
    }

    /// Converts an error of any lower layer.
    private static func refusal(_ error: any Error) -> LogoutTokenError {
        if let error = error as? LogoutTokenError { return error }
        if let error = error as? IDTokenError {
            switch error.code {
            case .form: return LogoutTokenError(.form)
            case .algorithm: return LogoutTokenError(.algorithm)
            case .signature: return LogoutTokenError(.signature, explanation: error.explanation)
            default: return LogoutTokenError(.unavailable, explanation: error.description)
            }
        }
        let cause = TokenError(error)
        return LogoutTokenError(.unavailable, explanation: cause.description, isRetryable: cause.isRetryable)
    }
}

/// The result of a request to a back-channel logout address.
public struct BackChannelLogoutAnswer: Sendable {
    /// The response to the provider, which the service must send.
    public let response: HTTPResponse
    /// The token whose sessions were ended; or the `LogoutTokenError`, or the error with which the app failed to end them.
    public let outcome: Result<LogoutToken, any Error>

    /// Creates a result, for the tests of an app.
    /// - Parameters:
    ///   - response: The response to the provider.
    ///   - outcome: The token whose sessions were ended, or the error.
    public init(response: HTTPResponse, outcome: Result<LogoutToken, any Error>) {
        self.response = response
        self.outcome = outcome
    }
}
