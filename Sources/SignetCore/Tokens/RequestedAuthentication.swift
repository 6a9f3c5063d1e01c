#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authentication of the user that an authorization request asked for with `max_age` and `acr_values` (OpenID Connect Core
/// section 3.1.2.1).
///
/// An id_token that doesn't confirm it is refused. A user or another program can remove both parameters from the address that the
/// browser opens, so a claim that is missing confirms nothing. Null counts as missing.
package struct RequestedAuthentication: Sendable, Hashable {
    /// The maximum age of the authentication when the request began, in seconds; nil when none was requested.
    package let maximumAge: Double?
    /// The accepted authentication context classes; empty when none was requested.
    package let contexts: [String]
    /// The time from the authorization request to the response of the token endpoint, in seconds.
    ///
    /// The user may need minutes for a page after the authentication, for example to consent.
    package let duration: Double
    /// True when an id_token without an authentication context class is refused although one was requested.
    package let requiresContext: Bool

    /// Reads the parameters of an authorization request.
    ///
    /// A parameter without a value counts as missing (RFC 6749 section 3.1). A `max_age` that isn't a number of seconds counts as
    /// 0.
    /// - Parameters:
    ///   - parameters: The additional parameters of the request.
    ///   - duration: The time from the request to the response of the token endpoint, in seconds.
    ///   - requiresContext: False to accept an id_token without `acr`, for a server that adds none by default, as AM does.
    package init(_ parameters: [String: String], duration: Double = 0, requiresContext: Bool = true) {
        let age = parameters["max_age"] ?? ""
        maximumAge = age.isEmpty ? nil : UInt32(age).map { Double($0) } ?? 0
        contexts = (parameters["acr_values"] ?? "").split(separator: " ").map { String($0) }
        self.duration = max(0, duration)
        self.requiresContext = requiresContext
    }

    /// Checks the claims of an id_token (OpenID Connect Core section 3.1.3.7, steps 12 and 13).
    /// - Parameters:
    ///   - claims: The claims of the id_token.
    ///   - now: The time at which the response arrived.
    /// - Throws: ``IDTokenError``.
    func check(_ claims: [String: JSONValue], now: Date) throws(IDTokenError) {
        if let maximumAge {
            func refused(_ reason: String) -> IDTokenError { IDTokenError(.authenticationTime, explanation: reason) }
            // OpenAM writes the time of the authentication as `auth:time` (protocol/journey.md section 8.4).
            let claim = IDTokenRules.present(claims["auth_time"]) ?? claims["auth:time"]
            guard let time = IDTokenRules.seconds(claim) else {
                throw refused("the client requested max_age, and auth_time is missing or not a number")
            }
            let age = now.timeIntervalSince1970 - time
            guard age >= -IDTokenRules.leeway else { throw refused("auth_time is in the future") }
            guard age - duration <= maximumAge + IDTokenRules.leeway else {
                throw refused("the authentication is older than the max_age that the client requested")
            }
        }
        if !contexts.isEmpty { try checkContext(IDTokenRules.present(claims["acr"])) }
    }

    private func checkContext(_ claim: JSONValue?) throws(IDTokenError) {
        guard let claim else {
            guard requiresContext else { return }
            throw IDTokenError(
                .authenticationContext,
                explanation: "the client requested acr_values, and acr is missing; client.requiresACR: false accepts that")
        }
        guard let context = claim.string, IDTokenRules.contains(contexts, context) else {
            throw IDTokenError(
                .authenticationContext, explanation: "acr is not one of the acr_values that the client requested")
        }
    }
}
