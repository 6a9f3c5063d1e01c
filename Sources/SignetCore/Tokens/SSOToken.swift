import Crypto

/// The session that a finished journey gives: AM's SSO token, which is the value of its session cookie.
public struct SSOToken: Sendable, Hashable {
    /// The token.
    public let value: Secret
    /// Where the server would send a browser.
    public let successURL: String?
    /// The realm, with a slash in front.
    public let realm: String?

    /// A token as given.
    public init(value: Secret, successURL: String? = nil, realm: String? = nil) {
        self.value = value
        self.successURL = successURL
        self.realm = realm
    }
}

extension SSOToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, successUrl, realm
    }

    /// Reads a stored token.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            value: Secret(text: try members.decode(String.self, forKey: .value)),
            successURL: try members.decodeIfPresent(String.self, forKey: .successUrl),
            realm: try members.decodeIfPresent(String.self, forKey: .realm))
    }

    /// Writes the token **in the clear**, for a storage that seals what it is given.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(value.text, forKey: .value)
        try members.encodeIfPresent(successURL, forKey: .successUrl)
        try members.encodeIfPresent(realm, forKey: .realm)
    }
}

/// Which session an access token came from: the SHA-256 of the SSO token, so that no second copy of it lies about.
package struct SessionIdentity: Sendable, Hashable {
    /// The digest, base64url.
    package let digest: String

    package init(digest: String) { self.digest = digest }

    /// The identity of a session.
    package init(_ token: SSOToken) {
        digest = Base64.encode(token.value.withUnsafeBytes { Array(SHA256.hash(data: $0)) }, as: .url)
    }
}
