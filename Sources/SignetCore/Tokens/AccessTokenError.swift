/// An error that reports a request without a valid access token, or the reason for which a token can't be checked now (RFC 6750
/// section 3.1, RFC 9449 section 7.1).
public struct AccessTokenError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of the error.
    ///
    /// Its raw value appears in descriptions.
    public struct Code: ErrorCode {
        /// The request has no access token.
        public static let missing = Code(rawValue: "missing")
        /// The request has several access tokens, or one in a form that no specification defines.
        public static let request = Code(rawValue: "request")
        /// The token isn't a signed JWT.
        public static let form = Code(rawValue: "form")
        /// The token is unsigned, or signed with an algorithm that is not accepted.
        public static let algorithm = Code(rawValue: "algorithm")
        /// The token has another type than that of an access token.
        public static let type = Code(rawValue: "type")
        /// The signature does not match any of the provider's keys.
        public static let signature = Code(rawValue: "signature")
        /// The issuer (`iss`) is another server.
        public static let issuer = Code(rawValue: "issuer")
        /// The token is for another audience (`aud`).
        public static let audience = Code(rawValue: "audience")
        /// The token has expired, or has no expiry time.
        public static let expired = Code(rawValue: "expired")
        /// The token is not valid yet: the provider's clock or this machine's clock is wrong, or the token begins later.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// A required claim is missing or of another type.
        public static let claims = Code(rawValue: "claims")
        /// The provider does not know the token, or it was revoked or has expired there.
        public static let inactive = Code(rawValue: "inactive")
        /// The token lacks a scope that the request needs.
        public static let scope = Code(rawValue: "scope")
        /// The token is bound to a key that the request does not prove to have, or the service requires a bound token.
        public static let binding = Code(rawValue: "binding")
        /// The DPoP proof is missing or not valid for this request.
        public static let proof = Code(rawValue: "proof")
        /// The DPoP proof has no nonce of this service, or an old one.
        public static let nonce = Code(rawValue: "nonce")
        /// The DPoP proof was received before.
        public static let replayed = Code(rawValue: "replayed")
        /// The provider's keys or its introspection endpoint are not available, or the memory of proofs failed.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The memory of received proofs has no space left.
        public static let memoryFull = Code(rawValue: "memoryFull")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .missing, .request, .form, .algorithm, .type, .signature, .issuer, .audience, .expired, .notYetValid, .claims,
            .inactive, .scope, .binding, .proof, .nonce, .replayed, .unavailable, .memoryFull,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The cause, for logs; nil when the code contains all information.
    public let explanation: String?
    /// True when the same request may succeed later without a change by the client.
    public let isRetryable: Bool

    /// Creates an error.
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - explanation: The cause, without secrets; nil when the code contains all information.
    ///   - isRetryable: True when the same request may succeed later.
    public init(_ code: Code, explanation: String? = nil, isRetryable: Bool = false) {
        self.code = code
        self.explanation = explanation
        self.isRetryable = isRetryable
    }

    /// A description of the error.
    public var description: String {
        "the access token was refused: \(code.rawValue)" + (explanation.map { ": \($0)" } ?? "")
    }
}
