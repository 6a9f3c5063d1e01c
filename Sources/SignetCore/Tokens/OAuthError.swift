#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error of an OAuth 2.0 request, with the server's error name and explanation if it sent them.
public struct OAuthError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error. The raw values of errors that a server sends are their registered names (RFC 6749, 6750, 7009,
    /// 8628, OpenID Connect).
    public enum Code: String, Sendable, CaseIterable {
        /// The request is invalid for the server.
        case invalidRequest = "invalid_request"
        /// The server does not know the client, or client authentication failed.
        case invalidClient = "invalid_client"
        /// The code or the refresh token was used, was revoked or has expired. The grant has ended.
        case invalidGrant = "invalid_grant"
        /// The client is not allowed to make this request.
        case unauthorizedClient = "unauthorized_client"
        /// The server does not support the grant type.
        case unsupportedGrantType = "unsupported_grant_type"
        /// The server does not support the response type.
        case unsupportedResponseType = "unsupported_response_type"
        /// The scope is unknown, or exceeds the granted scope.
        case invalidScope = "invalid_scope"
        /// The server rejects the access token.
        case invalidToken = "invalid_token"
        /// The user or a policy denied access.
        case accessDenied = "access_denied"
        /// The user must log in.
        case loginRequired = "login_required"
        /// The user must interact with the server.
        case interactionRequired = "interaction_required"
        /// The user must consent.
        case consentRequired = "consent_required"
        /// The user has not completed the login on the other device.
        case authorizationPending = "authorization_pending"
        /// The client polls too often.
        case slowDown = "slow_down"
        /// The device login expired before the user completed it on the other device.
        case expiredToken = "expired_token"
        /// The server had an internal error.
        case serverError = "server_error"
        /// The server is overloaded or under maintenance.
        case temporarilyUnavailable = "temporarily_unavailable"
        /// The server sent an error name that no specification defines; see ``OAuthError/name``.
        case other
        /// The server or a gateway failed with a 5xx status, a timeout (408) or too many requests (429), and without a retryable
        /// OAuth 2.0 error.
        case failed
        /// The response isn't an OAuth 2.0 response, for example a captive portal page or a truncated response.
        case unreadable
        /// The server did not redirect to the client, most likely because it shows a login page.
        case notRedirected
        /// The answer does not have the state of this request: it belongs to another request or is forged.
        case stateMismatch
        /// The answer comes from another server (RFC 9207).
        case issuerMismatch
        /// The answer has neither a code nor an error.
        case noCode
        /// The client's configuration of the server lacks a required value.
        case notConfigured
        /// The server does not offer the operation: neither the app nor the server's metadata has an address for it.
        case notOffered
    }

    /// The kind of the error.
    public let code: Code
    /// The HTTP status; nil when the error did not come with a status.
    public let status: Int?
    /// The error name, as the server wrote it.
    public let name: String?
    /// The server's explanation.
    public let explanation: String?
    /// The time that the server asks to wait before the next request (`Retry-After`).
    public let retryAfter: Duration?

    /// Creates an error.
    public init(
        _ code: Code, status: Int? = nil, name: String? = nil, explanation: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.status = status
        self.name = name
        self.explanation = explanation
        self.retryAfter = retryAfter
    }

    /// A Boolean value that indicates whether the same request may succeed later without any change.
    public var isRetryable: Bool {
        switch code {
        case .serverError, .temporarilyUnavailable, .slowDown, .authorizationPending, .failed: true
        // A success or redirect status without a readable response comes from a captive portal or a truncated response, which are
        // temporary. With any other status the page is the answer of a server, and a retry does not help.
        case .unreadable: status.map { (200..<400).contains($0) } ?? true
        default: false
        }
    }

    /// A Boolean value that indicates whether a token endpoint reported that the grant has ended. No other error ends a grant: a
    /// status alone may come from a gateway, and an unreadable response from any host.
    package var endsGrant: Bool {
        code == .invalidGrant && status.map { (400..<500).contains($0) } ?? false
    }

    /// A Boolean value that indicates whether the server rejected the refresh token without reporting that the grant has ended:
    /// OpenAM reports an unknown refresh token as an invalid request, and Glewlwyd sends status 400 without an error name.
    package var refusesRefreshToken: Bool {
        code == .invalidRequest || code == .unreadable && status == 400
    }

    /// The error name, the status and the explanation.
    public var description: String {
        let word = name ?? code.rawValue
        return word + (status.map { " (HTTP \($0))" } ?? "") + (explanation.map { ": \($0)" } ?? "")
    }
}

extension OAuthError {
    /// Creates the error for an error name of the server. An unknown name becomes `other`.
    package init(
        name: String, explanation: String?, status: Int?, retryAfter: Duration? = nil
    ) {
        // A server must not send the names of errors that only the client reports.
        let ours: Set<Code> = [
            .other, .failed, .unreadable, .notRedirected, .stateMismatch, .issuerMismatch, .noCode, .notConfigured,
            .notOffered,
        ]
        let known = Code(rawValue: name).flatMap { ours.contains($0) ? nil : $0 } ?? .other
        self.init(
            known, status: status, name: Self.plain(name), explanation: explanation.map(Self.plain), retryAfter: retryAfter)
    }

    /// Returns the text without control characters that could affect a terminal, limited to 300 characters.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { String($0).isSafeToShow }.prefix(300)))
    }
}
