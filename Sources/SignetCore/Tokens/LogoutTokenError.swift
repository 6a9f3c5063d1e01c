/// An error that reports an invalid logout token, or the reason for which a token can't be checked now (OpenID Connect Back-Channel
/// Logout 1.0 section 2.6).
public struct LogoutTokenError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of the error.
    ///
    /// Its raw value appears in descriptions.
    public struct Code: ErrorCode {
        /// The body isn't a form with one `logout_token`, or it is too long.
        public static let request = Code(rawValue: "request")
        /// The token isn't a signed JWT.
        public static let form = Code(rawValue: "form")
        /// The token is unsigned, or signed with an algorithm that is not accepted.
        public static let algorithm = Code(rawValue: "algorithm")
        /// The type in the header (`typ`) is that of another kind of token.
        public static let type = Code(rawValue: "type")
        /// The signature does not match any of the provider's keys.
        public static let signature = Code(rawValue: "signature")
        /// The issuer (`iss`) is another server.
        public static let issuer = Code(rawValue: "issuer")
        /// The audience (`aud`) does not contain this client, or contains another one that isn't trusted.
        public static let audience = Code(rawValue: "audience")
        /// The token has expired, or has no expiry time.
        public static let expired = Code(rawValue: "expired")
        /// The token's `iat` or `nbf` is in the future: the provider's clock or this machine's clock is wrong.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The token has no `iat`, or was issued too long ago.
        public static let issuedAt = Code(rawValue: "issuedAt")
        /// The token has another purpose than a logout: `events` does not contain the logout as an object.
        public static let event = Code(rawValue: "event")
        /// The token has a nonce, as an ID token.
        public static let nonce = Code(rawValue: "nonce")
        /// The token has neither a subject nor a session ID, or one of them can't be used.
        public static let subject = Code(rawValue: "subject")
        /// The token has no ID (`jti`).
        public static let identifier = Code(rawValue: "identifier")
        /// A token with this ID was received before, and its sessions have ended.
        public static let replayed = Code(rawValue: "replayed")
        /// The provider's keys or its issuer are not available, the memory of received tokens failed, or the same token is being
        /// answered.
        ///
        /// The token can be sent again. When the memory failed at the end, the sessions have ended already.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The memory of received tokens has no space left.
        ///
        /// The token is valid, and was neither accepted nor remembered.
        public static let memoryFull = Code(rawValue: "memoryFull")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .request, .form, .algorithm, .type, .signature, .issuer, .audience, .expired, .notYetValid, .issuedAt, .event, .nonce,
            .subject, .identifier, .replayed, .unavailable, .memoryFull,
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
    /// True when the same token may be accepted later without a change by the app.
    public let isRetryable: Bool

    /// Creates an error.
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - explanation: The cause, without secrets; nil when the code contains all information.
    ///   - isRetryable: True when the same token may be accepted later.
    public init(_ code: Code, explanation: String? = nil, isRetryable: Bool = false) {
        self.code = code
        self.explanation = explanation
        self.isRetryable = isRetryable
    }

    /// A description of the error.
    public var description: String {
        "the logout token was refused: \(code.rawValue)" + (explanation.map { ": \($0)" } ?? "")
    }
}
