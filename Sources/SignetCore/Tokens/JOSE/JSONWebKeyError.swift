/// An error that reports a key that can't be used (RFC 7517).
///
/// It contains no part of the key.
public struct JSONWebKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public struct Code: ErrorCode {
        /// The value isn't an object, or a member has the wrong type.
        public static let form = Code(rawValue: "form")
        /// The key type or the curve is not one of this version.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The key has a private member, or is a symmetric key.
        public static let privateKey = Code(rawValue: "privateKey")
        /// A number of the key is missing, isn't base64url without padding, has the wrong length, or is not on the curve.
        public static let number = Code(rawValue: "number")
        /// The RSA key has fewer than 2048 bits or more than 8192 bits.
        public static let size = Code(rawValue: "size")
        /// The members `use`, `key_ops` or `alg` don't allow the verification of signatures with this key.
        public static let purpose = Code(rawValue: "purpose")

        /// All codes of this version.
        public static let allCases: [Code] = [.form, .unsupported, .privateKey, .number, .size, .purpose]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code

    /// Creates an error.
    public init(_ code: Code) { self.code = code }

    /// A description of the error.
    public var description: String {
        switch code {
        case .unsupported: "the key is not an EC P-256, OKP Ed25519 or RSA key"
        case .privateKey: "the key is private or symmetric, and must be public"
        case .number: "a number of the key is missing or invalid"
        case .size: "the RSA key does not have 2048 to 8192 bits"
        case .purpose: "the key is not for signatures"
        default: "the key is not a JSON Web Key"
        }
    }
}
