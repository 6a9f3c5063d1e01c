/// Text that is not in the encoding it should be in. It says where, never what: the text may be a secret.
public struct InvalidEncoding: Error, Sendable, Hashable, CustomStringConvertible {
    /// The encoding that was expected.
    public enum Encoding: String, Sendable {
        /// RFC 4648 section 6.
        case base32
        /// RFC 4648 sections 4 and 5.
        case base64
    }

    /// The encoding that was expected.
    public let encoding: Encoding
    /// The offset in UTF-8 bytes of the first character that does not fit.
    public let offset: Int

    /// The expected encoding and the offset.
    public var description: String { "not \(encoding.rawValue): the character at offset \(offset) does not fit" }
}
