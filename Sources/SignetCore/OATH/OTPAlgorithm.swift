/// The hash function of the HMAC of a one-time code (RFC 6238 section 1.2).
public enum OTPAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC-SHA-1, the default.
    case sha1 = "SHA1"
    /// HMAC-SHA-256.
    case sha256 = "SHA256"
    /// HMAC-SHA-512.
    case sha512 = "SHA512"

    /// Parses the common spellings: any case, with or without the prefix `Hmac` and hyphens.
    ///
    /// Returns nil for any other algorithm.
    public init?(spelling: String) {
        let letters = spelling.uppercased().filter { $0 != "-" }
        self.init(rawValue: letters.hasPrefix("HMAC") ? String(letters.dropFirst(4)) : letters)
    }
}
