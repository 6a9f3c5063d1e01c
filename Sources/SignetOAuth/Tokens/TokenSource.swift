import Foundation
public import SignetCore
public import SignetNetwork
package import SignetStorage

/// A source of valid access tokens.
///
/// Ask it for a token whenever you need one, and don't keep the token.
///
///     let tokens = try TokenSource(profile, store: store, transport: transport)
///     let token = try await tokens.token()
///     request.headers.set("Authorization", token.authorization)
///
/// These rules apply to any number of concurrent callers in any number of tasks and processes:
/// - A valid token is returned from memory, without waiting.
/// - A token that expires within the threshold is renewed by **one** request, whose result all callers receive. It is stored
///   before it is returned. A token whose lifetime is shorter than twice the threshold is renewed after half of its lifetime.
/// - Without a refresh token, or when the server has revoked it, the session (`SSOToken`) provides new tokens. Without a session,
///   ``TokenError/Code/loginRequired`` means that the user must log in. When the session is valid and the server still requires
///   an interaction with the user, or the ID token doesn't confirm the authentication that the client requested, the error is
///   ``TokenError/Code/interactionRequired``.
/// - Tokens that came from another session than the stored one, or from a session that isn't stored any more, are removed and
///   revoked.
/// - A refresh whose response is refused, for example because its ID token names another user, ends the login: its tokens are
///   revoked, the previous ones are removed, and the error is ``TokenError/Code/loginRequired`` until the user logs in again.
/// - A grant or a session counts as ended only after an explicit answer of the server: an `invalid_grant` from its token
///   endpoint, or its statement that the session doesn't exist. Network failures, 5xx responses and HTML pages end nothing.
public final class TokenSource: Sendable {
    /// The store for the tokens, the session and the cookies.
    public let store: SessionStore
    let server: AuthorizationServerClient
    let threshold: Duration
    /// True for the tokens of a service, which come from its own credentials.
    let isService: Bool
    /// The clock for the expiration of tokens and cookies.
    package var clock: any WallClock { server.clock }
    private let renewal = SingleFlight<AccessToken>()
    private let memory = Mutex(Memory())
    /// The tokens that renewals have replaced or removed, and that aren't revoked yet.
    let unrevoked = Mutex<[AccessToken]>([])
    /// The report of ``replaced``.
    let replacement = Mutex<LogOutReport?>(nil)
    /// The last refusal of an ID token that doesn't confirm the requested authentication; nil when none was refused so.
    let unconfirmed = Mutex<UnconfirmedAuthentication?>(nil)

    /// The time for which a token that expires soon is used after a failed renewal, before the next attempt.
    private static let pause = Duration.seconds(5)

    private struct Memory {
        var token: AccessToken?
        /// The time until which the token is returned from memory.
        var until = Date.distantPast
        /// The store's `generation` when the token was read.
        var generation: Int64 = 0
        /// The store's `generation` when a login was last required.
        var loginGeneration: Int64?
    }

