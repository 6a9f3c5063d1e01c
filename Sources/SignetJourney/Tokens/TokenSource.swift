public import SignetCore
public import SignetNetwork
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Access tokens that stay alive: ask for one whenever you need it, and never keep it.
///
///     let tokens = try TokenSource(profile, store: store, transport: transport)
///     let token = try await tokens.token()
///     request.headers.set("Authorization", token.authorization)
///
/// What holds, whoever asks, from however many tasks and processes at once:
/// - A token that is good is answered from memory, without waiting for anything.
/// - One that ends within the threshold is renewed, by **one** request, whose outcome goes to everybody who asked. It is stored
///   before anybody gets it. One that lives shorter than twice the threshold is renewed when half of its life is over.
/// - Where there is no refresh token, or the server ended it, the session (`SSOToken`) gets new tokens; where there is no
///   session either, ``TokenError/Code/loginRequired`` says that a person has to log in. Where the session lives and the server
///   wants something of the person all the same, ``TokenError/Code/interactionRequired`` does.
/// - Tokens that came from another session than the one that is stored, or from one that is stored no more, are removed and revoked.
/// - Only the server's own word, an `invalid_grant` from its token endpoint or its denial that the session exists, ends
///   anything. No failure of the network does, no 5xx and no page of HTML.
public final class TokenSource: Sendable {
    /// Where tokens, session and cookies are kept.
    public let store: SessionStore
    let server: OAuthServer
    let threshold: Duration
    let clock: any WallClock
    private let renewal = SingleFlight<Result<AccessToken, TokenError>>()
    private let memory = Mutex(Memory())
    /// The report of ``replaced``.
    let replacement = Mutex<LogOutReport?>(nil)

    /// How long a token that is about to end is used on after its renewal failed, before that is tried again.
    private static let pause = Duration.seconds(5)

    private struct Memory {
        var token: AccessToken?
        /// Until when it is answered from here.
        var until = Date.distantPast
        /// The store's count when it was read.
        var count: Int64 = 0
    }

    /// A source for the client and the server of a profile. Without a client it keeps a session, and gets no tokens.
    /// - Parameters:
    ///   - profile: The server and the client.
    ///   - store: Where the tokens and the session are kept.
    ///   - transport: How servers are reached.
    ///   - interceptors: See each request, and may add to it.
    ///   - clock: The time by which tokens end.
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

    /// A source for one client of a server that is no AM.
    /// - Parameters:
    ///   - endpoints: The server's addresses.
    ///   - client: The OAuth 2.0 client.
    ///   - store: Where the tokens and the session are kept.
    ///   - transport: How servers are reached.
    ///   - threshold: How long before its end a token is renewed; 60 seconds, as the iOS SDK has it.
    ///   - interceptors: See each request, and may add to it.
    ///   - clock: The time by which tokens end.
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

    init(
        _ endpoints: OAuthEndpoints, client: OAuthClient?, store: SessionStore, pipeline: RequestPipeline, threshold: Duration,
        clock: any WallClock
    ) {
        self.store = store
        self.threshold = threshold
        self.clock = clock
        server = OAuthServer(endpoints, client: client, pipeline: pipeline, clock: clock)
    }

    /// A token that is good for the threshold at least, unless the server's live shorter than twice that.
    ///
    /// If a renewal fails for a reason that may pass, a token that has not ended yet is answered all the same.
    /// - Throws: ``TokenError``. What was stored is as it was, unless its ``TokenError/Code/loginRequired`` says otherwise. Where tokens
    ///   of another session could not be revoked, why: they are removed, and the next call does not come upon them any more.
    public func token() async throws(TokenError) -> AccessToken {
        if let token = remembered() { return token }
        return try await sharedRenewal(nil)
    }

    /// A new token, whether or not the stored one has ended.
    /// - Throws: ``TokenError``.
    public func refresh() async throws(TokenError) -> AccessToken {
        let old: AccessToken?
        do throws(StoreError) { old = try await store.token() } catch { throw TokenError(error) }
        return try await renewed(insteadOf: old)
    }

    /// Another token than `refused`, which a server did not take: the one that is stored, if that is another one already,
    /// else a new one.
    /// - Throws: ``TokenError``.
    public func renewed(insteadOf refused: AccessToken?) async throws(TokenError) -> AccessToken {
        if let token = remembered(), token.value != refused?.value, refused != nil { return token }
        let token = try await sharedRenewal(refused)
        // The renewal that was running may have begun before the token was refused.
        return token.value == refused?.value ? try await sharedRenewal(refused) : token
    }

