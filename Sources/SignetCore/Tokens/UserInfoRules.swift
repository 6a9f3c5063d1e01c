#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The rules for the claims of a signed userinfo response whose signature has been verified (OpenID Connect Core section 5.3.2).
///
/// The issuer, the audience and the times are optional there. A value that is present must be right.
package struct UserInfoRules: Sendable, Hashable {
    /// The issuer of the server; nil when it is unknown.
    package let issuer: String?
    /// The client, which must be in the audience.
    package let clientID: String

    /// Creates the rules for responses of an issuer to a client.
    package init(issuer: String?, clientID: String) {
        (self.issuer, self.clientID) = (issuer, clientID)
    }

    /// Checks the claims.
    /// - Parameters:
    ///   - claims: The claims of the response.
    ///   - now: The current time (``IDTokenRules/time(of:at:)``).
    /// - Throws: ``IDTokenError``.
    package func check(_ claims: [String: JSONValue], now: Date) throws(IDTokenError) {
        if let theirs = claims["iss"] {
            guard let issuer, theirs.string.map({ IDTokenRules.areEqual($0, issuer) }) ?? false else {
                throw IDTokenError(.issuer)
            }
        }
        if let audience = claims["aud"] {
            guard let names = IDTokenRules.audience(audience), IDTokenRules.contains(names, clientID) else {
                throw IDTokenError(.audience)
            }
        }
        _ = try IDTokenRules.subject(of: claims)
        try IDTokenRules.checkTimes(claims, now: now.timeIntervalSince1970, areRequired: false)
    }
}
