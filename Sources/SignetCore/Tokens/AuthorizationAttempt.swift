#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The values that a client generates for one authorization request and compares with the answers: the verifier (RFC 7636), the
/// state (RFC 6749 section 10.12) and the nonce (OpenID Connect Core section 3.1.2.1).
package struct AuthorizationAttempt: Sendable, Hashable {
    /// The PKCE code verifier.
    ///
    /// It stays in the client until the code is exchanged.
    package let verifier: Secret
    /// The state.
    ///
    /// The server returns it with the code.
    package let state: String
    /// The nonce.
    ///
    /// The server returns it in the id_token.
    package let nonce: String
    /// The additional parameters of this request beside those of the client.
    package let addedParameters: [String: String]
    /// The time at which the request began, by this machine's clock; nil for a request that no user has to answer.
    package let begun: Date?

    /// Returns a new attempt with 256 random bits for each of the three values.
    /// - Parameters:
    ///   - addedParameters: The additional parameters of this request beside those of the client.
    ///   - begun: The time at which the request begins; nil for a request that no user has to answer.
    /// - Returns: The attempt.
    package static func new(adding addedParameters: [String: String] = [:], begun: Date? = nil) -> AuthorizationAttempt {
        func text() -> String { Base64.encode(Secret.random(byteCount: 32).bytes, as: .url) }
        return AuthorizationAttempt(
            verifier: Secret(text: text()), state: text(), nonce: text(), addedParameters: addedParameters, begun: begun)
    }

    /// Returns the parameters of the authorization request, in the order of protocol/journey.md section 4.2.
    ///
    /// The nonce is sent only with the scope `openid`, which requests an id_token.
    package func parameters(
        clientID: String, redirectURI: String, scopes: [String], extra: [(name: String, value: String)] = []
    ) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("response_type", "code"), ("client_id", clientID), ("scope", scopes.joined(separator: " ")),
            ("redirect_uri", redirectURI), ("state", state),
            ("code_challenge", ProofKey.challenge(for: verifier.text)), ("code_challenge_method", "S256"),
        ]
        if scopes.contains("openid") { fields.append(("nonce", nonce)) }
        // The caller cannot override parameters that protect the exchange.
        let ours = Set(fields.map(\.name))
        return fields + extra.filter { !ours.contains($0.name) }
    }
}
