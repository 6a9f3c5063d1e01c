public import SignetCore

/// The error for a profile that can't be used: the setting, and the fault of its value.
///
/// It contains the value only when the value is a name that can't be a secret.
public struct ProfileError: RetryableError, Hashable, CustomStringConvertible {
    /// The fault of a value.
    public enum Fault: Sendable, Hashable {
        /// A required setting is missing.
        case missing
        /// The value is empty.
        case empty
        /// The setting is unknown. Its name may be misspelled.
        case unknown
        /// The value has the wrong type. The text describes the expected type.
        case type(expected: String)
        /// The value has the right type but isn't allowed. The text states the reason.
        case value(String)
        /// The address is invalid, or may not receive a password.
        case address(EndpointError)
        /// The document can't be read. The text states the reason.
        case unreadable(String)
        /// The server didn't return the discovery document.
        case refused(OAuthError)
        /// The issuer in the discovery document isn't the expected one: the document may be that of another tenant of the server
        /// (OpenID Connect Discovery section 4.3, RFC 8414 section 3.3).
        ///
        /// Nil for `expected` when neither the profile names an issuer nor the document's address contains it.
        case issuer(expected: String?, received: String)
    }

    /// The name of the setting as in a document: `url`, `endpoints.authorize`.
    ///
    /// Empty for the document itself.
    public let key: String
    /// The kind of error.
    public let fault: Fault
    /// The position of the setting in a text document; nil for other sources.
    public let position: SourcePosition?

    /// True when the same call may succeed later without a change.
    ///
    /// Only the errors of a server can be retryable.
    public var isRetryable: Bool {
        if case .refused(let error) = fault { error.isRetryable } else { false }
    }

    /// The time that the server asks the client to wait before the next request; nil when the server doesn't state one.
    public var retryAfter: Duration? {
        if case .refused(let error) = fault { error.retryAfter } else { nil }
    }

    /// The description of the key and the fault.
    public var description: String {
        let words =
            switch fault {
            case .missing: "is missing"
            case .empty: "is empty"
            case .unknown: "is no setting of a server profile"
            case .type(let expected): "must be \(expected)"
            case .value(let reason): reason
            case .address(let error): error.description
            case .unreadable(let reason): reason
            case .refused(let error): error.description
            case .issuer(let expected?, let received):
                "is \(received.prefix(200)), but \(expected.prefix(200)) was expected; use the address that the provider gives "
                    + "itself, or set issuer"
            case .issuer(nil, let received):
                "is \(received.prefix(200)), and the address of the document does not contain the issuer; set issuer"
            }
        return (position.map { "\($0): " } ?? "") + (key.isEmpty ? "the profile \(words)" : "\(key): \(words)")
    }

    package init(_ key: String, _ fault: Fault, at position: SourcePosition? = nil) {
        self.key = key
        self.fault = fault
        self.position = position
    }
}