    /// Creates a source for the client and the server of a profile.
    ///
    /// Without a client, it stores a session and provides no tokens.
    /// - Parameters:
    ///   - profile: The profile of the server and the OAuth 2.0 client.
    ///   - store: The store for the tokens and the session.
    ///   - transport: The transport that sends the requests.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the expiration of tokens.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    /// - Throws: ``ProfileError``.
    public convenience init(
        _ profile: ServerProfile, store: SessionStore, transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) throws(ProfileError) {
        try profile.validate()
        self.init(
            OAuthEndpoints(profile), client: profile.client, store: store,
            pipeline: RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger),
            threshold: profile.refreshThreshold,
            clock: clock)
    }

    /// Creates a source for one client of a server that isn't AM.
    /// - Parameters:
    ///   - endpoints: The endpoints of the server.
    ///   - client: The OAuth 2.0 client.
    ///   - store: The store for the tokens and the session.
    ///   - transport: The transport that sends the requests.
    ///   - threshold: The time before its expiration at which a token is renewed. The default is 60 seconds, as in the iOS SDK.
    ///   - interceptors: The interceptors that see each request and may change it.
    ///   - clock: The clock for the expiration of tokens.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public convenience init(
        _ endpoints: OAuthEndpoints, client: OAuthClient, store: SessionStore, transport: any HTTPTransport,
        threshold: Duration = .seconds(60), interceptors: [any RequestInterceptor] = [],
        clock: any WallClock = SystemWallClock(), requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.init(
            endpoints, client: client, store: store,
            pipeline: RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger), threshold: threshold,
            clock: clock)
    }

    package init(
        _ endpoints: OAuthEndpoints, client: OAuthClient?, store: SessionStore, pipeline: RequestPipeline, threshold: Duration,
        clock: any WallClock, isService: Bool = false, keys: SigningKeyProvider = SigningKeyProvider()
    ) {
        self.store = store
        self.threshold = threshold
        self.isService = isService
        server = AuthorizationServerClient(endpoints, client: client, pipeline: pipeline, clock: clock, keys: keys)
    }

    /// Returns a token that is valid for at least the threshold, unless the server issues tokens whose lifetime is shorter than
    /// twice the threshold.
    ///
    /// When a renewal fails for a temporary reason, a token that hasn't expired yet is returned.
    /// - Throws: ``TokenError``. The stored items stay unchanged, except when ``TokenError/Code/loginRequired`` reports that they
    ///   were removed. When the tokens of another session can't be revoked, the error states the reason; these tokens are
    ///   removed, so the next call doesn't find them any more.
    public func token() async throws(TokenError) -> AccessToken {
        if let token = remembered(insteadOf: nil) { return token }
        return try await obtain(rejected: nil)
    }

    /// Returns a new token, even when the stored one hasn't expired.
    /// - Throws: ``TokenError``.
    public func refresh() async throws(TokenError) -> AccessToken {
        do { return try await renewed(insteadOf: try await store.token()) } catch { throw TokenError(error) }
    }

    /// Returns another token than `rejected`, which a server rejected: the stored token when it is already a different one, or
    /// else a new token.
    /// - Throws: ``TokenError``.
    public func renewed(insteadOf rejected: AccessToken?) async throws(TokenError) -> AccessToken {
        if rejected != nil, let token = remembered(insteadOf: rejected) { return token }
        let token = try await obtain(rejected: rejected)
        // A renewal that was already running may have started before the token was rejected. A server that issues the same token
        // again is not asked once more.
        let isRejected = token.value == rejected?.value && token.issuedAt == rejected?.issuedAt
        return isRejected ? try await obtain(rejected: rejected) : token
    }

    // MARK: Memory

    /// Returns the token in memory if it is still valid and not `rejected`.
    private func remembered(insteadOf rejected: AccessToken?) -> AccessToken? {
        let (now, generation) = (clock.now, store.generation)
        return memory.withLock { memory in
            guard memory.generation == generation, now <= memory.until, let token = memory.token, token.value != rejected?.value
            else { return nil }
            return token
        }
    }

    /// Keeps a token in memory until `end`, or until it is due for renewal.
    ///
    /// A token that is due and that can't be renewed is kept until it expires.
    func remember(_ token: AccessToken, generation: Int64, until end: Date? = nil) -> AccessToken {
        let lead = TokenRules.isDue(token, now: clock.now, threshold: threshold) ? .zero : TokenRules.lead(threshold, of: token)
        let until = end ?? token.expiresAt.map { $0 - lead.seconds } ?? .distantFuture
        memory.withLock { ($0.token, $0.until, $0.generation) = (token, until, generation) }
        return token
    }

    /// True when an attempt to get a token failed with ``TokenError/Code/loginRequired``, or when the caller has required a login,
    /// and nothing was stored or removed since.
    ///
    /// A login must then be possible, although a session or a token is stored. This happens when the server shows a login page
    /// for the session and doesn't state that the session has ended, when it refuses the refresh token of a user without a
    /// session, and when a token that can't be renewed is rejected or refreshed before it expires. ``token()`` may return that
    /// token afterward, which changes nothing: it is still rejected. After a refused response to a refresh it's false, because no
    /// user is logged in then.
    package var requiresLogin: Bool {
        let generation = store.generation
        return memory.withLock { $0.loginGeneration == generation }
    }

    /// Requires a login until something is stored or removed; see ``requiresLogin``.
    package func requireLogin() {
        let generation = store.generation
        memory.withLock { $0.loginGeneration = generation }
    }

    /// Removes the token from memory.
    func forget() {
        memory.withLock { $0.token = nil }
    }

    // MARK: Renewal

    /// Returns the stored token, or a new one.
    ///
    /// Callers that come while another one's renewal is running share its result.
    private func obtain(rejected: AccessToken?) async throws(TokenError) -> AccessToken {
        do {
            let token = await Result(of: {
                try await renewal.run { [self] in
                    // A valid token is returned without the lock, which another process may hold.
                    let generation = store.generation
                    let stored = try await store.contents()
                    if rejected == nil, let token = stored.token, decision(for: stored, isRejected: false) == .use {
                        return remember(token, generation: generation)
                    }
                    while true {
                        switch try await store.withLock({ try await self.renew(rejected: rejected) }) {
                        case .token(let token): return token
                        // The lock isn't held here, so that other callers don't wait for the request.
                        case .foreign(let token): try await revoke(foreign: token)
                        case .refused(let record): throw await requiredLogin(after: record)
                        }
                    }
                }
            })
            await revokeReplaced()
            return try token.get()
        } catch {
            throw TokenError(error)
        }
    }

    private func decision(for stored: StoredSession, isRejected: Bool) -> TokenDecision {
        if isService { return isUsable(stored.token, isRejected: isRejected) ? .use : .authorize }
        return TokenRules.decide(
            stored.token, session: stored.session.map(SessionIdentity.init), now: clock.now, threshold: threshold,
            isRefused: isRejected)
    }

    private enum Renewal {
        case token(AccessToken)
        /// A token of another session, which is removed and not yet revoked.
        case foreign(AccessToken)
        /// The record of a refused refresh. The user must log in again.
        case refused(AccessToken)
    }

    /// Applies the token rules to the stored items, and notes when they require a login.
    ///
    /// The caller holds the lock, so they can't change in the meantime.
    private func renew(rejected: AccessToken?) async throws -> Renewal {
        do {
            return try await applyRules(rejected: rejected)
        } catch {
            if TokenError(error).code == .loginRequired { requireLogin() }
            throw error
        }
    }

    private func applyRules(rejected: AccessToken?) async throws -> Renewal {
        let stored = try await store.contents()
        recallDialect(of: stored.session)
        if let record = stored.refused { return .refused(record) }
        let (token, session) = (stored.token, stored.session)
        let isRejected = rejected != nil && token?.value == rejected?.value
        switch (decision(for: stored, isRejected: isRejected), token) {
        case (.use, let token?): return .token(remember(token, generation: store.generation))
        case (.refresh, let old?): return try await refreshed(old, session: session, isRejected: isRejected)
        case (.authorize, let old):
            guard isService else { return .token(try await authorized(session, replacing: old, isRejected: isRejected)) }
            return .token(try await issued(replacing: old, isRejected: isRejected))
        case (.discardForeign, let old?):
            try await discardToken()
            return .foreign(old)
        case (.discardExpired, _): try await discardToken()
        default: break
        }
        throw TokenError(.loginRequired)
    }

    func discardToken() async throws(StoreError) {
        try await store.removeToken()
        forget()
    }

    // MARK: Refresh

    /// Requests a new token with the refresh token, or for the session when the refresh token can't be used any more.
    ///
    /// Before the request is sent, a mark about its start is stored. When this process ends, or the response is lost, before the
    /// new token is stored, the next attempt finds the mark. The refresh token may then be used up, and a session provides new
    /// tokens without it.
    ///
    /// When the response is refused, the login has ended: neither the old tokens nor the session are used any more. When the server
    /// rejects the refresh token, that is stored before anything else is sent. When it rejects the client, the grant type or the
    /// scope, and then the authorization request too, the error is that of the refresh.
    private func refreshed(_ old: AccessToken, session: SSOToken?, isRejected: Bool) async throws -> Renewal {
        guard let refreshToken = old.refreshToken else {
            return .token(try await authorized(session, replacing: old, isRejected: isRejected))
        }
        let key: DPoPKey?
        do {
            key = try await refreshKey(of: old)
        } catch let lost as LostKey {
            return .token(try await replaced(unusable: old, because: lost, session: session))
        }
        let needsMark = old.isRotated != false && old.renewalBegun == nil
        if needsMark { try await store.save(old.recording(renewalBegun: clock.now)) }
        let failure: TokenError
        let isUnused: Bool
        do {
            let new = TokenRules.merged(try await server.refresh(old, with: refreshToken, boundTo: key), into: old)
            try await store.save(new)
            return .token(remember(new, generation: store.generation))
        } catch let response as RefusedResponse {
            return .refused(try await end(old, by: response))
        } catch let error as OAuthError {
            switch TokenRules.afterRefresh(error, hasSession: session != nil, isExpired: old.isExpired(at: clock.now)) {
            case .endAndAuthorize, .endAndLogIn:
                return .token(try await replaced(ended: old, by: error, session: session))
            case .authorize:
                let old = old.recordingRefusedRefresh()
                try await store.save(old)
                do {
                    return .token(try await authorized(session, replacing: old, isRejected: isRejected))
                } catch let failure as TokenError where error.refusesRefresh && failure.code == .refused {
                    throw TokenError(error)
                }
            case .logIn:
                try await store.save(old.recordingRefusedRefresh())
                throw TokenError(.loginRequired, .server(error))
            case .keep: (failure, isUnused) = (TokenError(error), !error.isRetryable)
            }
        } catch {
            failure = TokenError(error)
            isUnused = if case .network(let error) = failure.cause { error.code.isBeforeRequest } else { false }
        }
        // The mark is removed when the refresh token is known to be still valid.
        if needsMark, isUnused { try await store.save(old) }
        return .token(try usable(old, after: failure, isRejected: isRejected))
    }

    /// Returns a token that couldn't be renewed now and hasn't expired, for use until the next attempt.
    ///
    /// This also applies when the server requires an interaction with the user and doesn't state that the session has ended.
    /// Throws `failure` in all other cases.
    func usable(_ old: AccessToken?, after failure: TokenError, isRejected: Bool) throws(TokenError) -> AccessToken {
        let now = clock.now
        let mayPass = [.unreachable, .loginRequired, .interactionRequired].contains(failure.code)
        guard let old, mayPass, !isRejected, !old.isExpired(at: now) else { throw failure }
        let next = now + max(Self.pause, failure.retryAfter ?? .zero).seconds
        return remember(old, generation: store.generation, until: min(next, old.expiresAt ?? next))
    }

    // MARK: The session

    /// Returns new tokens for the session.
    func authorized(_ session: SSOToken?, replacing old: AccessToken?, isRejected: Bool) async throws -> AccessToken {
        guard let session else { throw TokenError(.loginRequired) }
        if let failure = unconfirmedAuthentication { return try usable(old, after: failure, isRejected: isRejected) }
        do {
            let cookies = try await store.cookies()
            let attempt = AuthorizationAttempt.new()
            let key = try await server.key(replacing: old)
            let answer = try await server.code(for: session, attempt, boundTo: key, cookies: cookies)
            if answer.cookies != cookies { try await store.save(answer.cookies) }
            var new = try await server.exchange(answer.code, attempt, boundTo: key)
            new.session = SessionIdentity(session)
            try await store.save(new)
            if let old, old.isRefreshRefused { retire(old, replacedBy: new) }
            return remember(new, generation: store.generation)
        } catch {
            var failure = TokenError(error)
            if failure.code == .loginRequired { failure = try await endIfOver(session, failure) }
            if failure.isOfUnconfirmedAuthentication { failure = requiringInteraction(after: failure) }
            return try usable(old, after: failure, isRejected: isRejected)
        }
    }

    /// Returns the error to report when the server responds with a login page and not with a code.
    ///
    /// Such a page has several possible reasons. The session and its tokens are removed only when the server states that the
    /// session has ended. When the session is valid, a new session wouldn't help, because the server requires an interaction with
    /// the user. When the state request fails with a temporary error, that error is returned and no login is required.
    /// - Throws: `failure` when the session has ended; `StoreError` when its items can't be removed.
    private func endIfOver(_ session: SSOToken, _ failure: TokenError) async throws -> TokenError {
        let cookies = (try? await store.cookies()) ?? CookieJar()
        switch await server.state(of: session, cookies: cookies) {
        case .over: break
        case .alive:
            // The variant of the protocol can be recognized again.
            try? await markSession(session)
            return TokenError(.interactionRequired, failure.cause)
        case .unknown(nil): return failure
        case .unknown(let error?):
            let reason = TokenError(error)
            return reason.isRetryable ? reason : failure
        }
        try await store.removeSession()
        try await discardToken()
        try await store.removeCookies()
        server.dialect.forget()
        throw failure
    }
}
