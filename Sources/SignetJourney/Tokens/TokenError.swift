public import SignetCore
public import SignetNetwork
public import SignetStorage

/// Why there is no token, or why something about the session could not be done.
public struct TokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What that means for the app.
    public enum Code: String, Sendable, CaseIterable {
        /// Nothing that is stored gets a token any more: the person has to log in.
        case loginRequired
        /// The server wants something of the person before it gives a token: a consent, for example, or a stronger login. The session
        /// lives, or the server did not ask for another; what is stored was kept. A login in a browser (``BrowserLogin``) shows the
        /// person what is wanted; another journey does not.
        case interactionRequired
        /// The server refused; what is stored was kept. See ``TokenError/cause``.
        case refused
        /// What the server signed does not hold; it was not taken.
        case idTokenRefused
        /// No answer came, or none of the server's; what is stored was kept. Ask again later.
        case unreachable
        /// What is stored cannot be read or written.
        case storage
        /// The address that is needed is not known.
        case notConfigured
        /// The caller, or the person, gave up.
        case cancelled
    }

    /// What it comes from.
    public enum Cause: Sendable, Hashable {
        /// The server's word.
        case server(OAuthError)
        /// The network.
        case network(TransportError)
        /// The id_token.
        case idToken(IDTokenError)
        /// The storage.
        case storage(StoreError)
        /// Something else, in words.
        case other(String)
    }

    /// What that means for the app.
    public let code: Code
    /// What it comes from; nil when the code says it all.
    public let cause: Cause?

    /// An error as given.
    public init(_ code: Code, _ cause: Cause? = nil) {
        self.code = code
        self.cause = cause
    }

    /// Whether the same call may succeed later without anybody doing anything.
    public var isRetryable: Bool {
        switch (code, cause) {
        case (.loginRequired, _), (.interactionRequired, _): false
        case (_, .server(let error)): error.isRetryable
        case (_, .network(let error)): error.isRetryable
        case (_, .storage(let error)): error.isRetryable
        default: false
        }
    }

    /// How long the server asks to wait before the next attempt, if it does.
    public var retryAfter: Duration? {
        if case .server(let error) = cause { error.retryAfter } else { nil }
    }

    /// The code, and what it comes from.
    public var description: String {
        let cause: String? =
            switch cause {
            case .server(let error): error.description
            case .network(let error): error.description
            case .idToken(let error): error.description
            case .storage(let error): error.description
            case .other(let reason): reason
            case nil: nil
            }
        return code.rawValue + (cause.map { ": \($0)" } ?? "")
    }
}

extension TokenError {
    /// What an error of any of the parts below means; the storage's and an interceptor's may be of any type.
    init(_ error: any Error) {
        switch error {
        case let error as TokenError: self = error
        case let error as OAuthError: self.init(Self.code(of: error), .server(error))
        case let error as TransportError: self.init(error.code == .cancelled ? .cancelled : .unreachable, .network(error))
        case let error as IDTokenError: self.init(.idTokenRefused, .idToken(error))
        case let error as StoreError: self.init(.storage, .storage(error))
        case let error as SystemBrowser.CannotOpen: self.init(.notConfigured, .other(error.description))
        case let error as ProfileError: self.init(.notConfigured, .other(error.description))
        case is CancellationError: self.init(.cancelled)
        // It may quote what it failed on.
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
