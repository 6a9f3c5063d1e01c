public import Foundation
public import SignetCore
package import SignetStorage

/// The result of a logout, step by step.
///
/// Regardless of the results at the server, all items are removed from this machine, unless ``local`` reports a failure.
public struct LogOutReport: Sendable, Hashable {
    /// The outcome of a step.
    public enum Outcome: Sendable, Hashable {
        /// The step was done.
        case done
        /// The step wasn't needed.
        case notNeeded
        /// The server requires a confirmation by the user at this address, which contains the ID token; see ``address``.
        case needsBrowser(Secret)
        /// The server answered with a page that asks the user nothing. Most servers state there that the session has ended.
        ///
        /// With ``OAuthClient/signOutRedirectURI`` a server redirects to that address instead, which is ``done``. After a
        /// ``BrowserLogOut`` the user sees the page of the server in the browser, whatever it says.
        case showedPage
        /// The server doesn't offer the step: it has no revocation endpoint (RFC 7009).
        ///
        /// The tokens were removed from this machine and stay valid at the server.
        case notOffered(RemainingTokens)
        /// The step failed.
        case failed(TokenError)

        /// Tokens that stay valid at the server.
        public struct RemainingTokens: Sendable, Hashable {
            /// The time at which the access token expires; nil when the server didn't state it.
            public let accessTokenEnd: Date?
            /// True when there is a refresh token, which stays valid until the server ends it.
            public let hasRefreshToken: Bool

            init(_ token: AccessToken) {
                (accessTokenEnd, hasRefreshToken) = (token.expiresAt, token.refreshToken != nil)
            }
        }

        /// True when the step was done or wasn't needed.
        public var isOver: Bool { self == .done || self == .notNeeded }

        /// The address at which the user must confirm the step; nil when no confirmation is needed.
        ///
        /// It contains the ID token: open it, and don't show or log it.
        public var address: String? { if case .needsBrowser(let address) = self { address.text } else { nil } }
    }

    /// The outcome for the items stored on this machine.
    public internal(set) var local: Outcome
    /// The outcome for the access token and the refresh token at the server.
    public internal(set) var tokens: Outcome = .notNeeded
    /// The outcome for the session at the server.
    public internal(set) var session: Outcome = .notNeeded
    /// The outcome for the session that the ID token identifies.
    public internal(set) var openIDSession: Outcome = .notNeeded

    /// The report of a logout that had nothing to do.
    package static var nothing: LogOutReport { LogOutReport(local: .notNeeded) }

    /// True when the logout is complete on this machine and at the server.
    public var isComplete: Bool { local.isOver && tokens.isOver && session.isOver && openIDSession.isOver }
}

extension TokenSource {
    /// Logs out: removes the stored items, then revokes the tokens and ends the session at the server.
    ///
    /// The items are removed first and in all cases. Without a network, this machine is therefore logged out too, and the report
    /// states which items stay valid at the server until they expire. The requests to the server aren't retried later.
    /// - Parameter endsOpenIDSession: True to also end the session that the ID token identifies when the stored session came from
    ///   a journey. Without a stored session, it is always ended.
    /// - Returns: The outcome of each step, on this machine and at the server.
    public func logOut(endsOpenIDSession: Bool = false) async -> LogOutReport {
        await end(await removeAll(), endsOpenIDSession: endsOpenIDSession)
    }

    /// The items that were removed from this machine.
    ///
    /// An item that couldn't be read is assumed to have existed.
    package struct RemovedCredentials: Sendable {
        fileprivate let token: Result<AccessToken?, TokenError>
        fileprivate let session: Result<SSOToken?, TokenError>
        fileprivate let cookies: CookieJar
        /// The outcome of the removal.
        fileprivate var local = LogOutReport.Outcome.done

        /// True when none of the items is stored any more.
        package var isGone: Bool { local.isOver }

        fileprivate var hadSession: Bool { if case .success(_?) = session { true } else { false } }

        /// The report for a logout that can't contact the server because its settings aren't known any more.
        package var reportWithoutServer: LogOutReport {
            let why = LogOutReport.Outcome.failed(
                TokenError(.notConfigured, .other("the settings of the login are no longer known")))
            return LogOutReport(
                local: local, tokens: token == .success(nil) ? .notNeeded : why,
                session: session == .success(nil) ? .notNeeded : why)
        }
    }

