import Crypto
import SignetCore

/// What a bearer token is kept under: its SHA-256. Nobody who reads the tables can use what stands there, and finding one
/// tells nothing about the others.
struct TokenHash: Codable, Sendable, Hashable {
    /// 43 characters of base64url.
    let text: String

    init(_ token: String) {
        text = Base64.encode(Array(SHA256.hash(data: Array(token.utf8))), as: .url)
    }

    /// A key that was written down.
    init(text: String) {
        self.text = text
    }
}
