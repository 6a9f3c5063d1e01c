import SignetCore

/// The values that protect an authorization request (RFC 7636).
public struct Pkce: Sendable {
    /// The secret that the token request contains.
    public let codeVerifier: String
    /// The digest of the verifier that the authorization request contains.
    public let codeChallenge: String
    /// The name of the digest: `S256`.
    public let codeChallengeMethod: String
    /// The value that ties the response to the request.
    public let state: String

    /// Returns random values.
    public static func generate() -> Pkce {
        let attempt = AuthorizationAttempt.new()
        return Pkce(
            codeVerifier: attempt.verifier.text, codeChallenge: ProofKey.challenge(for: attempt.verifier.text),
            codeChallengeMethod: "S256",
            state: attempt.state)
    }
}
