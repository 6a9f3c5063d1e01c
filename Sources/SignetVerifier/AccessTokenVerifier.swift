public import SignetCore
public import SignetNetwork
public import SignetOAuth

/// A verifier of the access tokens that a service (a resource server) receives.
///
/// It verifies JWTs with the keys of the provider (RFC 9068), or asks the provider about each token (RFC 7662), and verifies DPoP
/// proofs (RFC 9449). ``AccessTokenMiddleware`` is the verifier in a router of Hummingbird.
///
/// The keys are requested for the first token, again for a signature that matches no known key, and once in an hour, but at most every
/// 30 seconds. The known keys stay until new ones have arrived. All methods may be called at the same time.
public final class AccessTokenVerifier: Sendable {
    /// The age at which the keys of the provider are requested again, in seconds.
    static let maximumKeyAge: Double = 3_600

    let proofs: ProofPolicy?
    let clock: any WallClock
    private let provider: TokenIssuer
    private let verification: TokenVerification
    private let policy: AccessTokenPolicy
    private let known: KnownTokens

    /// Creates a verifier for the tokens of one provider.
    /// - Parameters:
    ///   - endpoints: The endpoints of the provider. `OAuthEndpoints(issuer:discovery:)` is enough.
    ///   - verification: The way in which tokens are verified.
    ///   - policy: The requirements for tokens.
    ///   - proofs: The requirements for DPoP proofs; nil for a service that accepts bearer tokens only. Then a token that is bound to a
    ///     key is refused.
    ///   - transport: The transport that sends the requests to the provider.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the times of tokens and proofs.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ endpoints: OAuthEndpoints, verification: TokenVerification = .keys, policy: AccessTokenPolicy,
        proofs: ProofPolicy? = nil, transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [],
        clock: any WallClock = SystemWallClock(), requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        provider = TokenIssuer(
            endpoints, client: verification.client,
            pipeline: RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger), clock: clock,
            maximumKeyAge: Self.maximumKeyAge)
        self.verification = verification
        self.policy = policy
        self.proofs = proofs
        self.clock = clock
        if case .introspection(_, let lifetime) = verification.method {
            known = KnownTokens(lifetime: lifetime)
        } else {
            known = KnownTokens(lifetime: .zero)
        }
    }

    /// Verifies the access token of a request, and the DPoP proof of a token that is bound to a key.
    /// - Parameter request: The request.
    /// - Returns: The content of the token.
    /// - Throws: `AccessTokenError`; ``response(to:for:requiring:)`` returns the response to it.
    public func verify(_ request: ResourceRequest) async throws(AccessTokenError) -> VerifiedAccessToken {
        let (scheme, text) = try request.credentials()
        let token = try await verified(text)
        try await checkBinding(of: token, text, scheme, request)
        return token
    }

    /// Verifies the access token of a request that needs scopes.
    /// - Parameters:
    ///   - request: The request.
    ///   - scopes: The scopes, all of which the token must have.
    /// - Returns: The content of the token.
    /// - Throws: `AccessTokenError`.
    public func verify(
        _ request: ResourceRequest, requiring scopes: Set<String>
    ) async throws(AccessTokenError) -> VerifiedAccessToken {
        let token = try await verify(request)
        try Self.check(token, has: scopes)
        return token
    }

    /// Checks that a token has scopes.
    /// - Throws: `AccessTokenError` with the code `scope`.
    static func check(_ token: VerifiedAccessToken, has scopes: Set<String>) throws(AccessTokenError) {
        guard scopes.isSubset(of: token.scopes) else { throw AccessTokenError(.scope) }
    }

    // MARK: Parts

    /// Verifies a token without its binding.
    private func verified(_ text: Secret) async throws(AccessTokenError) -> VerifiedAccessToken {
        do {
            switch verification.method {
            case .keys: return try await verifiedByKeys(text)
            case .introspection: return try await verifiedByProvider(text)
            }
        } catch {
            throw Self.refusal(error)
        }
    }

    private func verifiedByKeys(_ text: Secret) async throws -> VerifiedAccessToken {
        let signed = try await provider.verified(text)
        let rules = AccessTokenRules(issuer: try await issuer(), policy: policy)
        try rules.check(header: signed.header, claims: signed.claims, now: clock.now)
        return try VerifiedAccessToken(signed.claims, issuer: rules.issuer)
    }

    private func verifiedByProvider(_ text: Secret) async throws -> VerifiedAccessToken {
        if let token = known.token(text, now: clock.now) { return token }
        let claims = try await provider.introspect(text)
        guard claims["active"] == .bool(true) else { throw AccessTokenError(.inactive) }
        let rules = AccessTokenRules(issuer: try await issuer(), policy: policy)
        let now = clock.now
        try rules.check(introspected: claims, now: now)
        let token = try VerifiedAccessToken(claims, issuer: rules.issuer)
        known.remember(token, text, now: now)
        return token
    }

    private func issuer() async throws -> String {
        guard let issuer = try await provider.issuer() else {
            throw OAuthError(.notConfigured, explanation: "the issuer of the provider is not known")
        }
        return issuer
    }

    /// Checks that the sender of a request may use a token: that it has the key of a bound token.
    private func checkBinding(
        of token: VerifiedAccessToken, _ text: Secret, _ scheme: AccessTokenScheme, _ request: ResourceRequest
    ) async throws(AccessTokenError) {
        let confirmation = try AccessTokenRules.confirmation(of: token.claims) ?? [:]
        switch scheme {
        case .bearer:
            guard confirmation.isEmpty else {
                throw AccessTokenError(.binding, explanation: "the token is bound to a key and was sent as a bearer token")
            }
            guard proofs?.isRequired != true else {
                throw AccessTokenError(.binding, explanation: "the service requires DPoP")
            }
        case .dpop:
            guard let proofs else { throw AccessTokenError(.binding, explanation: "the service does not support DPoP") }
            // A binding to a certificate (RFC 8705) can't be checked here.
            guard let thumbprint = token.keyThumbprint, confirmation["x5t#S256"] == nil else {
                throw AccessTokenError(.binding, explanation: "the token is not bound to the key of a DPoP proof")
            }
            try await ProofCheck(policy: proofs).check(request, token: text, thumbprint: thumbprint, now: clock.now)
        }
    }

    /// Converts an error of any lower layer.
    private static func refusal(_ error: any Error) -> AccessTokenError {
        if let error = error as? AccessTokenError { return error }
        if let error = error as? IDTokenError {
            switch error.code {
            case .form: return AccessTokenError(.form)
            case .algorithm: return AccessTokenError(.algorithm)
            case .signature: return AccessTokenError(.signature, explanation: error.explanation)
            default: return AccessTokenError(.unavailable, explanation: error.description)
            }
        }
        let cause = TokenIssuer.reason(of: error)
        return AccessTokenError(.unavailable, explanation: cause.description, isRetryable: cause.isRetryable)
    }
}
