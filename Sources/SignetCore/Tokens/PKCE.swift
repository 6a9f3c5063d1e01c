import Crypto

/// The code challenge of PKCE (RFC 7636), with the method S256 only.
package enum ProofKey {
    /// Returns the challenge of a verifier: the base64url encoding, without padding, of the SHA-256 of its ASCII text (section
    /// 4.2).
    package static func challenge(for verifier: String) -> String {
        Base64.encode(Array(SHA256.hash(data: Array(verifier.utf8))), as: .url)
    }
}
