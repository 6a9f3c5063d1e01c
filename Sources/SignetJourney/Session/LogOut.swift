public import SignetCore
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
        /// The server wants a person to confirm it, at this address, which carries the id_token; see ``address``.
        case needsBrowser(Secret)
        /// It could not be done.
        case failed(TokenError)

        /// Whether nothing of it is left.
        public var isOver: Bool { self == .done || self == .notNeeded }

        /// Where a person has to confirm it; nil when nobody has to. It carries the id_token: open it, and show it to nobody.
        public var address: String? { if case .needsBrowser(let address) = self { address.text } else { nil } }
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

    /// What was stored on this machine, and is so no more. What could not be read was there, for all that is known.
    package struct Leaving: Sendable {
        fileprivate let token: Result<AccessToken?, TokenError>
        fileprivate let session: Result<SSOToken?, TokenError>
        fileprivate let cookies: CookieJar
        /// How the removal went.
        fileprivate var local = LogOutReport.Outcome.done

        /// Whether nothing of it is stored any more.
        package var isGone: Bool { local.isOver }

        fileprivate var hadSession: Bool { if case .success(_?) = session { true } else { false } }
    }

    /// The first half of a log-out: takes out everything that is stored. Each of the three is removed even where another one
    /// cannot be.
    package func takeOut() async -> Leaving {
        do throws(TokenError) {
            return try await alone { () async throws(TokenError) in await takeOutNow() }
        } catch {
            // Another process holds the turn and does not let go. Logged out is logged out.
            return await takeOutNow()
        }
    }

    private func takeOutNow() async -> Leaving {
        var leaving = Leaving(
            token: await reading { () async throws(StoreError) in try await store.token() },
            session: await reading { () async throws(StoreError) in try await store.session() },
            // They only help the request to the machine that knows the session.
            cookies: (try? await store.cookies()) ?? CookieJar())
        do throws(StoreError) { try await store.removeToken() } catch { leaving.local = .failed(TokenError(error)) }
        do throws(StoreError) { try await store.removeSession() } catch { leaving.local = .failed(TokenError(error)) }
        do throws(StoreError) { try await store.removeCookies() } catch { leaving.local = .failed(TokenError(error)) }
        forget()
        return leaving
    }

    private func reading<Value>(_ body: () async throws(StoreError) -> Value) async -> Result<Value, TokenError> {
        do throws(StoreError) { return .success(try await body()) } catch { return .failure(TokenError(error)) }
    }

    /// The report where nobody can be told, because it is not known which server it was.
    package static func untold(_ leaving: Leaving) -> LogOutReport {
        let why = LogOutReport.Outcome.failed(
            TokenError(.notConfigured, .other("the settings that it was got with are not known any more")))
        return LogOutReport(
            local: leaving.local, tokens: leaving.token == .success(nil) ? .notNeeded : why,
            session: leaving.session == .success(nil) ? .notNeeded : why)
    }

    /// The second half: tells the server.
    package func end(_ leaving: Leaving, endsOpenIDSession: Bool) async -> LogOutReport {
        async let tokens = outcome(of: leaving.token) { try await $0.revoke($1) }
        async let ended = outcome(of: leaving.session) { try await $0.logOut($1, cookies: leaving.cookies) }
        // A server that ends the session of an id_token may remove its tokens too: not both at once.
        let revoked = await tokens
        var openID = LogOutReport.Outcome.notNeeded
        if endsOpenIDSession || !leaving.hadSession {
            switch leaving.token.map({ $0?.idToken }) {
            case .success(let idToken?): openID = await endOpenIDSession(idToken)
            case .success(nil): break
            case .failure(let error): openID = .failed(error)
            }
        }
        return await LogOutReport(local: leaving.local, tokens: revoked, session: ended, openIDSession: openID)
    }

    /// What could not be read could not be ended, and may live on at the server.
    func outcome<Value: Sendable>(
        of found: Result<Value?, TokenError>, _ end: @Sendable (OAuthServer, Value) async throws -> Void
    ) async -> LogOutReport.Outcome {
        do {
            guard let value = try found.get() else { return .notNeeded }
            try await end(server, value)
            return .done
        } catch {
            return .failed(TokenError(error))
        }
    }

    private func endOpenIDSession(_ idToken: Secret) async -> LogOutReport.Outcome {
        do {
            return try await server.endSession(idToken).map { .needsBrowser(Secret(text: $0)) } ?? .done
        } catch let error as OAuthError where error.code == .notOffered {
            // A server without that endpoint has no such session to end.
            return .notNeeded
        } catch {
            return .failed(TokenError(error))
        }
    }
}
