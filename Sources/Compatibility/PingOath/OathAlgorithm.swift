import SignetCore

/// The hash function of the HMAC of a one-time code.
public enum OathAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    /// HMAC-SHA-1, the default.
    case sha1 = "SHA1"
    /// HMAC-SHA-256.
    case sha256 = "SHA256"
    /// HMAC-SHA-512.
    case sha512 = "SHA512"

    /// Returns the algorithm with this name, ignoring case.
    /// - Throws: ``OathError/invalidAlgorithm(_:)``.
    public static func fromString(_ name: String) throws(OathError) -> OathAlgorithm {
        guard let algorithm = OTPAlgorithm(spelling: name) else { throw .invalidAlgorithm("not SHA1, SHA256 or SHA512") }
        return OathAlgorithm(algorithm)
    }

    init(_ algorithm: OTPAlgorithm) {
        self =
            switch algorithm {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
    }

    var core: OTPAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}