    private func sharedRenewal(_ refused: AccessToken?) async throws(TokenError) -> AccessToken {
        guard let outcome = await renewal.run({ await self.obtain(refused) }) else { throw TokenError(.cancelled) }
        return try outcome.get()
    }

    // MARK: Memory

    private func remembered() -> AccessToken? {
        let (now, count) = (clock.now, store.generation)
        return memory.withLock { $0.count == count && now <= $0.until ? $0.token : nil }
    }

    /// Keeps a token in memory for as long as it need not be looked at.
    private func remember(_ token: AccessToken, count: Int64, until end: Date? = nil) {
        let until = end ?? token.expiresAt.map { $0 - TokenRules.lead(threshold, of: token).seconds } ?? .distantFuture
        memory.withLock { $0 = Memory(token: token, until: until, count: count) }
    }

    /// Forgets what is in memory.
    func forget() {
        memory.withLock { $0 = Memory() }
    }

    // MARK: Renewal

    private func obtain(_ refused: AccessToken?) async -> Result<AccessToken, TokenError> {
        do throws(TokenError) {
            if refused == nil, let token = try await stored() { return .success(token) }
            while true {
                switch try await alone({ () async throws(TokenError) in try await self.renew(refused) }) {
                case .token(let token): return .success(token)
                // Without the lock, so that other callers need not wait for it.
                case .orphan(let token): try await revoke(orphan: token)
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// The stored token, if it is good as it is.
    private func stored() async throws(TokenError) -> AccessToken? {
        let count = store.generation
        let (token, session) = try await kept()
        let decision = TokenRules.decide(token, session: session.map(SessionIdentity.init), now: clock.now, threshold: threshold)
        guard let token, decision == .use, !TokenRules.isDue(token, now: clock.now, threshold: threshold) else {
            return nil
        }
        remember(token, count: count)
        return token
    }

    /// Runs `body` alone among tasks and processes.
    func alone<Value>(_ body: () async throws(TokenError) -> Value) async throws(TokenError) -> Value {
        let outcome: Result<Value, TokenError>
        do throws(StoreError) {
            outcome = try await store.withLock {
                do throws(TokenError) { return .success(try await body()) } catch { return .failure(error) }
            }
        } catch {
            throw TokenError(error)
        }
        return try outcome.get()
    }

    func kept() async throws(TokenError) -> (AccessToken?, SSOToken?) {
        do throws(StoreError) {
            return (try await store.token(), try await store.session())
        } catch {
            throw TokenError(error)
        }
    }

    private enum Renewal {
        case token(AccessToken)
        /// A token of another session, which is removed and not revoked yet.
        case orphan(AccessToken)
    }

    /// Does what the rules say about what is stored, as it is now that nobody else changes it.
    private func renew(_ refused: AccessToken?) async throws(TokenError) -> Renewal {
        var (token, session) = try await kept()
        while true {
            let isRefused = refused != nil && token?.value == refused?.value
            let decision = TokenRules.decide(
                token, session: session.map(SessionIdentity.init), now: clock.now, threshold: threshold, isRefused: isRefused)
            switch (decision, token, session) {
            case (.use, let token?, _):
                let isDue = TokenRules.isDue(token, now: clock.now, threshold: threshold)
                remember(token, count: store.generation, until: isDue ? token.expiresAt : nil)
                return .token(token)
            case (.refresh, let old?, _):
                switch try await refreshed(old, hasSession: session != nil, isRefused: isRefused) {
                case .token(let token): return .token(token)
                case .ended: token = nil
                case .useSession: return .token(try await authorized(session, replacing: old, isRefused: isRefused))
                }
            case (.authorize, let old, _):
                return .token(try await authorized(session, replacing: old, isRefused: isRefused))
            case (.discardOrphan, let old?, _):
                try await storing { () async throws(StoreError) in try await store.removeToken() }
                forget()
                return .orphan(old)
            case (.discardExpired, _, _):
                try await storing { () async throws(StoreError) in try await store.removeToken() }
                forget()
                throw TokenError(.loginRequired)
            default:
                throw TokenError(.loginRequired)
            }
        }
    }

    /// Revokes a token of another session. That it could not be done is told (protocol/journey.md section 4.4): it may be somebody
    /// else's, and lives on.
    private func revoke(orphan token: AccessToken) async throws(TokenError) {
        do {
            try await server.revoke(token)
        } catch let error as OAuthError where error.code == .notOffered {
            // A server without that endpoint revokes nothing.
        } catch {
            throw TokenError(error)
        }
    }

    func storing(_ body: () async throws(StoreError) -> Void) async throws(TokenError) {
        do throws(StoreError) { try await body() } catch { throw TokenError(error) }
    }

    // MARK: Refresh

    private enum Refreshed {
        case token(AccessToken)
        case ended
        case useSession
    }

    /// Asks for a new token with the refresh token.
    ///
    /// Before the request leaves, a note is stored that it was begun. If this process ends, or the answer is lost, before the
    /// new token is stored, the note is what the next attempt finds: the refresh token may be used up, and with a session new
    /// tokens are had without it.
    private func refreshed(
        _ old: AccessToken, hasSession: Bool, isRefused: Bool
    ) async throws(TokenError) -> Refreshed {
        guard let refreshToken = old.refreshToken else { return .useSession }
        let noted = old.isRotated == false || old.renewalBegun != nil ? old : old.noting(renewalBegun: clock.now)
        if noted != old { try await storing { () async throws(StoreError) in try await store.save(noted) } }
        let failure: TokenError
        do {
            let new = TokenRules.merged(try await server.refresh(old, with: refreshToken), into: old)
            try await storing { () async throws(StoreError) in try await store.save(new) }
            remember(new, count: store.generation)
            return .token(new)
        } catch let error as OAuthError {
            switch TokenRules.afterRefresh(error, hasSession: hasSession) {
            case .endAndAuthorize, .endAndLogIn:
                try await storing { () async throws(StoreError) in try await store.removeToken() }
                forget()
                guard hasSession else { throw TokenError(.loginRequired, .server(error)) }
                return .ended
            case .authorize: return .useSession
            case .keep: failure = TokenError(error)
            }
            if !error.isRetryable { try await unnote(old) }
        } catch {
            failure = TokenError(error)
            if case .network(let error) = failure.cause, error.code.isBeforeRequest { try await unnote(old) }
        }
        return .token(try usable(old, after: failure, isRefused: isRefused))
    }

    /// Takes the note away: the refresh token is known to be as good as it was.
    private func unnote(_ old: AccessToken) async throws(TokenError) {
        guard old.isRotated != false, old.renewalBegun == nil else { return }
        try await storing { () async throws(StoreError) in try await store.save(old) }
    }

    /// A token that could not be renewed now, and has not ended yet, is used on for a while: also where the server wants to see the
    /// person again and does not say that the session is over.
    private func usable(_ old: AccessToken?, after failure: TokenError, isRefused: Bool) throws(TokenError) -> AccessToken {
        let now = clock.now
        let mayPass = [.unreachable, .loginRequired, .interactionRequired].contains(failure.code)
        guard let old, mayPass, !isRefused, !old.isExpired(at: now) else { throw failure }
        let next = now + max(Self.pause, failure.retryAfter ?? .zero).seconds
        remember(old, count: store.generation, until: min(next, old.expiresAt ?? next))
        return old
    }

    // MARK: The session

    /// New tokens for the session.
    private func authorized(
        _ session: SSOToken?, replacing old: AccessToken?, isRefused: Bool
    ) async throws(TokenError) -> AccessToken {
        guard let session else { throw TokenError(.loginRequired) }
        do {
            let cookies = try await store.cookies()
            let attempt = AuthorizationAttempt.new()
            let answer = try await server.code(for: session, attempt, cookies: cookies)
            if answer.cookies != cookies { try await store.save(answer.cookies) }
            let new = try await server.exchange(answer.code, attempt).belonging(to: SessionIdentity(session))
            try await store.save(new)
            remember(new, count: store.generation)
            return new
        } catch {
            var failure = TokenError(error)
            if failure.code == .loginRequired { failure = try await endIfOver(session, failure) }
            return try usable(old, after: failure, isRefused: isRefused)
        }
    }

    /// A login page instead of a code may mean many things. Only when the server says of the session itself that it is over is
    /// it removed, with what came from it. One that lives does not help by being made anew: the server wants something else of the
    /// person. Where nothing of the server's answers there either, nobody has asked for a login.
    private func endIfOver(_ session: SSOToken, _ failure: TokenError) async throws(TokenError) -> TokenError {
        let cookies = (try? await store.cookies()) ?? CookieJar()
        switch await server.state(of: session, cookies: cookies) {
        case .over: break
        case .alive: return TokenError(.interactionRequired, failure.cause)
        case .unknown(nil): return failure
        case .unknown(let error?):
            let reason = TokenError(error)
            return reason.isRetryable ? reason : failure
        }
        try await storing { () async throws(StoreError) in
            try await store.removeSession()
            try await store.removeToken()
            try await store.removeCookies()
        }
        forget()
        throw failure
    }
}
