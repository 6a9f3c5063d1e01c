public import Foundation
public import SignetCore
public import SignetNetwork
public import SignetStorage

/// The error of a token request or a session operation.
public struct TokenError: RetryableError, Hashable, CustomStringConvertible {
    /// The meaning of the error for the app.
    public struct Code: ErrorCode {
        /// The stored items can't provide a new token any more.
        ///
        /// The user must log in. When a refresh was refused, or the key to which the tokens are bound is lost, ``TokenError/cause``
        /// states the reason.
        public static let loginRequired = Code(rawValue: "loginRequired")
        /// The server requires an interaction with the user before it issues a token, for example a consent or a stronger login.
        ///
        /// The session is valid, or the server didn't request a new one. The stored items were kept. A login in a browser
        /// (``BrowserLogin``) lets the user interact with the server; another journey doesn't help.
        ///
        /// With ``TokenError/Cause/idToken(_:)`` as the cause, the session's ID token doesn't confirm the authentication that the
        /// client requested with `max_age` or `acr_values`. The new tokens were revoked, and no others are requested until a login,
        /// or a journey that meets the request, changes the stored items.
        public static let interactionRequired = Code(rawValue: "interactionRequired")
        /// The server rejected the request.
        ///
        /// The stored items were kept. See ``TokenError/cause``.
        public static let refused = Code(rawValue: "refused")
        /// The check of the ID token failed, and the tokens weren't accepted.
        public static let idTokenRefused = Code(rawValue: "idTokenRefused")
        /// No response arrived, or the response didn't come from the server.
        ///
        /// The stored items were kept. Try again later.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The stored items can't be read or written.
        public static let storage = Code(rawValue: "storage")
        /// A required setting is missing or invalid, for example the address of an endpoint.
        public static let notConfigured = Code(rawValue: "notConfigured")
        /// The caller or the user canceled the operation.
        public static let cancelled = Code(rawValue: "cancelled")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .loginRequired, .interactionRequired, .refused, .idTokenRefused, .unreachable, .storage, .notConfigured, .cancelled,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The cause of the error.
    public enum Cause: Sendable, Hashable, CustomStringConvertible {
        /// The error of the server.
        case server(OAuthError)
        /// The error of the network.
        case network(TransportError)
        /// The error in the ID token.
        case idToken(IDTokenError)
        /// The error of the storage.
        case storage(StoreError)
        /// Any other cause, as text.
        case other(String)

        /// The description of the error.
        public var description: String {
            switch self {
            case .server(let error): error.description
            case .network(let error): error.description
            case .idToken(let error): error.description
            case .storage(let error): error.description
            case .other(let reason): reason
            }
        }
    }

    /// The meaning of the error for the app.
    public let code: Code
    /// The cause of the error; nil when the code contains all information.
    public let cause: Cause?

    /// Creates an error.
    public init(_ code: Code, _ cause: Cause? = nil) {
        self.code = code
        self.cause = cause
    }

    /// True when the same call may succeed later without a change.
    public var isRetryable: Bool {
        switch (code, cause) {
        case (.loginRequired, _), (.interactionRequired, _): false
        case (_, .server(let error)): error.isRetryable
        case (_, .network(let error)): error.isRetryable
        case (_, .storage(let error)): error.isRetryable
        default: false
        }
    }

    /// The time that the server asks the client to wait before the next attempt; nil when the server doesn't state one.
    public var retryAfter: Duration? {
        if case .server(let error) = cause { error.retryAfter } else { nil }
    }

    /// The code and the cause.
    public var description: String {
        code.rawValue + (cause.map { ": \($0)" } ?? "")
    }
}

extension TokenError {
    /// True when the server has no endpoint for the request.
    package var isOfMissingEndpoint: Bool { if case .server(let error) = cause { error.code == .notOffered } else { false } }

    /// Converts an error of any lower layer.
    ///
    /// The errors of a storage or an interceptor may have any type.
    init(_ error: any Error) {
        switch error {
        case let error as TokenError: self = error
        case let error as OAuthError: self.init(Self.code(of: error), .server(error))
        case let error as TransportError: self.init(error.code == .cancelled ? .cancelled : .unreachable, .network(error))
        case let error as IDTokenError: self.init(.idTokenRefused, .idToken(error))
        case let error as StoreError: self.init(.storage, .storage(error))
        case let error as SystemBrowser.CannotOpen: self.init(.notConfigured, .other(error.description))
        case let error as ProfileError: self.init(.notConfigured, .other(error.description))
        case let error as LostKey: self.init(.loginRequired, .other(error.description))
        case is CancellationError: self.init(.cancelled)
        // The error may contain the data on which it failed, so only its type is reported.
        default: self.init(.refused, .other("an error of the app: \(type(of: error))"))
        }
    }

    private static func code(of error: OAuthError) -> Code {
        switch error.code {
        case .notConfigured, .notOffered: .notConfigured
        case .loginRequired, .notRedirected: .loginRequired
        case .interactionRequired, .consentRequired: .interactionRequired
        case _ where error.isRetryable: .unreachable
        default: .refused
        }
    }
}

extension TokenError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
