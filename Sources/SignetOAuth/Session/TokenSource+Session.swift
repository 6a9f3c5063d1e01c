public import SignetCore
package import SignetNetwork
import SignetStorage

extension TokenSource {
    /// Returns the stored session; nil when none is stored.
    ///
    /// The server isn't asked whether the session is still valid.
    /// - Throws: ``TokenError/Code/storage``.
    public func session() async throws(TokenError) -> SSOToken? {
        do throws(StoreError) { return try await store.session() } catch { throw TokenError(error) }
    }

    /// Stores the session of a journey and replaces the previous one (protocol/journey.md section 3.2).
    ///
    /// The stored tokens are removed and revoked, and the previous session is ended at the server. When the previous session has
    /// the same value, its tokens stay and nothing is ended. An empty session, from a journey that ends without a session,
    /// changes nothing.
    ///
    /// The new session is stored even when the previous one couldn't be ended at the server.
    /// - Returns: The report about the previous session and its tokens at the server. ``replaced`` keeps it.
    /// - Throws: ``TokenError/Code/storage``. When the new session can't be stored, the previous one and its tokens stay
    ///   unchanged. When only the previous tokens can't be removed, the new session is stored and those tokens aren't used any
    ///   more.
    @discardableResult
    public func adopt(_ delivered: SSOToken) async throws(TokenError) -> LogOutReport {
        do {
            let (superseded, failure) = try await store.withLock {
                defer { forget() }
                let stored = try await store.contents()
                var (superseded, failure) = (SupersededCredentials(), nil as (any Error)?)
                for step in SessionUpgrade.steps(
                    stored: stored.session, hasTokens: stored.token != nil, delivered: delivered)
                {
                    switch step {
                    case .store: try await store.save(server.dialect.marked(delivered, replacing: stored.session))
                    case .revokeTokens:
                        // The new session has already replaced the previous one, which must be ended even when its tokens can't
                        // be removed.
                        do {
                            try await store.removeToken()
                            superseded.token = stored.token
                        } catch {
                            failure = error
                        }
                    case .endStoredSession: superseded.session = stored.session
                    }
                }
                // The user has logged in again.
                if let refused = stored.refused, delivered.value.count > 0 {
                    do {
                        try await store.removeToken()
                        superseded.token = refused
                    } catch {
                        failure = error
                    }
                }
                return (superseded, failure)
            }
            let report = await end(superseded)
            if superseded.session != nil { await storeDialect(with: delivered) }
            if let failure { throw failure }
            return report
        } catch {
            throw TokenError(error)
        }
    }

    /// Stores the variant of the protocol that the end of the previous session has shown.
    ///
    /// A failure is ignored, because the variant can be recognized again.
    private func storeDialect(with session: SSOToken) async {
        try? await store.withLock {
            guard let stored = try await store.session(), stored.value == session.value else { return }
            try await markSession(stored)
        }
    }

    /// Stores the variant of the protocol with a session, if it has changed.
    ///
    /// The caller holds the lock.
    func markSession(_ stored: SSOToken) async throws(StoreError) {
        let marked = server.dialect.marked(stored, replacing: stored)
        if marked != stored { try await store.save(marked) }
    }

    /// The variant of the protocol that the server uses, which its journeys share.
    package var dialect: DetectedDialect { server.dialect }

    /// The report about the session and the tokens that the last login of this source replaced; nil when it replaced none.
    ///
    /// When the report is incomplete, they stay valid at the server until they expire.
    public var replaced: LogOutReport? { replacement.withLock { $0 } }

    /// Returns the stored cookies; nil when cookies aren't stored for this server.
    package func cookies() async throws(TokenError) -> CookieJar? {
        guard server.keepsCookies else { return nil }
        do throws(StoreError) { return try await store.cookies() } catch { throw TokenError(error) }
    }

    /// Stores the cookies that the response of a journey sets.
    package func take(_ response: HTTPResponse, to request: HTTPRequest) async throws(TokenError) {
        guard server.keepsCookies, response.headers["Set-Cookie"] != nil else { return }
        do {
            try await store.withLock {
                let before = try await store.cookies()
                var cookies = before
                cookies.take(response, to: request, now: clock.now)
                if cookies != before { try await store.save(cookies) }
            }
        } catch {
            throw TokenError(error)
        }
    }

    /// The session and the tokens that a login replaced.
    private struct SupersededCredentials: Sendable {
        var session: SSOToken?
        var token: AccessToken?
    }

    /// Ends the removed items at the server.
    ///
    /// The cookies of the responses are ignored, because they would remove the cookie of the new session.
    private func end(_ superseded: SupersededCredentials) async -> LogOutReport {
        guard superseded.session != nil || superseded.token != nil else {
            replacement.withLock { $0 = nil }
            return .nothing
        }
        var report = LogOutReport(local: .done)
        report.session = await outcome(of: .success(superseded.session)) { try await $0.logOut($1, cookies: CookieJar()) }
        report.tokens = await outcome(revoking: .success(superseded.token))
        replacement.withLock { [report] in $0 = report }
        return report
    }

