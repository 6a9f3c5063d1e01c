public import SignetCore
import SignetNetwork
import SignetStorage
import Synchronization

extension TokenSource {
    /// The session that is stored; nil when there is none. Nobody is asked whether it still holds.
    /// - Throws: ``TokenError/Code/storage``.
    public func session() async throws(TokenError) -> SSOToken? {
        do throws(StoreError) { return try await store.session() } catch { throw TokenError(error) }
    }

    /// Takes the session that a journey delivered, and does what that means for the one before it (protocol/journey.md section
    /// 3.2): the new one is stored, tokens that came from another one are removed and revoked, and that one is ended at the server. The
    /// same session again changes nothing else. An empty one, of a journey that ends without a session, changes nothing at all.
    ///
    /// The new session is stored whether or not the old one could be ended at the server.
    /// - Returns: How the old session and the old tokens were ended at the server. ``replaced`` keeps it.
    /// - Throws: ``TokenError/Code/storage``. Where the new session cannot be stored, the old one and its tokens stay as they were; where
    ///   only the old tokens cannot be removed, the new session is stored, and nobody gets those tokens any more.
    @discardableResult
    public func adopt(_ delivered: SSOToken) async throws(TokenError) -> LogOutReport {
        let (leftovers, failure) = try await alone { () async throws(TokenError) -> (Leftovers, TokenError?) in
            defer { forget() }
            let (token, session) = try await kept()
            var (leftovers, failure) = (Leftovers(), nil as TokenError?)
            for step in SessionUpgrade.steps(stored: session, hasTokens: token != nil, delivered: delivered) {
                switch step {
                case .store: try await storing { () async throws(StoreError) in try await store.save(delivered) }
                case .revokeTokens:
                    // The session before is replaced already, and has to be ended whatever becomes of its tokens.
                    do throws(TokenError) {
                        try await storing { () async throws(StoreError) in try await store.removeToken() }
                        leftovers.token = token
                    } catch {
                        failure = error
                    }
                case .endStoredSession: leftovers.session = session
                }
            }
            return (leftovers, failure)
        }
        let report = await end(leftovers)
        if let failure { throw failure }
        return report
    }

    /// How the session and the tokens that the last login of this source replaced were ended at the server; nil when it replaced none.
    /// Where it is not complete, they are good at the server until they end by themselves.
    public var replaced: LogOutReport? { replacement.withLock { $0 } }

    /// The cookies that are stored; nil when none are kept.
    func cookies() async throws(TokenError) -> CookieJar? {
        guard server.keepsCookies else { return nil }
        do throws(StoreError) { return try await store.cookies() } catch { throw TokenError(error) }
    }

    /// Stores the cookies that a journey's answer sets.
    func take(_ response: HTTPResponse, to request: HTTPRequest) async throws(TokenError) {
        guard server.keepsCookies, response.headers["Set-Cookie"] != nil else { return }
        try await alone { () async throws(TokenError) in
            try await storing { () async throws(StoreError) in
                let before = try await store.cookies()
                var cookies = before
                cookies.take(response, to: request, now: clock.now)
                if cookies != before { try await store.save(cookies) }
            }
        }
    }

    private struct Leftovers: Sendable {
        var session: SSOToken?
        var token: AccessToken?
    }

    /// Ends at the server what is no longer stored here. The cookies that these answers set are not taken: they would remove
    /// the new session's.
    private func end(_ leftovers: Leftovers) async -> LogOutReport {
        guard leftovers.session != nil || leftovers.token != nil else {
            replacement.withLock { $0 = nil }
            return .nothing
        }
        var report = LogOutReport(local: .done)
        report.session = await outcome(of: .success(leftovers.session)) { try await $0.logOut($1, cookies: CookieJar()) }
        report.tokens = await outcome(of: .success(leftovers.token)) { try await $0.revoke($1) }
        replacement.withLock { [report] in $0 = report }
        return report
    }

    /// Takes tokens from a login in a browser or on another device. Those before them are revoked; ``replaced`` says how that went.
    func adopt(_ token: AccessToken) async throws(TokenError) -> AccessToken {
        let (token, old) = try await alone { () async throws(TokenError) in
            let (old, session) = try await kept()
            // They live as long as the session beside which they were made.
            let token = token.belonging(to: session.map(SessionIdentity.init))
            try await storing { () async throws(StoreError) in try await store.save(token) }
            forget()
            return (token, old)
        }
        _ = await end(Leftovers(token: old))
        return token
    }

    /// What the server says about the person (OpenID Connect Core section 5.3). A token that it does not take is renewed once.
    /// - Throws: ``TokenError``.
    public func userInfo() async throws(TokenError) -> UserInfo {
        var token = try await token()
        do {
            var response = try await server.userInfo(token)
            if response.status == 401 {
                token = try await renewed(insteadOf: token)
                response = try await server.userInfo(token)
            }
            let claims = try TokenResponse.members(
                status: response.status, body: response.body, retryAfter: response.retryAfter(now: server.clock.now))
            let info = UserInfo(claims: claims)
            // Section 5.3.2: claims about somebody else are not used.
            if let subject = token.idToken.flatMap(SignedClaims.subject), info.subject != subject { throw IDTokenError(.subject) }
            return info
        } catch {
            throw TokenError(error)
        }
    }

    /// Revokes the access token and the refresh token, and removes them; the session stays.
    /// - Throws: ``TokenError``. What was stored is removed whether or not the server could be told.
    public func revoke() async throws(TokenError) {
        let token = try await alone { () async throws(TokenError) in
            let (token, _) = try await kept()
            try await storing { () async throws(StoreError) in try await store.removeToken() }
            forget()
            return token
        }
        guard let token else { return }
        do { try await server.revoke(token) } catch { throw TokenError(error) }
    }
}

/// What a server says about a person.
public struct UserInfo: Sendable, Hashable {
    /// Every claim as it came.
    public let claims: [String: JSONValue]
    /// Who it is, at this server and for ever.
    public var subject: String? { text("sub") }
    /// The name to show.
    public var name: String? { text("name") }
    /// The given names.
    public var givenName: String? { text("given_name") }
    /// The family names.
    public var familyName: String? { text("family_name") }
    /// The name that the person wants to be called by at this service.
    public var preferredUsername: String? { text("preferred_username") }
    /// The address for e-mail.
    public var email: String? { text("email") }
    /// Whether that address was seen to be the person's.
    public var isEmailVerified: Bool? { claims["email_verified"]?.bool ?? text("email_verified").map { $0 == "true" } }
    /// The telephone number.
    public var phoneNumber: String? { text("phone_number") }
    /// The language and country.
    public var locale: String? { text("locale") }

    init(claims: [String: JSONValue]) { self.claims = claims }

    private func text(_ name: String) -> String? { claims[name]?.string }
}
