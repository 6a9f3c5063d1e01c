public import SignetCore
package import SignetNetwork

/// A login in the user's own browser (RFC 8252), for desktop programs.
///
/// The server's page interacts with the user. The response returns to a port of this machine that is open only for this login: as the
/// query of an address, or as a form that the browser posts (`response_mode=form_post`).
///
///     let login = BrowserLogin(tokens)
///     let token = try await login.logIn()
///
/// The redirect URI of the client must be a loopback address: `http://127.0.0.1/callback` for any port, which RFC 8252 section
/// 7.3 requires servers to accept, or `http://127.0.0.1:8400/callback` for a server that requires a fixed port.
public struct BrowserLogin: Sendable {
    /// A function that opens an address in a browser.
    public typealias Opener = @Sendable (_ address: String) async throws -> Void

    private let tokens: TokenSource
    private let open: Opener?
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Creates a login for a token source.
    /// - Parameters:
    ///   - tokens: The token source that stores the tokens of the login.
    ///   - timeout: The timeout for the user.
    ///   - open: A function that opens the address, and keeps it from the machine's other users: it contains the state, with which
    ///     they could end the login with a code of their own. When nil, it is the system's window for logins on Apple's systems, and
    ///     elsewhere `SystemBrowser.open(confidential:within:open:)` with the timeout of the login.
    public init(
        _ tokens: TokenSource, timeout: Duration = .seconds(300),
        open: Opener? = nil
    ) {
        self.init(tokens, timeout: timeout, clock: ContinuousClock(), open: open)
    }

    /// Creates a login whose timeout is measured by a clock.
    package init(_ tokens: TokenSource, timeout: Duration, clock: any Clock<Duration>, open: Opener?) {
        self.tokens = tokens
        self.timeout = timeout
        self.clock = clock
        self.open = open
    }

    /// Opens the browser, waits for the response, and stores the tokens.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is canceled or the login times out, with the redirect
    ///   address that the server must know and the number of answers that were not the answer to this login;
    ///   ``TokenError/Code/notConfigured`` when the client's redirect URI isn't a loopback address or its port is in use.
    public func logIn() async throws(TokenError) -> AccessToken {
        try await logIn(returningTo: nil)
    }

    /// Logs in with a redirect URI of the app's own scheme (RFC 8252 section 7.1).
    ///
    /// The app passes the response to `receiver`. With nil, the redirect URI is a loopback address. The parameters are added to
    /// the authorization request.
    package func logIn(
        returningTo receiver: RedirectReceiver?, adding parameters: [String: String] = [:]
    ) async throws(TokenError) -> AccessToken {
        do {
            let server = tokens.server
            let (issuer, isNamed) = try await server.issuer()
            let attempt = server.attempt(adding: parameters)
            let key = try await server.newKey()
            let visit = BrowserVisit(
                returnAddress: try server.client.redirectURI, state: attempt.state, timeout: timeout, clock: clock, open: open,
                title: "Login")
            let answer = try await visit.answer(at: receiver) { redirectURI in
                try await server.authorizationAddress(attempt, redirectURI: redirectURI, boundTo: key)
            }
            let code = try AuthorizationResponse.code(
                query: try answer.fields(), state: attempt.state, issuer: issuer, requiresIssuer: isNamed)
            return try await tokens.adopt(
                try await server.exchange(code, attempt, redirectURI: answer.redirectURI, boundTo: key))
        } catch let expired as BrowserVisit.Expired {
            throw TokenError(.cancelled, .other(reason(expired)))
        } catch {
            throw TokenError(error)
        }
    }

    /// Returns the reason for a login that was not finished in time, with the redirect address that the server must know.
    private func reason(_ expired: BrowserVisit.Expired) -> String {
        let client = try? tokens.server.client
        let ports =
            expired.redirectURI == client?.redirectURI
            ? "" : "; a server that doesn't allow any port needs an address with a fixed one, the same there and here"
        return
            "the login was not finished within \(timeout.components.seconds) seconds\(expired.remark); if the browser shows an "
            + "error about the client or its redirect address, register \(expired.redirectURI) for the client "
            + "\(client?.clientID ?? "")\(ports)"
    }
}
