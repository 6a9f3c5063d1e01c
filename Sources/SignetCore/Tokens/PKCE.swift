import Crypto

/// The proof that a code is redeemed by whoever asked for it (RFC 7636).
package enum ProofKey {
    /// The challenge for a verifier, by the method S256: base64url of the verifier's SHA-256, without padding.
    package static func challenge(for verifier: String) -> String {
        Base64.encode(Array(SHA256.hash(data: Array(verifier.utf8))), as: .url)
    }
}
