#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What is to be done when somebody asks for a token (protocol/journey.md section 4.4).
package enum TokenDecision: String, Sendable, Hashable {
    /// The stored token is good.
    case use
    /// The refresh token gets a new one.
    case refresh
    /// The session gets a new one, by a new walk through the authorization endpoint.
    case authorize
    /// The stored token came from another session, or from one that is stored no more: it is removed and revoked, and the question
    /// is asked again.
    case discardOrphan
    /// The stored token has ended and nothing can renew it: it is removed, and the person logs in again.
    case discardExpired
    /// There is nothing to begin with: the person logs in.
    case logIn
}

/// What is to be done when a refresh did not give a token.
package enum RefreshFailure: String, Sendable, Hashable {
    /// Nothing that is stored changes; the caller is told.
    case keep
    /// The grant is over, by the server's own word: the tokens are removed, and the session gets new ones.
    case endAndAuthorize
    /// The grant is over, and there is no session: the tokens are removed, and the person logs in again.
    case endAndLogIn
    /// The server does not take the refresh token and does not say why. Nothing is removed; the session gets new tokens.
    case authorize
}

/// The rules of an access token's life. They know no network and no storage.
package enum TokenRules {
    /// What to do with a stored token.
    /// - Parameters:
    ///   - session: The session that is stored beside it; nil when it is known that there is none.
    ///   - threshold: How long before its end a token is renewed; see ``lead(_:of:)``.
    ///   - isRefused: Whether the token counts as ended whatever its date says: a server did not take it, or the caller asks
    ///     for a new one.
    package static func decide(
        _ token: AccessToken?, session: SessionIdentity?, now: Date, threshold: Duration, isRefused: Bool = false
    ) -> TokenDecision {
        guard let token else { return session == nil ? .logIn : .authorize }
        if token.session != session { return .discardOrphan }
        if !isRefused, !isDue(token, now: now, threshold: threshold) { return .use }
        if token.refreshToken != nil, session == nil || !mayBeUsedUp(token) { return .refresh }
        if session != nil { return .authorize }
        if token.isExpired(at: now) { return .discardExpired }
        return isRefused ? .logIn : .use
    }

    /// How long before its end a token is renewed: `threshold`, and half of its life at most. One that lives no longer than the
    /// threshold would be renewed at every call.
    package static func lead(_ threshold: Duration, of token: AccessToken) -> Duration {
        guard let end = token.expiresAt else { return threshold }
        return min(threshold, .seconds(max(0, end.timeIntervalSince(token.issuedAt)) / 2))
    }

    /// Whether it is time to renew a token.
    package static func isDue(_ token: AccessToken, now: Date, threshold: Duration) -> Bool {
        token.isExpired(at: now) || token.isExpiring(at: now, within: lead(threshold, of: token))
    }

    /// Whether the server may have taken the refresh token already, and given the next one to somebody who never saved it.
    /// Where such tokens are used once, to send it again looks like theft, and the server ends the whole grant
    /// (RFC 9700 section 4.14.2).
    private static func mayBeUsedUp(_ token: AccessToken) -> Bool {
        token.renewalBegun != nil && token.isRotated != false
    }

    /// What follows from a refusal of the refresh token.
    package static func afterRefresh(_ failure: OAuthError, hasSession: Bool) -> RefreshFailure {
        if failure.endsGrant { return hasSession ? .endAndAuthorize : .endAndLogIn }
        return failure.refusesRefreshToken && hasSession ? .authorize : .keep
    }

    /// The token to keep after a refresh: the old refresh token and the old id_token stay when no new ones came.
    package static func merged(_ new: AccessToken, into old: AccessToken) -> AccessToken {
        var token = new
        if token.scope.isEmpty { token.scope = old.scope }
        token.refreshToken = new.refreshToken ?? old.refreshToken
        token.idToken = new.idToken ?? old.idToken
        token.session = old.session
        token.isRotated = old.refreshToken == nil ? old.isRotated : new.refreshToken.map { $0 != old.refreshToken } ?? false
        return token
    }
}

/// What happens when a journey delivers a session (protocol/journey.md section 3.2).
package enum SessionUpgrade: String, Sendable, Hashable {
    /// The new session is stored, in the place of the one before.
    case store
    /// The access token is removed and revoked.
    case revokeTokens
    /// The session that was stored is ended at the server. Cookies stay: what delivered the new session has set its cookie.
    case endStoredSession

    /// What to do, in order: nothing is removed before the new session is stored. Whether the requests succeed changes nothing. An
    /// empty session is handed to the caller and changes nothing that is stored.
    package static func steps(stored: SSOToken?, hasTokens: Bool, delivered: SSOToken) -> [SessionUpgrade] {
        guard delivered.value.count > 0 else { return [] }
        if let stored, stored.value == delivered.value { return [.store] }
        return [.store] + (hasTokens ? [.revokeTokens] : []) + (stored == nil ? [] : [.endStoredSession])
    }
}
