import SignetCore
import SignetStorage

/// How a log-out went, step by step. Whatever it says of the server, nothing is stored on this machine any more, unless
/// ``local`` says so.
public struct LogOutReport: Sendable, Hashable {
    /// What became of a step.
    public enum Outcome: Sendable, Hashable {
        /// It was done.
        case done
        /// There was nothing to do.
        case notNeeded
        /// The server wants a person to confirm it, at this address, which carries the id_token: open it, and show it to nobody.
        case needsBrowser(String)
        /// It could not be done.
        case failed(TokenError)

        /// Whether nothing of it is left.
        public var isOver: Bool { self == .done || self == .notNeeded }
    }

    /// What was stored on this machine.
    public internal(set) var local: Outcome
    /// The access token and the refresh token at the server.
    public internal(set) var tokens: Outcome = .notNeeded
    /// The session at the server.
    public internal(set) var session: Outcome = .notNeeded
    /// The session that the id_token names.
    public internal(set) var openIDSession: Outcome = .notNeeded

    /// The report of a log-out where there was nothing to do.
    package static var nothing: LogOutReport { LogOutReport(local: .notNeeded) }

    /// Whether everything is gone, here and at the server.
    public var isComplete: Bool { local.isOver && tokens.isOver && session.isOver && openIDSession.isOver }
}

extension TokenSource {
    /// Logs out: removes what is stored here, then revokes the tokens and ends the session at the server.
    ///
    /// What is stored goes first and goes in any case: without a network, this machine is logged out all the same, and the report
    /// says what still lives at the server until it ends by itself. Nothing is kept to try that again.
    /// - Parameter endsOpenIDSession: Whether the session that the id_token names is ended too where there was a session of a
    ///   journey. Where there was none, it always is.
    public func logOut(endsOpenIDSession: Bool = false) async -> LogOutReport {
        await end(await takeOut(), endsOpenIDSession: endsOpenIDSession)
    }

    /// What was stored on this machine, and is so no more.
    package struct Leaving: Sendable {
        let token: AccessToken?
        let session: SSOToken?
        let cookies: CookieJar
        /// Why the token, or the session, could not be read before it was removed.
        let unreadToken: TokenError?
        let unreadSession: TokenError?
        /// How the removal went.
        let local: LogOutReport.Outcome
        /// Whether nothing of it is stored any more.
        package var isGone: Bool { local.isOver }
    }

    /// The first half of a log-out: takes out everything that is stored. Each of the three is removed even where another one cannot be.
    package func takeOut() async -> Leaving {
        do throws(TokenError) {
            return try await alone { () async throws(TokenError) in await takeOutNow() }
        } catch {
            // Another process holds the turn and does not let go. Logged out is logged out.
            return await takeOutNow()
        }
    }

    private func takeOutNow() async -> Leaving {
        let token = await Self.reading { () async throws(StoreError) in try await store.token() }
        let session = await Self.reading { () async throws(StoreError) in try await store.session() }
        let cookies = (try? await store.cookies()) ?? CookieJar()
        var outcome = LogOutReport.Outcome.done
        do throws(StoreError) { try await store.removeToken() } catch { outcome = .failed(TokenError(error)) }
        do throws(StoreError) { try await store.removeSession() } catch { outcome = .failed(TokenError(error)) }
        do throws(StoreError) { try await store.removeCookies() } catch { outcome = .failed(TokenError(error)) }
        forget()
        return Leaving(
            token: token.value, session: session.value, cookies: cookies, unreadToken: token.failure,
            unreadSession: session.failure,
            local: outcome)
    }

    private static func reading<Value>(
        _ body: () async throws(StoreError) -> Value?
    ) async -> (value: Value?, failure: TokenError?) {
        do throws(StoreError) { return (try await body(), nil) } catch { return (nil, TokenError(error)) }
    }

    /// The report where nobody can be told, because it is not known which server it was.
    package static func untold(_ leaving: Leaving) -> LogOutReport {
        let why = LogOutReport.Outcome.failed(
            TokenError(.notConfigured, .other("the settings that it was got with are not known any more")))
        return LogOutReport(
            local: leaving.local, tokens: leaving.token == nil && leaving.unreadToken == nil ? .notNeeded : why,
            session: leaving.session == nil && leaving.unreadSession == nil ? .notNeeded : why)
    }

    /// The second half: tells the server.
    package func end(_ leaving: Leaving, endsOpenIDSession: Bool) async -> LogOutReport {
        async let tokens = outcome(of: leaving.token, leaving.unreadToken) { try await $0.revoke($1) }
        async let ended = outcome(of: leaving.session, leaving.unreadSession) {
            try await $0.logOut($1, cookies: leaving.cookies)
        }
        // A server that ends the session of an id_token may remove its tokens too: not both at once.
        let revoked = await tokens
        var openID = LogOutReport.Outcome.notNeeded
        if let idToken = leaving.token?.idToken, endsOpenIDSession || leaving.session == nil {
            openID = await endOpenIDSession(idToken)
        }
        return await LogOutReport(local: leaving.local, tokens: revoked, session: ended, openIDSession: openID)
    }

    /// What could not be read could not be ended, and may live on at the server.
    private func outcome<Value: Sendable>(
        of value: Value?, _ unread: TokenError?, _ end: @Sendable (OAuthServer, Value) async throws -> Void
    ) async -> LogOutReport.Outcome {
        guard let value else { return unread.map { .failed($0) } ?? .notNeeded }
        do {
            try await end(server, value)
            return .done
        } catch {
            return .failed(TokenError(error))
        }
    }

    private func endOpenIDSession(_ idToken: Secret) async -> LogOutReport.Outcome {
        do {
            return try await server.endSession(idToken).map { .needsBrowser($0) } ?? .done
        } catch let error as OAuthError where error.code == .notConfigured {
            // A server without that endpoint has no such session to end.
            return .notNeeded
        } catch {
            return .failed(TokenError(error))
        }
    }
}
