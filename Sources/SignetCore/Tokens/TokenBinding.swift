/// The key to which tokens are bound (RFC 9449), as it is stored with them.
///
/// It is a part of the record of the tokens, so the same write stores, replaces and removes both.
package struct TokenBinding: Sendable, Hashable {
    /// The reference of the signing key.
    ///
    /// For a key in software it contains the private half.
    package let key: Secret
    /// The nonces that servers have asked for, by their origins.
    package var nonces: [String: String]

    /// The maximum number of origins whose nonces are stored.
    private static let maxNonces = 16

    /// Creates a binding.
    /// - Parameters:
    ///   - key: The reference of the signing key.
    ///   - nonces: The nonces by origin. At most 16 of them are kept.
    package init(key: Secret, nonces: [String: String] = [:]) {
        self.key = key
        let kept = nonces.sorted { $0.key < $1.key }.prefix(Self.maxNonces)
        self.nonces = Dictionary(kept.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }
}

extension TokenBinding: Codable {
    private enum CodingKeys: String, CodingKey {
        case key
        case nonces
    }

    /// Reads a stored binding.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let text = try members.decode(String.self, forKey: .key)
        guard let bytes = try? Base64.decodeURL(text) else {
            throw DecodingError.dataCorruptedError(forKey: .key, in: members, debugDescription: "the key is not base64url")
        }
        self.init(key: Secret(bytes), nonces: try members.decodeIfPresent([String: String].self, forKey: .nonces) ?? [:])
    }

    /// Writes the reference of the key **in plain text**, for a storage that seals its content.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(Base64.encode(key.bytes, as: .url), forKey: .key)
        if !nonces.isEmpty { try members.encode(nonces, forKey: .nonces) }
    }
}
