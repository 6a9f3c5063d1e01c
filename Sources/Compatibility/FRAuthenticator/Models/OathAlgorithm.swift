/// The name of a hash algorithm of one-time codes.
///
/// Codes are made with SHA-1, SHA-256 and SHA-512. The other names exist in the ForgeRock SDK; an enrollment with one of them is
/// refused.
public struct OathAlgorithm: RawRepresentable, ExpressibleByStringLiteral, Sendable, Hashable, Codable {
    /// The name in lowercase letters, for example `sha256`.
    public let rawValue: String

    /// Creates a name from its lowercase letters.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name from its lowercase letters.
    public init(stringLiteral: String) { rawValue = stringLiteral }

    /// SHA-1, the default.
    public static let sha1: OathAlgorithm = "sha1"
    /// SHA-256.
    public static let sha256: OathAlgorithm = "sha256"
    /// SHA-512.
    public static let sha512: OathAlgorithm = "sha512"
    /// MD5, which is not supported.
    public static let md5: OathAlgorithm = "md5"
    /// SHA-224, which is not supported.
    public static let sha224: OathAlgorithm = "sha224"
    /// SHA-384, which is not supported.
    public static let sha384: OathAlgorithm = "sha384"
}
