#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error of an OAuth 2.0 request, with the server's error name and explanation if it sent them.
public struct OAuthError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of the error.
    ///
    /// The raw values of errors that a server sends are their registered names (RFC 6749, 6750, 7009, 8628, 9449, OpenID Connect).
    public struct Code: ErrorCode {
        /// The request is invalid for the server.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The server does not know the client, or client authentication failed.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code or the refresh token was used, was revoked or has expired.
        ///
        /// The grant has ended.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client is not allowed to make this request.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server does not support the grant type.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The server does not support the response type.
        public static let unsupportedResponseType = Code(rawValue: "unsupported_response_type")
        /// The scope is unknown, or exceeds the granted scope.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The server rejects the access token.
        public static let invalidToken = Code(rawValue: "invalid_token")
        /// The user or a policy denied access.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The user must log in.
        public static let loginRequired = Code(rawValue: "login_required")
        /// The user must interact with the server.
        public static let interactionRequired = Code(rawValue: "interaction_required")
        /// The user must consent.
        public static let consentRequired = Code(rawValue: "consent_required")
        /// The user has not completed the login on the other device.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The client polls too often.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The device login expired before the user completed it on the other device.
        public static let expiredToken = Code(rawValue: "expired_token")
        /// The proof of possession must contain a nonce of the server, which the response has (RFC 9449 section 8).
        public static let useDPoPNonce = Code(rawValue: "use_dpop_nonce")
        /// The server refused the proof of possession (RFC 9449 section 5).
        public static let invalidDPoPProof = Code(rawValue: "invalid_dpop_proof")
        /// The server does not know the user of the login hint (OpenID Connect CIBA section 13).
        public static let unknownUserID = Code(rawValue: "unknown_user_id")
        /// The message is too long or has characters that the server does not accept (OpenID Connect CIBA section 13).
        public static let invalidBindingMessage = Code(rawValue: "invalid_binding_message")
        /// The server had an internal error.
        public static let serverError = Code(rawValue: "server_error")
        /// The server is overloaded or under maintenance.
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")
        /// The server sent an error name that no specification defines; see ``OAuthError/name``.
        public static let other = Code(rawValue: "other")
        /// The server or a gateway failed with a 5xx status, a timeout (408) or too many requests (429), and without a retryable
        /// OAuth 2.0 error.
        public static let failed = Code(rawValue: "failed")
        /// The response isn't an OAuth 2.0 response, for example a captive portal page or a truncated response, or it is an
        /// authorization response with an invalid percent-encoding.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The response is JSON in which a name occurs twice in an object (RFC 8259 section 4), or an authorization response in
        /// which a parameter occurs twice (RFC 6749 section 3.1), so that readers disagree about its meaning.
        public static let repeatedMember = Code(rawValue: "repeatedMember")
        /// The token response has a token of a type other than Bearer, or other than DPoP after a request with a proof of possession
        /// (RFC 6749 section 7.1, RFC 9449 section 5), or a token with characters other than visible ASCII (RFC 6749 appendix A).
        public static let unusableToken = Code(rawValue: "unusableToken")
        /// The server did not redirect to the client, most likely because it shows a login page.
        public static let notRedirected = Code(rawValue: "notRedirected")
        /// The answer does not have the state of this request: it belongs to another request or is forged.
        public static let stateMismatch = Code(rawValue: "stateMismatch")
        /// The answer comes from another server (RFC 9207), or the discovery document is that of another issuer (OpenID Connect
        /// Discovery section 4.3).
        public static let issuerMismatch = Code(rawValue: "issuerMismatch")
        /// The answer has neither a code nor an error.
        public static let noCode = Code(rawValue: "noCode")
        /// The client's configuration of the server lacks a required value.
        public static let notConfigured = Code(rawValue: "notConfigured")
        /// The server does not offer the operation: neither the app nor the server's metadata has an address for it.
        public static let notOffered = Code(rawValue: "notOffered")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .unsupportedResponseType,
            .invalidScope, .invalidToken, .accessDenied, .loginRequired, .interactionRequired, .consentRequired,
            .authorizationPending, .slowDown, .expiredToken, .useDPoPNonce, .invalidDPoPProof, .unknownUserID,
            .invalidBindingMessage, .serverError, .temporarilyUnavailable, .other, .failed, .unreadable,
            .repeatedMember, .unusableToken, .notRedirected, .stateMismatch, .issuerMismatch, .noCode, .notConfigured,
            .notOffered,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
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

    /// A Boolean value that indicates whether a token endpoint reported that the grant has ended.
    ///
    /// No other error ends a grant: a status alone may come from a gateway, and an unreadable response from any host.
    package var endsGrant: Bool {
        code == .invalidGrant && status.map { (400..<500).contains($0) } ?? false
    }

    /// A Boolean value that indicates whether the server rejected the refresh token without reporting that the grant has ended:
    /// OpenAM reports an unknown refresh token as an invalid request, and Glewlwyd sends status 400 without an error name.
    package var refusesRefreshToken: Bool {
        code == .invalidRequest || code == .unreadable && status == 400
    }

    /// A Boolean value that indicates whether the server rejected the client, the grant type or the scope of a refresh.
    ///
    /// The grant may still exist, but this client can't refresh it.
    package var refusesRefresh: Bool {
        [.invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidScope, .accessDenied].contains(code)
    }

    /// The error name, the status and the explanation.
    public var description: String {
        let word = name ?? code.rawValue
        return word + (status.map { " (HTTP \($0))" } ?? "") + (explanation.map { ": \($0)" } ?? "")
    }
}

extension OAuthError {
    /// Creates the error for an error name of the server.
    ///
    /// An unknown name becomes `other`.
    package init(
        name: String, explanation: String?, status: Int?, retryAfter: Duration? = nil
    ) {
        // A server must not send the names of errors that only the client reports.
        let ours: Set<Code> = [
            .other, .failed, .unreadable, .repeatedMember, .unusableToken, .notRedirected, .stateMismatch, .issuerMismatch,
            .noCode, .notConfigured, .notOffered,
        ]
        // AM's name for a device login that the user declined (protocol/journey.md section 8).
        let standard = name == "authorization_declined" ? Code.accessDenied.rawValue : name
        let known = Code.allCases.first { $0.rawValue == standard && !ours.contains($0) } ?? .other
        self.init(
            known, status: status, name: Self.plain(name), explanation: explanation.map(Self.plain), retryAfter: retryAfter)
    }

    /// Returns the text without control characters that could affect a terminal, limited to 300 characters.
    package static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { String($0).isSafeToShow }.prefix(300)))
    }
}
