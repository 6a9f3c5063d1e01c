public import Foundation
public import SignetCore

/// The error for a profile that can't be used: the setting, and the fault of its value.
///
/// It contains the value only when the value is a name that can't be a secret.
public struct ProfileError: RetryableError, Hashable, CustomStringConvertible {
    /// The fault of a value.
    public struct Fault: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a fault.
        public struct Code: ErrorCode {
            /// A required setting is missing.
            public static let missing = Code(rawValue: "missing")
            /// The value is empty.
            public static let empty = Code(rawValue: "empty")
            /// The setting is unknown.
            ///
            /// Its name may be misspelled.
            public static let unknown = Code(rawValue: "unknown")
            /// The value has the wrong type.
            public static let type = Code(rawValue: "type")
            /// The value has the right type but isn't allowed.
            public static let value = Code(rawValue: "value")
            /// The address is invalid, or may not receive a password; see ``Fault/address``.
            public static let address = Code(rawValue: "address")
            /// The document can't be read.
            public static let unreadable = Code(rawValue: "unreadable")
            /// The server didn't return the discovery document; see ``Fault/refusal``.
            public static let refused = Code(rawValue: "refused")
            /// The issuer in the discovery document isn't the expected one: the document may be that of another tenant of the server
            /// (OpenID Connect Discovery section 4.3, RFC 8414 section 3.3).
            public static let issuer = Code(rawValue: "issuer")

            /// All codes of this version.
            public static let allCases: [Code] = [
                .missing, .empty, .unknown, .type, .value, .address, .unreadable, .refused, .issuer,
            ]

            /// The name of the code, for logs and scripts.
            public let rawValue: String

            /// Creates a code from its name.
            public init(rawValue: String) { self.rawValue = rawValue }
        }

        /// The kind of the fault.
        public let code: Code
        /// The fault, after the name of the setting.
        public let description: String
        /// The error of the address, for ``Code/address``.
        public let address: EndpointError?
        /// The error of the server, for ``Code/refused``.
        public let refusal: OAuthError?

        private init(_ code: Code, _ description: String, address: EndpointError? = nil, refusal: OAuthError? = nil) {
            self.code = code
            self.description = description
            self.address = address
            self.refusal = refusal
        }

        package static let missing = Fault(.missing, "is missing")
        package static let empty = Fault(.empty, "is empty")
        package static let unknown = Fault(.unknown, "is not a setting of a server profile")
        package static func type(expected: String) -> Fault { Fault(.type, "must be \(expected)") }
        package static func value(_ reason: String) -> Fault { Fault(.value, reason) }
        package static func address(_ error: EndpointError) -> Fault { Fault(.address, error.description, address: error) }
        package static func unreadable(_ reason: String) -> Fault { Fault(.unreadable, reason) }
        package static func refused(_ error: OAuthError) -> Fault { Fault(.refused, error.description, refusal: error) }

        /// Returns the fault of a discovery document.
        ///
        /// Nil for `expected` when neither the profile names an issuer nor the document's address contains it.
        package static func issuer(expected: String?, received: String) -> Fault {
            let remedy =
                expected.map {
                    "but \($0.prefix(200)) was expected; use the address that the provider gives itself, or set issuer"
                } ?? "and the address of the document does not contain the issuer; set issuer"
            return Fault(.issuer, "is \(received.prefix(200)), \(remedy)")
        }
    }

    /// The name of the setting as in a document: `url`, `endpoints.authorize`.
    ///
    /// Empty for the document itself.
    public let key: String
    /// The fault of the value.
    public let fault: Fault
    /// The position of the setting in a text document; nil for other sources.
    public let position: SourcePosition?

    /// True when the same call may succeed later without a change.
    ///
    /// Only the errors of a server can be retryable.
    public var isRetryable: Bool { fault.refusal?.isRetryable ?? false }

    /// The time that the server asks the client to wait before the next request; nil when the server doesn't state one.
    public var retryAfter: Duration? { fault.refusal?.retryAfter }

    /// The description of the key and the fault.
    public var description: String {
        (position.map { "\($0): " } ?? "") + (key.isEmpty ? "the profile \(fault)" : "\(key): \(fault)")
    }

    package init(_ key: String, _ fault: Fault, at position: SourcePosition? = nil) {
        self.key = key
        self.fault = fault
        self.position = position
    }
}

extension ProfileError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
