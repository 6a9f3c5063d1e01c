import Crypto
import SignetCore

/// The SHA-256 of a bearer token, which is the key in tables instead of the token.
///
/// An attacker that reads a table cannot use the hashes, and the time of a lookup reveals nothing about other tokens.
struct TokenHash: Codable, Sendable, Hashable {
    /// The hash as 43 characters of base64url.
    let text: String

    init(_ token: String) {
        text = Base64.encode(Array(SHA256.hash(data: Array(token.utf8))), as: .url)
    }

    /// Reads a hash that was stored as text.
    init(text: String) {
        self.text = text
    }
}
