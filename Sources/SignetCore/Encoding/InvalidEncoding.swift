/// An error that reports text with an invalid encoding.
///
/// It has the offset and never the text, which may be a secret.
public struct InvalidEncoding: Error, Sendable, Hashable, CustomStringConvertible {
    /// The encoding that was expected.
    public enum Encoding: String, Sendable {
        /// Base32, RFC 4648 section 6.
        case base32
        /// Base64, RFC 4648 sections 4 and 5.
        case base64
    }

    /// The encoding that was expected.
    public let encoding: Encoding
    /// The offset in UTF-8 bytes of the first invalid character.
    public let offset: Int

    /// The expected encoding and the offset.
    public var description: String { "not \(encoding.rawValue): the character at offset \(offset) does not fit" }
}
