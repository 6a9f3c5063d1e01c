/// An error that reports an invalid client assertion (RFC 7523 section 3).
package struct ClientAssertionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    package struct Code: ErrorCode {
        /// The text isn't a signed JWT, or is too long.
        package static let form = Code(rawValue: "form")
        /// The algorithm is not accepted.
        package static let algorithm = Code(rawValue: "algorithm")
        /// The client has no key for the assertion.
        package static let key = Code(rawValue: "key")
        /// The signature does not match a key of the client.
        package static let signature = Code(rawValue: "signature")
        /// The issuer (`iss`) and the subject (`sub`) are not one client.
        package static let client = Code(rawValue: "client")
        /// The assertion is for another server (`aud`).
        package static let audience = Code(rawValue: "audience")
        /// The assertion has expired, has no expiry time, or expires too late.
        package static let expired = Code(rawValue: "expired")
        /// The time of issue (`iat`) or the begin (`nbf`) is in the future, or isn't a number.
        package static let notYetValid = Code(rawValue: "notYetValid")
        /// The assertion has no ID (`jti`), or one that is too long.
        package static let identifier = Code(rawValue: "identifier")
        /// An assertion with this ID was received before.
        package static let replayed = Code(rawValue: "replayed")

        /// All codes of this version.
        package static let allCases: [Code] = [
            .form, .algorithm, .key, .signature, .client, .audience, .expired, .notYetValid, .identifier, .replayed,
        ]

        /// The name of the code, for logs and scripts.
        package let rawValue: String

        /// Creates a code from its name.
        package init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    package let code: Code

    /// Creates an error.
    package init(_ code: Code) { self.code = code }

    /// A description of the error.
    package var description: String { "the client assertion was refused: \(code.rawValue)" }
}
