/// An error that reports an invalid DPoP proof (RFC 9449 section 4.3).
package struct DPoPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    package struct Code: ErrorCode {
        /// The text isn't a signed JWT, or is too long.
        package static let form = Code(rawValue: "form")
        /// The type in the header is not `dpop+jwt`.
        package static let type = Code(rawValue: "type")
        /// The algorithm is not accepted.
        package static let algorithm = Code(rawValue: "algorithm")
        /// The key in the header is missing, can't be used, or is private.
        package static let key = Code(rawValue: "key")
        /// The signature does not match the key.
        package static let signature = Code(rawValue: "signature")
        /// The proof is for another HTTP method (`htm`).
        package static let method = Code(rawValue: "method")
        /// The proof is for another address (`htu`).
        package static let url = Code(rawValue: "url")
        /// The time of issue (`iat`) is missing, too old or in the future.
        package static let issuedAt = Code(rawValue: "issuedAt")
        /// The proof has no ID (`jti`), or one that is too long.
        package static let identifier = Code(rawValue: "identifier")
        /// The proof is for another access token (`ath`), or for none.
        package static let accessToken = Code(rawValue: "accessToken")
        /// The proof needs another nonce of the server.
        package static let nonce = Code(rawValue: "nonce")
        /// A proof with this ID was received before.
        package static let replayed = Code(rawValue: "replayed")

        /// All codes of this version.
        package static let allCases: [Code] = [
            .form, .type, .algorithm, .key, .signature, .method, .url, .issuedAt, .identifier, .accessToken, .nonce, .replayed,
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
    package var description: String {
        switch code {
        case .type: "the type of the DPoP proof is not dpop+jwt"
        case .algorithm: "the algorithm of the DPoP proof is not accepted"
        case .key: "the DPoP proof has no usable public key"
        case .signature: "the signature of the DPoP proof does not match its key"
        case .method: "the DPoP proof is for another HTTP method"
        case .url: "the DPoP proof is for another address"
        case .issuedAt: "the DPoP proof was not issued now"
        case .identifier: "the DPoP proof has no usable jti"
        case .accessToken: "the DPoP proof is not for this access token"
        case .nonce: "the DPoP proof does not have a valid nonce of this server"
        case .replayed: "the DPoP proof was used before"
        default: "the DPoP proof is not a signed JWT"
        }
    }
}
