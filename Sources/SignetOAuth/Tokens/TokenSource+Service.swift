public import SignetCore
public import SignetNetwork

/// The tokens of a service, which the server issues for the credentials of the client (RFC 6749 section 4.4).
extension TokenSource {
    /// Creates a source of tokens for a service, such as a daemon: it needs no user and no session.
    ///
    ///     profile.client = OAuthClient(service: "billing", scopes: ["read"], authentication: .privateKeyJWT(key))
    ///     let tokens = try TokenSource(service: profile, store: store, transport: transport)
    ///
    /// The rules for callers, tasks and processes are those of any source: one request at a time, whose result is stored before it is
    /// returned. A token is requested with the credentials of the client each time; a refresh token is not used.
    /// - Parameters:
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - store: The store for the tokens. It must not be that of a user's login.
    ///   - transport: The transport that sends the requests.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the expiration of tokens.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: ``ProfileError``, also for a public client, which has no credentials.
    public convenience init(
        service profile: ServerProfile, store: SessionStore, transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws(ProfileError) {
        try profile.validate()
        guard let client = profile.client else { throw ProfileError("client.id", .missing) }
        guard client.authentication.method != .publicClient else {
            throw ProfileError("client.authentication", .value("must not be none for a service, which has no user that logs in"))
        }
        self.init(
            OAuthEndpoints(profile), client: client, store: store,
            pipeline: RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger),
            threshold: profile.refreshThreshold, clock: clock, isService: true)
    }

    /// Returns true for a stored token of a service that is used as it is.
    func isUsable(_ token: AccessToken?, isRejected: Bool) -> Bool {
        token.map { !isRejected && !TokenRules.isDue($0, now: clock.now, threshold: threshold) } ?? false
    }

    /// Returns a new token for the credentials of the client.
    ///
    /// The caller holds the lock.
    func issued(replacing old: AccessToken?, isRejected: Bool) async throws -> AccessToken {
        do {
            let new = try await server.clientCredentials(boundTo: try await server.key(replacing: old))
            try await store.save(new)
            return remember(new, generation: store.generation)
        } catch {
            return try usable(old, after: TokenError(error), isRejected: isRejected)
        }
    }
}

extension AuthorizationServerClient {
    /// Requests a token for the credentials of the client (RFC 6749 section 4.4.2).
    func clientCredentials(boundTo key: DPoPKey?) async throws -> AccessToken {
        let client = try client
        var fields = [("grant_type", "client_credentials"), ("client_id", client.clientID)]
        if !client.scope.isEmpty { fields.append(("scope", client.scope)) }
        let answer = try await tokens(
            fields, to: try await tokenAddress(), scope: client.scope, for: .exchangeToken, boundTo: key)
        var token = try await taken(answer, requiresIDToken: false)
        // RFC 6749 section 4.4.3: The credentials of the client take the place of a refresh token.
        token.refreshToken = nil
        return token
    }
}
