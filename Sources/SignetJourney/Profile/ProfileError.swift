public import SignetCore

/// Why a profile cannot be used: the setting, and what is wrong with its value. The value itself is not repeated, unless it is a
/// name that cannot be a secret.
public struct ProfileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with a value.
    public enum Fault: Sendable, Hashable {
        /// It is not there, and nothing can be done without it.
        case missing
        /// There is nothing in it.
        case empty
        /// There is no such setting; perhaps the name is misspelt.
        case unknown
        /// It is of another kind than it should be; what it should be, in words.
        case type(expected: String)
        /// It is of the right kind and cannot be; why not, in words.
        case value(String)
        /// It is no address that a password may be sent to.
        case address(EndpointError)
        /// The document as a whole cannot be read; why not, in words.
        case unreadable(String)
        /// The server did not give the document.
        case refused(OAuthError)
    }

    /// The setting, as it is written in a document: `url`, `endpoints.authorize`. Empty for the document itself.
    public let key: String
    /// What is wrong.
    public let fault: Fault
    /// Where it stands, for a document with lines that somebody wrote; nil for others.
    public let place: SourcePosition?

    /// Whether the same may succeed later without anybody doing anything: only where a server was asked.
    public var isRetryable: Bool {
        if case .refused(let error) = fault { error.isRetryable } else { false }
    }

    /// How long the server asks to wait before it is asked again, if it does.
    public var retryAfter: Duration? {
        if case .refused(let error) = fault { error.retryAfter } else { nil }
    }

    /// Both, in words.
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
            }
        return (place.map { "\($0): " } ?? "") + (key.isEmpty ? "the profile \(words)" : "\(key): \(words)")
    }

    package init(_ key: String, _ fault: Fault, at place: SourcePosition? = nil) {
        self.key = key
        self.fault = fault
        self.place = place
    }
}
