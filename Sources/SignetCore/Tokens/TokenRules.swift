#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The action when the app requests an access token (protocol/journey.md section 4.4).
package enum TokenDecision: String, Sendable, Hashable {
    /// The stored token is valid and is used.
    case use
    /// The refresh token is exchanged for a new token.
    case refresh
    /// The session is used to get a new token, in a new authorization request.
    case authorize
    /// The stored token belongs to another session, or to a session that isn't stored any more. It is removed and revoked, and
    /// the decision is made again.
    case discardForeign
    /// The stored token has expired and cannot be renewed. It is removed, and the user must log in again.
    case discardExpired
    /// The client has neither a usable token nor a session. The user must log in.
    case logIn
}

/// The action after a refresh that returned no token.
package enum RefreshFailure: String, Sendable, Hashable {
    /// The stored tokens are kept, and the caller gets the error.
    case keep
    /// The server reported that the grant has ended. The tokens are removed, and the session is used to get new ones.
    case endAndAuthorize
    /// The grant has ended, and the client has no session. The tokens are removed, and the user must log in again.
    case endAndLogIn
    /// The server rejected the refresh token without a reason, or rejected the client, the grant type or the scope. The tokens are
    /// kept, the refresh token isn't sent again, and the session is used to get new ones.
    case authorize
    /// The same, but the client has no session, and the access token has expired. The tokens are kept until the user has logged in
    /// again, and the refresh token isn't sent again.
    case logIn
}

/// The rules for the lifecycle of an access token.
///
/// They use no network and no storage.
package enum TokenRules {
    /// Returns the action for a stored token.
    /// - Parameters:
    ///   - token: The stored token; nil when the storage has none.
    ///   - session: The session that is stored with it; nil when the storage is known to have none.
    ///   - now: The current time.
    ///   - threshold: The time before its expiry at which a token is renewed; see ``lead(_:of:)``.
    ///   - isRefused: True when the token counts as expired whatever its date is: a server rejected it, or the caller requests a
    ///     new one.
    /// - Returns: A decision to use, renew, replace or discard the token, or to let the user log in.
    package static func decide(
        _ token: AccessToken?, session: SessionIdentity?, now: Date, threshold: Duration, isRefused: Bool = false
    ) -> TokenDecision {
        guard let token else { return session == nil ? .logIn : .authorize }
        if token.session != session { return .discardForeign }
        if !isRefused, !isDue(token, now: now, threshold: threshold) { return .use }
        let mayRefresh = token.refreshToken != nil && !token.isRefreshRefused
        if mayRefresh, session == nil || !mayBeUsedUp(token) { return .refresh }
        if session != nil { return .authorize }
        // A refused refresh token stays stored, so that the next login or a logout revokes the grant.
        if token.isExpired(at: now) { return token.isRefreshRefused ? .logIn : .discardExpired }
        return isRefused ? .logIn : .use
    }

    /// Returns the time before its expiry at which a token is renewed: `threshold`, but at most half of its lifetime.
    ///
    /// Without this limit a token whose lifetime does not exceed the threshold would be renewed at every call.
    package static func lead(_ threshold: Duration, of token: AccessToken) -> Duration {
        guard let end = token.expiresAt else { return threshold }
        return min(threshold, .seconds(max(0, end.timeIntervalSince(token.issuedAt)) / 2))
    }

    /// Returns true when a token must be renewed.
    package static func isDue(_ token: AccessToken, now: Date, threshold: Duration) -> Bool {
        token.isExpired(at: now) || token.isExpiring(at: now, within: lead(threshold, of: token))
    }

    /// Returns true when the server may already have used up the refresh token and issued the next one, which the client never
    /// saved.
    ///
    /// When refresh tokens are used once, sending one again looks like theft, and the server ends the whole grant (RFC 9700
    /// section 4.14.2).
    private static func mayBeUsedUp(_ token: AccessToken) -> Bool {
        token.renewalBegun != nil && token.isRotated != false
    }

    /// Returns the action after a failed refresh.
    /// - Parameters:
    ///   - failure: The error of the token endpoint.
    ///   - hasSession: True when a session is stored that can provide new tokens.
    ///   - isExpired: True when the access token has expired, so that nothing stored can be used without a session.
    /// - Returns: A decision to keep the tokens, to use the session, or to let the user log in.
    package static func afterRefresh(_ failure: OAuthError, hasSession: Bool, isExpired: Bool) -> RefreshFailure {
        if failure.endsGrant { return hasSession ? .endAndAuthorize : .endAndLogIn }
        guard failure.refusesRefreshToken || failure.refusesRefresh else { return .keep }
        if hasSession { return .authorize }
        return isExpired ? .logIn : .keep
    }

    /// Returns the token to store after a refresh.
    ///
    /// The old scope, refresh token and id_token are kept when the response has no new ones.
    package static func merged(_ new: AccessToken, into old: AccessToken) -> AccessToken {
        var token = new
        if token.scope.isEmpty { token.scope = old.scope }
        token.refreshToken = new.refreshToken ?? old.refreshToken
        token.idToken = new.idToken ?? old.idToken
        token.session = old.session
        token.binding = new.binding ?? old.binding
        token.isRotated = old.refreshToken == nil ? old.isRotated : new.refreshToken.map { $0 != old.refreshToken } ?? false
        return token
    }
}

/// A step when a journey delivers a session (protocol/journey.md section 3.2).
package enum SessionUpgrade: String, Sendable, Hashable {
    /// The new session replaces the stored one.
    case store
    /// The access token is removed and revoked.
    case revokeTokens
    /// The previously stored session is ended at the server. Cookies are kept, because the response that delivered the new
    /// session has set its cookie.
    case endStoredSession

    /// Returns the steps in order.
    ///
    /// Nothing is removed before the new session is stored. The result of the requests does not change the steps. A session with
    /// an empty token is returned to the caller and changes nothing in the storage.
    package static func steps(stored: SSOToken?, hasTokens: Bool, delivered: SSOToken) -> [SessionUpgrade] {
        guard delivered.value.count > 0 else { return [] }
        if let stored, stored.value == delivered.value { return [.store] }
        return [.store] + (hasTokens ? [.revokeTokens] : []) + (stored == nil ? [] : [.endStoredSession])
    }
}