    /// Stores the tokens from a login in a browser or on another device.
    ///
    /// The previous tokens are revoked, and ``replaced`` reports the outcome.
    func adopt(_ token: AccessToken) async throws(TokenError) -> AccessToken {
        do {
            let (token, old) = try await store.withLock {
                let stored = try await store.contents()
                recallDialect(of: stored.session)
                // The tokens belong to the session that is stored at the same time, and are removed with it.
                var token = token
                token.session = stored.session.map(SessionIdentity.init)
                try await store.save(token)
                forget()
                return (token, stored.token ?? stored.refused)
            }
            _ = await end(SupersededCredentials(token: old))
            return token
        } catch {
            throw TokenError(error)
        }
    }

    /// Requests new tokens for the stored session, and replaces the stored ones, which stay when the request fails.
    ///
    /// The previous tokens are then revoked, and ``replaced`` reports the outcome.
    /// - Returns: The new tokens.
    /// - Throws: ``TokenError``; ``TokenError/Code/loginRequired`` without a session.
    package func replaceTokens() async throws(TokenError) -> AccessToken {
        do {
            let (token, old) = try await store.withLock {
                let stored = try await store.contents()
                recallDialect(of: stored.session)
                let token = try await authorized(stored.session, replacing: nil, isRejected: true)
                return (token, stored.token ?? stored.refused)
            }
            // A server may have issued the same tokens again.
            let isSame = old?.value == token.value || old?.refreshToken != nil && old?.refreshToken == token.refreshToken
            if let old, !isSame { _ = await end(SupersededCredentials(token: old)) }
            return token
        } catch {
            throw TokenError(error)
        }
    }

    /// Requests the claims about the user (OpenID Connect Core section 5.3).
    ///
    /// When the server rejects the token, it is renewed once. A signed response is verified with the server's keys.
    /// - Throws: ``TokenError``; ``TokenError/Code/idTokenRefused`` when the claims are about another user, or the signature, the
    ///   issuer or the audience of a signed response is wrong. Its cause says that it is the userinfo that was refused.
    public func userInfo() async throws(TokenError) -> UserInfo {
        do {
            let (response, token) = try await userInfoResponse()
            let info = UserInfo(claims: try await claims(of: response))
            // OpenID Connect Core section 5.3.2: Claims about a different subject must not be used.
            if let idToken = token.idToken, !info.isAbout(try SignedClaims.subject(of: idToken)) {
                let fault = IDTokenError.Code.subject.rawValue
                throw TokenError(.idTokenRefused, .other("the userinfo was refused: \(fault)"))
            }
            return info
        } catch {
            throw TokenError(error)
        }
    }

    /// Returns the response to a request for the claims, and the token of the request.
    private func userInfoResponse() async throws -> (response: HTTPResponse, token: AccessToken) {
        let token = try await token()
        do {
            let response = try await server.userInfo(token)
            // Another token doesn't help when the server refuses the proof of possession.
            guard response.status == 401, ProofSender.proofError(of: response) == nil else { return (response, token) }
        } catch is LostKey {}
        let other = try await renewed(insteadOf: token)
        return (try await server.userInfo(other), other)
    }

    private func claims(of response: HTTPResponse) async throws -> [String: JSONValue] {
        do {
            return try await server.claims(of: response)
        } catch let error as OAuthError {
            throw error.naming(server.known.userInfo ?? "", response)
        }
    }

    /// Revokes and removes the access token and the refresh token.
    ///
    /// The session stays.
    /// - Returns: ``LogOutReport/Outcome/notOffered(_:)`` when the server has no revocation endpoint;
    ///   ``LogOutReport/Outcome/notNeeded`` when there was nothing to revoke.
    /// - Throws: ``TokenError``. The stored tokens are removed even when the request to the server fails.
    @discardableResult
    public func revoke() async throws(TokenError) -> LogOutReport.Outcome {
        let token: AccessToken?
        do {
            token = try await store.withLock {
                let token = try await store.record()
                recallDialect(of: try? await store.session())
                // The record of a refused refresh stays until the user logs in again.
                if token?.refusal == nil { try await store.removeToken() }
                forget()
                return token
            }
            if let token, token.refusal != nil {
                try await revokeRefusedGrant(of: token)
                return .done
            }
        } catch {
            throw TokenError(error)
        }
        let result = await outcome(revoking: .success(token))
        if case .failed(let error) = result { throw error }
        return result
    }
}

/// The claims of a server about a user.
public struct UserInfo: Sendable, Hashable {
    /// All claims as the server sent them.
    public let claims: [String: JSONValue]
    /// The permanent ID of the user on this server.
    public var subject: String? { text("sub") }
    /// The full name, for display.
    public var name: String? { text("name") }
    /// The given names.
    public var givenName: String? { text("given_name") }
    /// The family names.
    public var familyName: String? { text("family_name") }
    /// The name by which the user wants to be called in this service.
    public var preferredUsername: String? { text("preferred_username") }
    /// The email address.
    public var email: String? { text("email") }
    /// True when the server has verified that the email address belongs to the user; nil when the server doesn't state it.
    public var isEmailVerified: Bool? { claims["email_verified"]?.bool ?? text("email_verified").map { $0 == "true" } }
    /// The telephone number.
    public var phoneNumber: String? { text("phone_number") }
    /// The language and country.
    public var locale: String? { text("locale") }

    init(claims: [String: JSONValue]) { self.claims = claims }

    /// Returns true when the claims are about a subject, byte for byte.
    fileprivate func isAbout(_ subject: String) -> Bool {
        self.subject.map { IDTokenRules.areEqual($0, subject) } ?? false
    }

    private func text(_ name: String) -> String? { claims[name]?.string }
}
