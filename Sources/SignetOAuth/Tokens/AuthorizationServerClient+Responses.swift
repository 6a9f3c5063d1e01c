import SignetCore
import SignetNetwork

/// The reading of responses without tokens.
extension AuthorizationServerClient {
    /// Returns the JSON members of a successful response.
    /// - Throws: The error of the response.
    func members(_ response: HTTPResponse) throws(OAuthError) -> [String: JSONValue] {
        do throws(OAuthError) {
            return try TokenResponse.members(
                status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now))
        } catch {
            throw refusedToken(response, error) ?? error
        }
    }

    /// Throws when a response without significant content isn't a success.
    ///
    /// Any content is accepted except a page, which may come from a captive portal.
    func mustBeDone(_ response: HTTPResponse) throws(OAuthError) {
        if let error = error(of: response) { throw error }
        if response.isPage { throw OAuthError(.unreadable, status: response.status) }
    }

    /// Returns the error of a response that isn't a success.
    func refusal(_ response: HTTPResponse) -> OAuthError {
        error(of: response) ?? OAuthError(.unreadable, status: response.status)
    }

    private func error(of response: HTTPResponse) -> OAuthError? {
        TokenResponse.error(
            status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now)
        ).map { refusedToken(response, $0) ?? $0 }
    }

    /// Returns the error in the `WWW-Authenticate` field of a response whose content has none (RFC 6750 section 3).
    private func refusedToken(_ response: HTTPResponse, _ error: OAuthError) -> OAuthError? {
        guard error.code == .unreadable, (400..<500).contains(response.status) else { return nil }
        return TokenChallenge(response.headers.all("WWW-Authenticate"))?.error(status: response.status)
    }
}

extension HTTPResponse {
    /// True when the content is a page, which may come from a captive portal and not from the server.
    var isPage: Bool { body.first { $0 > 0x20 } == UInt8(ascii: "<") }
}
