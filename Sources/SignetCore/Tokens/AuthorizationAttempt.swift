/// What a client makes up for one walk through the authorization endpoint, and must find again in the answers: the verifier
/// (RFC 7636), the state (RFC 6749 section 10.12) and the nonce (OpenID Connect Core section 3.1.2.1).
package struct AuthorizationAttempt: Sendable, Hashable {
    /// Stays here until the code is exchanged.
    package let verifier: Secret
    /// Comes back with the code.
    package let state: String
    /// Comes back in the id_token.
    package let nonce: String

    /// A new attempt: 256 bits of randomness for each of the three.
    package init(using generator: inout some RandomNumberGenerator) {
        func text() -> String {
            // The system is asked for each number, so they are not drawn byte by byte.
            Base64.encode((0..<4).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }, as: .url)
        }
        verifier = Secret(text: text())
        state = text()
        nonce = text()
    }

    /// A new attempt from the system's random source.
    package static func new() -> AuthorizationAttempt {
        var generator = SystemRandomNumberGenerator()
        return AuthorizationAttempt(using: &generator)
    }

    /// The parameters of the authorization request (protocol/journey.md section 4.2), in the order in which they are listed
    /// there. The nonce is sent only when an id_token is asked for.
    package func parameters(
        clientID: String, redirectURI: String, scopes: [String], extra: [(name: String, value: String)] = []
    ) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("response_type", "code"), ("client_id", clientID), ("scope", scopes.joined(separator: " ")),
            ("redirect_uri", redirectURI), ("state", state),
            ("code_challenge", ProofKey.challenge(for: verifier.text)), ("code_challenge_method", "S256"),
        ]
        if scopes.contains("openid") { fields.append(("nonce", nonce)) }
        // What protects the exchange is not the caller's to replace.
        let ours = Set(fields.map(\.name))
        return fields + extra.filter { !ours.contains($0.name) }
    }
}
