import Crypto

/// A picture of an account, such as the logo of its issuer.
///
/// It comes from a file of another program and is untrusted: only its size and the first bytes of its format are checked.
public struct AccountIcon: Sendable, Hashable {
    /// The format of a picture, as its media type.
    public enum MediaType: String, Sendable, Hashable, CaseIterable {
        /// A PNG picture.
        case png = "image/png"
        /// A JPEG picture.
        case jpeg = "image/jpeg"
        /// A WebP picture.
        case webP = "image/webp"
        /// An SVG drawing, which may contain scripts and references.
        case svg = "image/svg+xml"
    }

    /// The maximum size of a picture in bytes, which is 256 KiB in base64.
    public static let maxLength = 192 << 10

    /// The id of the picture: the SHA-256 of its bytes in lower-case hexadecimal digits.
    public let id: String
    /// The format of the picture.
    public let type: MediaType
    /// The bytes of the picture.
    public let data: [UInt8]

    /// Creates an icon of a picture, whose format is determined by its content.
    ///
    /// Returns nil when the format is unknown or the picture is larger than ``maxLength``.
    public init?(_ data: [UInt8]) {
        guard data.count <= Self.maxLength, let type = Self.type(of: data) else { return nil }
        id = Hexadecimal.text(of: SHA256.hash(data: data)).lowercased()
        self.type = type
        self.data = data
    }

    private static func type(of data: [UInt8]) -> MediaType? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if data.starts(with: "RIFF".utf8), data.dropFirst(8).starts(with: "WEBP".utf8) { return .webP }
        let text = String(strictUTF8: data)
        return text?.prefix(1_024).contains("<svg") == true ? .svg : nil
    }
}
