#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The rules of a service for the access tokens of one provider.
///
/// They are for a JWT whose signature has been verified (RFC 9068 section 4), and for an introspection response (RFC 7662 section
/// 2.2).
package struct AccessTokenRules: Sendable, Hashable {
    /// The required issuer.
    package let issuer: String
    /// The requirements of the service.
    package let policy: AccessTokenPolicy

    /// Creates the rules for tokens of an issuer.
    package init(issuer: String, policy: AccessTokenPolicy) {
        self.issuer = issuer
        self.policy = policy
    }

    /// Checks the header and the claims of a JWT whose signature has been verified.
    /// - Parameters:
    ///   - header: The members of the header.
    ///   - claims: The claims.
    ///   - now: The current time.
    /// - Throws: ``AccessTokenError``.
    package func check(
        header: [String: JSONValue], claims: [String: JSONValue], now: Date
    ) throws(AccessTokenError) {
        guard let algorithm = header["alg"]?.string, policy.algorithms.contains(algorithm) else {
            throw AccessTokenError(.algorithm)
        }
        try checkType(header["typ"], claims)
        guard let theirs = claims["iss"]?.string, IDTokenRules.areEqual(theirs, issuer) else { throw AccessTokenError(.issuer) }
        guard let audience = IDTokenRules.audience(claims["aud"]), isForService(audience) else {
            throw AccessTokenError(.audience)
        }
        try checkTimes(claims, now: now, areRequired: true)
        _ = try subject(of: claims)
    }

    /// Checks the claims of an introspection response whose `active` is true.
    ///
    /// The times, the issuer and the audience are optional there, and are checked if they are present.
    /// - Parameters:
    ///   - claims: The members of the response.
    ///   - now: The current time.
    /// - Throws: ``AccessTokenError``.
    package func check(introspected claims: [String: JSONValue], now: Date) throws(AccessTokenError) {
        if let theirs = IDTokenRules.present(claims["iss"]) {
            guard let name = theirs.string, IDTokenRules.areEqual(name, issuer) else { throw AccessTokenError(.issuer) }
        }
        if let value = IDTokenRules.present(claims["aud"]) {
            guard let audience = IDTokenRules.audience(value), isForService(audience) else { throw AccessTokenError(.audience) }
        }
        // A refresh token of the client is active too, and is not an access token (AM states the kind in `token_type`).
        guard claims["token_type"]?.string?.lowercased() != "refresh_token" else { throw AccessTokenError(.type) }
        try checkTimes(claims, now: now, areRequired: false)
    }

    /// Returns the scopes of a token: `scope` is text with spaces between the scopes (RFC 9068 section 2.2.3), or a list, as AM
    /// writes it.
    package static func scopes(of claims: [String: JSONValue]) -> Set<String> {
        if let text = claims["scope"]?.string { return Set(text.split(separator: " ").map { String($0) }) }
        return Set((claims["scope"]?.array ?? []).compactMap(\.string))
    }

    /// Returns the members of the confirmation (`cnf`, RFC 7800 section 3.1); nil for a token that isn't bound to a key.
    /// - Throws: ``AccessTokenError`` for a confirmation that isn't an object, because it may require a proof.
    package static func confirmation(of claims: [String: JSONValue]) throws(AccessTokenError) -> [String: JSONValue]? {
        guard let value = IDTokenRules.present(claims["cnf"]) else { return nil }
        guard let members = value.object else { throw AccessTokenError(.claims, explanation: "cnf is not an object") }
        return members
    }

    private func isForService(_ audience: [String]) -> Bool {
        audience.contains { IDTokenRules.contains(policy.audiences, $0) }
    }

    /// Checks that a JWT is an access token and no other kind of token (RFC 8725 section 3.11).
    private func checkType(_ type: JSONValue?, _ claims: [String: JSONValue]) throws(AccessTokenError) {
        guard let name = type?.string?.lowercased() else { throw AccessTokenError(.type) }
        let prefix = "application/"
        guard policy.types.contains(name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name) else {
            throw AccessTokenError(.type)
        }
        // AM names the kind of each of its JWTs.
        if let kind = claims["tokenName"] {
            guard kind == .string("access_token") else { throw AccessTokenError(.type) }
            return
        }
        // Claims of ID tokens and of security events, of which logout tokens are one kind.
        for claim in ["nonce", "at_hash", "c_hash", "events"] where claims[claim] != nil { throw AccessTokenError(.type) }
    }

    private func checkTimes(
        _ claims: [String: JSONValue], now: Date, areRequired: Bool
    ) throws(AccessTokenError) {
        do throws(IDTokenError) {
            try IDTokenRules.checkTimes(
                claims, now: now.timeIntervalSince1970, areRequired: areRequired, leeway: policy.clockSkew.seconds)
        } catch {
            switch error.code {
            case .expired: throw AccessTokenError(.expired)
            case .notYetValid: throw AccessTokenError(.notYetValid)
            default: throw AccessTokenError(.claims, explanation: "iat is missing or not a number")
            }
        }
    }

    private func subject(of claims: [String: JSONValue]) throws(AccessTokenError) -> String {
        do throws(IDTokenError) {
            return try IDTokenRules.subject(of: claims)
        } catch {
            throw AccessTokenError(.claims, explanation: "sub is missing, empty or too long")
        }
    }
}
