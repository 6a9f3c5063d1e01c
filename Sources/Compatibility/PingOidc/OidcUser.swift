import SignetCore
import SignetNetwork
package import SignetOAuth
import SignetStorage

/// The calls of a ``User`` over the tokens of the engine.
package final class TokenCalls: Sendable {
    private let tokens: TokenSource
    private let claims = Mutex<UserInfo?>(nil)

    /// Creates the calls for the tokens of a client.
    package init(_ tokens: TokenSource) { self.tokens = tokens }

    /// Returns valid tokens.
    package func token() async -> Result<Token, OidcError> {
        await result { () throws(TokenError) in Token(try await self.tokens.token()) }
    }

    /// Returns new tokens.
    package func refresh() async -> Result<Token, OidcError> {
        await result { () throws(TokenError) in Token(try await self.tokens.refresh()) }
    }

    /// Revokes and removes the tokens.
    package func revoke() async throws(TokenError) {
        claims.withLock { $0 = nil }
        try await tokens.revoke()
    }

    /// Returns the claims about the user.
    package func userinfo(cache: Bool) async -> Result<UserInfo, OidcError> {
        if cache, let known = claims.withLock({ $0 }) { return .success(known) }
        let answer = await result { () throws(TokenError) in try await self.tokens.userInfo().claims.mapValues(\.sendable) }
        if cache, case .success(let received) = answer { claims.withLock { $0 = received } }
        return answer
    }

    /// Logs the user out.
    package func logOut() async -> LogOutReport {
        claims.withLock { $0 = nil }
        return await tokens.logOut()
    }

    private func result<Value>(_ body: () async throws(TokenError) -> Value) async -> Result<Value, OidcError> {
        do throws(TokenError) { return .success(try await body()) } catch { return .failure(OidcError(error)) }
    }
}

/// A client of an OAuth 2.0 server, with the stored tokens.
///
/// It returns and renews tokens that were stored before. New tokens come from a login.
public final class OidcClient: Sendable {
    private let config: OidcClientConfig
    private let calls = Mutex<TokenCalls?>(nil)

    /// Creates a client.
    ///
    /// The settings are read at the first call.
    public init(config: OidcClientConfig) { self.config = config }

    /// Returns valid tokens: the stored ones, or renewed ones.
    public func token() async -> Result<Token, OidcError> { await call { await $0.token() } }

    /// Returns new tokens.
    public func refresh() async -> Result<Token, OidcError> { await call { await $0.refresh() } }

    /// Returns the claims about the user, from the server.
    public func userinfo() async -> Result<UserInfo, OidcError> { await call { await $0.userinfo(cache: false) } }

    /// Revokes the tokens at the server and removes them.
    ///
    /// At a server without a revocation endpoint they are only removed, and expire there. An error is logged.
    public func revoke() async {
        do {
            try await ready().revoke()
        } catch {
            config.logger.e("The tokens could not be revoked", error: error)
        }
    }

    /// Removes the tokens, and ends them and their session at the server.
    /// - Returns: False when a step failed, on this machine or at the server.
    @discardableResult
    public func endSession() async -> Bool { (try? await ready().logOut().isComplete) ?? false }

    func userinfo(cache: Bool) async -> Result<UserInfo, OidcError> { await call { await $0.userinfo(cache: cache) } }

    private func call<Value>(
        _ body: (TokenCalls) async -> Result<Value, OidcError>
    ) async -> Result<Value, OidcError> {
        do { return await body(try ready()) } catch { return .failure(OidcError(any: error)) }
    }

    private func ready() throws -> TokenCalls {
        if let calls = calls.withLock({ $0 }) { return calls }
        let made = TokenCalls(try config.source())
        return calls.withLock { calls in
            if calls == nil { calls = made }
            return calls ?? made
        }
    }
}

/// A user with the tokens of an OAuth 2.0 client.
public final class OidcUser: User {
    private let client: OidcClient

    /// Creates a user with the stored tokens of a client.
    public init(config: OidcClientConfig) { client = OidcClient(config: config) }

    /// Returns valid tokens: the stored ones, or renewed ones.
    public func token() async -> Result<Token, OidcError> { await client.token() }
    /// Returns new tokens.
    public func refresh() async -> Result<Token, OidcError> { await client.refresh() }
    /// Revokes the tokens at the server and removes them.
    public func revoke() async { await client.revoke() }
    /// Returns the claims about the user, from memory if `cache` is true and an earlier call received them.
    public func userinfo(cache: Bool = true) async -> Result<UserInfo, OidcError> { await client.userinfo(cache: cache) }
    /// Removes the tokens, and ends them at the server.
    public func logout() async { await client.endSession() }
}

extension OidcClientConfig {
    /// Returns the tokens of the client, without a session of AM.
    fileprivate func source() throws -> TokenSource {
        let settings = settings
        guard let client = settings.client else {
            throw OidcError.unknown(message: "the settings name no client: set clientId and redirectUri")
        }
        let clientID = settings.clientId
        tokens.useAccount(
            "\(Self.account)/\(SessionStore.name(for: [settings.discoveryEndpoint, clientID]))", in: .default,
            accepting: { $0.isIssued(to: clientID) })
        let http = settings.httpClient ?? HttpClient()
        var endpoints = OAuthEndpoints(policy: .allowingPlainHTTP(to: settings.plainHTTPHosts.union(http.plainHTTPHosts)))
        if settings.httpClient != nil { endpoints.timeout = http.requestTimeout }
        endpoints.discovery = settings.discoveryEndpoint.isEmpty ? nil : settings.discoveryEndpoint
        if let openId = settings.openId {
            endpoints.authorize = openId.authorizationEndpoint
            endpoints.token = openId.tokenEndpoint
            endpoints.userInfo = openId.userinfoEndpoint
            endpoints.revoke = openId.revocationEndpoint
            endpoints.endSession = openId.pingEndsessionEndpoint ?? openId.endSessionEndpoint
        }
        return TokenSource(
            endpoints, client: client,
            store: try SessionStore(tokens: TokenSlot(self), session: MemorySlot<SSOToken>(), cookies: MemorySlot<CookieJar>()),
            transport: http.transport, threshold: .seconds(settings.refreshThreshold),
            interceptors: [SDKIdentification.ping])
    }
}
