public import SignetCore
package import SignetNetwork

/// A login in the user's own browser (RFC 8252), for desktop programs.
///
/// The server's page interacts with the user. The response returns to a port of this machine that is open only for this login.
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
        self.tokens = tokens
        self.timeout = timeout
        self.open = open
    }

    /// Opens the browser, waits for the response, and stores the tokens.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is canceled or the login times out, with the redirect
    ///   address that the server must know; ``TokenError/Code/notConfigured`` when the client's redirect URI isn't a loopback address
    ///   or its port is in use.
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
            let (issuer, isNamed) = try await tokens.server.issuer()
            let attempt = tokens.server.attempt(adding: parameters)
            let answer = try await answer(to: attempt, at: receiver)
            let code = try AuthorizationResponse.code(
                query: FormCoding.decode(answer.query), state: attempt.state, issuer: issuer, requiresIssuer: isNamed)
            return try await tokens.adopt(
                try await tokens.server.exchange(code, attempt, redirectURI: answer.redirectURI))
        } catch let error as LoopbackListener.InvalidAddress {
            throw TokenError(.notConfigured, .other(error.reason))
        } catch RedirectReceiver.Failure.cancelled {
            throw TokenError(.cancelled)
        } catch {
            throw TokenError(error)
        }
    }

    /// Returns the query of the response from the browser, and the redirect URI that received it.
    private func answer(
        to attempt: AuthorizationAttempt, at receiver: RedirectReceiver?
    ) async throws -> (query: String, redirectURI: String) {
        let server = tokens.server
        // A query without the state of this login doesn't belong to it and doesn't end it.
        let isExpected: @Sendable (String) -> Bool = { query in
            FormCoding.decode(query)["state"].map { ConstantTime.areEqual($0, attempt.state) } ?? false
        }
        let wanted = try server.client.redirectURI
        let ownWindow = open == nil && LoginBrowser.hasWindow && !wanted.hasPrefix("http") ? RedirectReceiver() : nil
        if let receiver = receiver ?? ownWindow {
            let query = try await inTime(at: wanted) {
                try await receiver.answer(within: timeout, accepting: isExpected) {
                    try await show(
                        try await server.authorizationAddress(attempt, redirectURI: wanted), wanted, receiver)
                }
            }
            return (query, wanted)
        }
        let listener = try await LoopbackListener.listening(at: wanted)
        let redirectURI = listener.redirectURI
        // The closure creates the address, because the port is closed when the closure fails.
        let query = try await inTime(at: redirectURI) {
            try await listener.answer(within: timeout, accepting: isExpected) {
                try await show(
                    try await server.authorizationAddress(attempt, redirectURI: redirectURI), redirectURI, nil)
            }
        }
        return (query, redirectURI)
    }

    /// Waits for the response, and names the redirect address in the error when none comes in time.
    ///
    /// A server that doesn't know the address shows the reason in the browser only, and never responds.
    private func inTime(at redirectURI: String, _ answer: () async throws -> String) async throws -> String {
        do {
            return try await answer()
        } catch RedirectReceiver.Failure.timeout {
            let client = try tokens.server.client
            let ports =
                redirectURI == client.redirectURI
                ? "" : "; a server that doesn't allow any port needs an address with a fixed one, the same there and here"
            throw TokenError(
                .cancelled,
                .other(
                    "the login was not finished within \(timeout.components.seconds) seconds; if the browser shows an error about the "
                        + "client or its redirect address, register \(redirectURI) for the client \(client.clientID)\(ports)"))
        }
    }

    /// Opens the address with the app's function, or in the system's way.
    private func show(_ address: String, _ redirectURI: String, _ receiver: RedirectReceiver?) async throws {
        if let open { return try await open(address) }
        try await LoginBrowser.open(address, returningTo: redirectURI, within: timeout, to: receiver)
    }
}
