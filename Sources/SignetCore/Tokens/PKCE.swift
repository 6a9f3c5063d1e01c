import Crypto

/// Proof of possession of an authorization code (RFC 7636), by SHA-256 and nothing weaker.
package enum ProofKey {
    /// The challenge of a verifier: base64url, without padding, of the SHA-256 of its ASCII text (section 4.2).
    package static func challenge(for verifier: String) -> String {
        Base64.encode(Array(SHA256.hash(data: Array(verifier.utf8))), as: .url)
    }
}
