#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why an OAuth 2.0 server gave no token, in its own words where it had any.
public struct OAuthError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened. The raw values of those that a server names are its words (RFC 6749, 6750, 7009, 8628, OpenID Connect).
    public enum Code: String, Sendable, CaseIterable {
        /// The request is not as the server wants it.
        case invalidRequest = "invalid_request"
        /// The server does not know the client.
        case invalidClient = "invalid_client"
        /// The code or the refresh token is over: used, revoked, or too old. What it was to renew has ended.
        case invalidGrant = "invalid_grant"
        /// The client may not do this.
        case unauthorizedClient = "unauthorized_client"
        /// The server does not give tokens in this way.
        case unsupportedGrantType = "unsupported_grant_type"
        /// The server does not answer with a code.
        case unsupportedResponseType = "unsupported_response_type"
        /// The scope is unknown, or more than was granted.
        case invalidScope = "invalid_scope"
        /// The access token is not taken.
        case invalidToken = "invalid_token"
        /// The person, or a policy, said no.
        case accessDenied = "access_denied"
        /// The person has to log in.
        case loginRequired = "login_required"
        /// The person has to be asked something.
        case interactionRequired = "interaction_required"
        /// The person has to consent.
        case consentRequired = "consent_required"
        /// The person has not finished yet, on the other device.
        case authorizationPending = "authorization_pending"
        /// The client asks too often.
        case slowDown = "slow_down"
        /// The person was too slow, on the other device.
        case expiredToken = "expired_token"
        /// The server is in trouble.
        case serverError = "server_error"
        /// The server is busy, or being looked after.
        case temporarilyUnavailable = "temporarily_unavailable"
        /// The server named an error that no standard has; see ``OAuthError/name``.
        case other
        /// What answered failed without a word of OAuth 2.0: a 5xx, or a gateway that was asked too often.
        case failed
        /// What came is nothing that an OAuth 2.0 server says: a page of a hotel's network, a part of an answer.
        case unreadable
        /// The server redirected to somewhere else than the client, most likely to a page to log in at.
        case notRedirected
        /// The answer does not carry the state of this request: it is somebody else's, or forged.
        case stateMismatch
        /// The answer is another server's (RFC 9207).
        case issuerMismatch
        /// The answer has neither a code nor an error.
        case noCode
        /// The client's description of the server lacks what is needed.
        case notConfigured
        /// The server does not offer what is asked for: neither the app nor the server's own description has an address for it.
        case notOffered
    }

    /// What happened.
    public let code: Code
    /// The HTTP status; nil when the error did not come as a status.
    public let status: Int?
    /// The server's word for it, as it wrote it.
    public let name: String?
    /// The server's explanation.
    public let explanation: String?
    /// How long the server asks to wait before the next request (`Retry-After`).
    public let retryAfter: Duration?

    /// An error as given.
    public init(
        _ code: Code, status: Int? = nil, name: String? = nil, explanation: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.status = status
        self.name = name
        self.explanation = explanation
        self.retryAfter = retryAfter
    }

    /// Whether the same request may succeed later without anybody changing anything.
    public var isRetryable: Bool {
        switch code {
        case .serverError, .temporarilyUnavailable, .slowDown, .authorizationPending, .failed: true
        // A page of a network that wants a login, or an answer that broke off; a page with a status of its own is somebody's answer.
        case .unreadable: status.map { (200..<400).contains($0) } ?? true
        default: false
        }
    }

    /// Whether this is a token endpoint's own word that a grant is over. Nothing else ends one: a status alone may be a
    /// gateway's, and what cannot be read may be anybody's.
    package var endsGrant: Bool {
        code == .invalidGrant && status.map { (400..<500).contains($0) } ?? false
    }

    /// Whether the server refused the refresh token without saying that the grant is over: OpenAM calls one that it does not
    /// know an invalid request, Glewlwyd says nothing at all.
    package var refusesRefreshToken: Bool {
        code == .invalidRequest || code == .unreadable && status == 400
    }

    /// The word, the status and the explanation.
    public var description: String {
        let word = name ?? code.rawValue
        return word + (status.map { " (HTTP \($0))" } ?? "") + (explanation.map { ": \($0)" } ?? "")
    }
}

extension OAuthError {
    /// What the server called `name` means.
    package init(
        name: String, explanation: String?, status: Int?, retryAfter: Duration? = nil
    ) {
        // Our own words for what no server says are not the server's to use.
        let ours: Set<Code> = [
            .other, .failed, .unreadable, .notRedirected, .stateMismatch, .issuerMismatch, .noCode, .notConfigured,
            .notOffered,
        ]
        let known = Code(rawValue: name).flatMap { ours.contains($0) ? nil : $0 } ?? .other
        self.init(
            known, status: status, name: Self.plain(name), explanation: explanation.map(Self.plain), retryAfter: retryAfter)
    }

    /// At most so much of what a server writes is shown, and nothing that could act on a terminal.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { String($0).isSafeToShow }.prefix(300)))
    }
}
