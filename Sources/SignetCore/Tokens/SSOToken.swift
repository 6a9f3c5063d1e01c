import Crypto

/// The session that a completed journey gives: AM's SSO token, which is the value of its session cookie.
public struct SSOToken: Sendable, Hashable {
    /// The token.
    public let value: Secret
    /// The address to which the server would redirect a browser.
    public let successURL: String?
    /// The realm, with a leading slash.
    public let realm: String?
    /// The variant of the protocol that the server's answers have shown; nil when they have shown none.
    ///
    /// It is stored for the next process. A replaced or ended session takes it along.
    package var dialect: String?

    /// Creates a token.
    public init(value: Secret, successURL: String? = nil, realm: String? = nil) {
        self.value = value
        self.successURL = successURL
        self.realm = realm
    }
}

extension SSOToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, successUrl, realm, dialect
    }

    /// Reads a stored token.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            value: Secret(text: try members.decode(String.self, forKey: .value)),
            successURL: try members.decodeIfPresent(String.self, forKey: .successUrl),
            realm: try members.decodeIfPresent(String.self, forKey: .realm))
        dialect = try members.decodeIfPresent(String.self, forKey: .dialect)
    }

    /// Writes the token **in plain text**, for a storage that seals its content.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(value.text, forKey: .value)
        try members.encodeIfPresent(successURL, forKey: .successUrl)
        try members.encodeIfPresent(realm, forKey: .realm)
        try members.encodeIfPresent(dialect, forKey: .dialect)
    }
}

/// The identity of the session from which an access token was obtained.
///
/// It is the SHA-256 of the SSO token, so that the token is not stored twice.
package struct SessionIdentity: Sendable, Hashable {
    /// The digest in base64url.
    package let digest: String

    package init(digest: String) { self.digest = digest }

    /// Creates the identity of a session.
    package init(_ token: SSOToken) {
        digest = Base64.encode(token.value.withUnsafeBytes { Array(SHA256.hash(data: $0)) }, as: .url)
    }
}
