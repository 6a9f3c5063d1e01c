#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The rules for a logout token whose signature has been verified (OpenID Connect Back-Channel Logout 1.0 section 2.6).
///
/// The rules for the issuer, the audience and the times are those of ID tokens. The memory of received tokens is not part of them.
package struct LogoutTokenRules: Sendable, Hashable {
    /// The required issuer.
    package let issuer: String
    /// The required audience.
    package let clientID: String
    /// The requirements that the app may change.
    package let policy: LogoutTokenPolicy

    /// The member of `events` that makes a token a logout token.
    package static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// The types that a header may have when the app requires none, in lower case (RFC 7515 section 4.1.9).
    private static let types: Set<String> = ["logout+jwt", "application/logout+jwt", "jwt", "application/jwt"]
    /// The types of a logout token, in lower case.
    private static let ownTypes: Set<String> = ["logout+jwt", "application/logout+jwt"]

    /// Creates the rules for tokens of an issuer to a client.
    package init(issuer: String, clientID: String, policy: LogoutTokenPolicy) {
        self.issuer = issuer
        self.clientID = clientID
        self.policy = policy
    }

    /// Checks a token and returns its content.
    /// - Parameters:
    ///   - header: The members of the token's header.
    ///   - claims: The claims of the token.
    ///   - now: The current time.
    /// - Returns: The content of the token.
    /// - Throws: ``LogoutTokenError``.
    package func token(
        header: [String: JSONValue], claims: [String: JSONValue], now: Date
    ) throws(LogoutTokenError) -> LogoutToken {
        try check(header)
        guard let theirs = claims["iss"]?.string, IDTokenRules.contains([issuer], theirs) else { throw LogoutTokenError(.issuer) }
        let accepted = [clientID] + policy.trustedAudiences
        guard let audience = IDTokenRules.audience(claims["aud"]), IDTokenRules.contains(audience, clientID),
            audience.allSatisfy({ IDTokenRules.contains(accepted, $0) })
        else { throw LogoutTokenError(.audience) }
        let (issuedAt, end) = try times(of: claims, now: now.timeIntervalSince1970)
        guard claims["events"]?[Self.event]?.object != nil else { throw LogoutTokenError(.event) }
        // The value may also be null: with a nonce in any form, the token could be used in place of an ID token.
        guard claims["nonce"] == nil else { throw LogoutTokenError(.nonce) }
        let (subject, sessionID) = try names(in: claims)
        guard let id = claims["jti"]?.string, !id.isEmpty else { throw LogoutTokenError(.identifier) }
        return LogoutToken(
            issuer: issuer, subject: subject, sessionID: sessionID, issuedAt: Date(timeIntervalSince1970: issuedAt),
            expiresAt: Date(timeIntervalSince1970: end), id: id, claims: claims)
    }

    /// Returns the last time at which ``token(header:claims:now:)`` accepts a token, which is the time until which its ID must be
    /// remembered.
    package func lastUse(of token: LogoutToken) -> Date {
        min(token.expiresAt, token.issuedAt + policy.maximumAge.seconds) + IDTokenRules.leeway
    }

    private func check(_ header: [String: JSONValue]) throws(LogoutTokenError) {
        if let algorithm = policy.algorithm, header["alg"]?.string != algorithm { throw LogoutTokenError(.algorithm) }
        guard let type = header["typ"] else {
            if policy.requiresType { throw LogoutTokenError(.type) }
            return
        }
        let accepted = policy.requiresType ? Self.ownTypes : Self.types
        guard let name = type.string, accepted.contains(name.lowercased()) else { throw LogoutTokenError(.type) }
    }

    /// Checks the times of a token, and returns `iat` and `exp` in seconds since 1970.
    private func times(
        of claims: [String: JSONValue], now: Double
    ) throws(LogoutTokenError) -> (issuedAt: Double, end: Double) {
        do throws(IDTokenError) {
            try IDTokenRules.checkTimes(claims, now: now, areRequired: true)
        } catch {
            // The codes have the same names: `expired`, `issuedAt` and `notYetValid`.
            throw LogoutTokenError(LogoutTokenError.Code(rawValue: error.code.rawValue))
        }
        guard let issuedAt = IDTokenRules.seconds(claims["iat"]), let end = IDTokenRules.seconds(claims["exp"]),
            now <= issuedAt + policy.maximumAge.seconds + IDTokenRules.leeway
        else { throw LogoutTokenError(.issuedAt) }
        return (issuedAt, end)
    }

    /// Returns the subject and the ID of the session, of which a token has at least one.
    private func names(in claims: [String: JSONValue]) throws(LogoutTokenError) -> (subject: String?, sessionID: String?) {
        var subject: String?
        if claims["sub"] != nil {
            do throws(IDTokenError) {
                subject = try IDTokenRules.subject(of: claims)
            } catch {
                throw LogoutTokenError(.subject)
            }
        }
        var sessionID: String?
        if let session = claims["sid"] {
            guard let text = session.string, !text.isEmpty else { throw LogoutTokenError(.subject) }
            sessionID = text
        }
        guard subject != nil || sessionID != nil else { throw LogoutTokenError(.subject) }
        return (subject, sessionID)
    }
}
