public import Foundation
import SignetCore
package import SignetOAuth

/// The error of a token request.
///
/// The messages contain no tokens and no response bodies.
public enum OidcError: LocalizedError, Sendable {
    /// The user must log in, or must interact with the server.
    case authorizeError(cause: (any Error)? = nil, message: String? = nil)
    /// No response of the server arrived.
    case networkError(cause: (any Error)? = nil, message: String? = nil)
    /// The server rejected the request with this HTTP status.
    case apiError(code: Int, message: String)
    /// Any other error, for example of the storage or of a setting.
    case unknown(cause: (any Error)? = nil, message: String? = nil)

    /// The kind of error and its reason.
    public var errorMessage: String {
        func reason(_ cause: (any Error)?, _ message: String?) -> String {
            message ?? cause.map { "\($0)" } ?? "no reason is known"
        }
        return switch self {
        case .authorizeError(let cause, let message): "The authorization failed: \(reason(cause, message))"
        case .networkError(let cause, let message): "The server can't be reached: \(reason(cause, message))"
        case .apiError(let code, let message): "The server rejected the request with status \(code): \(message)"
        case .unknown(let cause, let message): "The request failed: \(reason(cause, message))"
        }
    }

    /// The value of ``errorMessage``.
    public var errorDescription: String? { errorMessage }
}

extension OidcError {
    /// Creates an error from one of the engine.
    package init(_ error: TokenError) {
        switch (error.code, error.cause) {
        case (.loginRequired, _), (.interactionRequired, _), (.idTokenRefused, _), (.cancelled, _):
            self = .authorizeError(cause: error, message: error.description)
        case (.refused, .server(let refusal)?):
            if let status = refusal.status {
                self = .apiError(code: status, message: refusal.description)
            } else {
                self = .authorizeError(cause: error, message: error.description)
            }
        case (.unreachable, _): self = .networkError(cause: error, message: error.description)
        default: self = .unknown(cause: error, message: error.description)
        }
    }

    /// Creates an error from any error of the engine.
    package init(any error: any Error) {
        switch error {
        case let error as OidcError: self = error
        case let error as TokenError: self.init(error)
        default: self = .unknown(cause: error)
        }
    }
}