    /// Performs the first half of a logout: removes all stored items.
    ///
    /// The token, the session and the cookies are removed independently, so a failure for one of them doesn't stop the others. A
    /// lease that was revoked doesn't stop it either.
    package func removeAll() async -> RemovedCredentials {
        do {
            return try await store.withLock { await removeAllNow() }
        } catch {
            // Another process didn't release the lock in time. The logout must remove the items anyway.
            return await removeAllNow()
        }
    }

    private func removeAllNow() async -> RemovedCredentials {
        let store = store.leased(nil)
        var removed = RemovedCredentials(
            token: await Result(of: { try await store.record() }).mapError { TokenError($0) },
            session: await Result(of: { try await store.session() }).mapError { TokenError($0) },
            // The cookies only help to route the request to the server that holds the session, so an error is ignored.
            cookies: (try? await store.cookies()) ?? CookieJar())
        for removal in [store.removeToken, store.removeSession, store.removeCookies] {
            do { try await removal() } catch { removed.local = .failed(TokenError(error)) }
        }
        forget()
        return removed
    }

    /// Performs the second half of a logout: the requests to the server.
    package func end(_ removed: RemovedCredentials, endsOpenIDSession: Bool) async -> LogOutReport {
        await end(removed, endsOpenIDSession: endsOpenIDSession) { idToken in
            do {
                return try await server.endSession(idToken)
            } catch let error as OAuthError where error.code == .notOffered {
                // A server without that endpoint has no such session to end.
                return .notNeeded
            }
        }
    }

    /// Performs the second half of a logout, with `endSession` for the session that the ID token identifies.
    ///
    /// `endSession` is called last, after the tokens were revoked.
    func end(
        _ removed: RemovedCredentials, endsOpenIDSession: Bool,
        by endSession: (_ idToken: Secret) async throws -> LogOutReport.Outcome
    ) async -> LogOutReport {
        recallDialect(of: try? removed.session.get())
        async let tokens = outcome(revoking: removed.token)
        async let ended = outcome(of: removed.session) { try await $0.logOut($1, cookies: removed.cookies) }
        // A server that ends the session of an ID token may also remove its tokens, so the requests must not run in parallel.
        var revoked = await tokens
        if case .notOffered = revoked {
            // The end of the session may be the first answer that shows an OpenAM, which revokes tokens.
            _ = await ended
            if server.dialect.current == .openAM { revoked = await outcome(revoking: removed.token) }
        }
        var openID = LogOutReport.Outcome.notNeeded
        if endsOpenIDSession || !removed.hadSession {
            switch removed.token.map({ $0?.idToken }) {
            case .success(let idToken?):
                do { openID = try await endSession(idToken) } catch { openID = .failed(TokenError(error)) }
            case .success(nil): break
            case .failure(let error): openID = .failed(error)
            }
        }
        let report = await LogOutReport(local: removed.local, tokens: revoked, session: ended, openIDSession: openID)
        server.dialect.forget()
        return report
    }

    /// Ends a stored item at the server.
    ///
    /// An item that couldn't be read fails, and may stay valid at the server.
    func outcome<Value: Sendable>(
        of found: Result<Value?, TokenError>, _ end: @Sendable (AuthorizationServerClient, Value) async throws -> Void
    ) async -> LogOutReport.Outcome {
        do {
            guard let value = try found.get() else { return .notNeeded }
            try await end(server, value)
            return .done
        } catch {
            return .failed(TokenError(error))
        }
    }

    /// Revokes removed tokens at the server.
    ///
    /// A server without a revocation endpoint isn't a failure: nothing revokes its tokens before they expire.
    func outcome(revoking found: Result<AccessToken?, TokenError>) async -> LogOutReport.Outcome {
        let result = await outcome(of: found) { try await $0.revoke($1) }
        guard case .failed(let error) = result, error.isOfMissingEndpoint, let token = try? found.get()?.revocable else {
            return result
        }
        let isOver = token.refreshToken == nil && token.isExpired(at: clock.now)
        return isOver ? .notNeeded : .notOffered(LogOutReport.Outcome.RemainingTokens(token))
    }
}

extension LogOutReport {
    /// Returns the report of a logout that could not change something else on this machine.
    ///
    /// A failure to remove the session or the tokens has precedence.
    package func failing(with error: StoreError) -> LogOutReport {
        var report = self
        if report.local.isOver { report.local = .failed(TokenError(error)) }
        return report
    }
}
