public import SignetCore
public import SignetNetwork

/// A login in the person's own browser (RFC 8252), for a program with a desktop: the server's page asks what it has to ask, and
/// the answer comes back to a port of this machine that is open for this one login.
///
///     let login = BrowserLogin(tokens)
///     let token = try await login.logIn()
///
/// The client's redirect address must be one of the loopback: `http://127.0.0.1/callback` for any port, as RFC 8252 section 7.3
/// asks of servers, or `http://127.0.0.1:8400/callback` for one that wants to know it.
public struct BrowserLogin: Sendable {
    /// How an address is opened.
    public typealias Opener = @Sendable (_ address: String) async throws -> Void

    private let tokens: TokenSource
    private let open: Opener
    private let patience: Duration

    /// Logins for a source of tokens.
    /// - Parameters:
    ///   - tokens: Who keeps what the login gives.
    ///   - patience: How long the person has.
    ///   - open: Opens the address; the system's own way (`xdg-open`) unless the app has a better one.
    public init(
        _ tokens: TokenSource, patience: Duration = .seconds(300),
        open: @escaping Opener = { try await SystemBrowser.open($0) }
    ) {
        self.tokens = tokens
        self.patience = patience
        self.open = open
    }

    /// Opens the browser, waits for the answer, and stores the tokens.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is cancelled or the time is up,
    ///   ``TokenError/Code/notConfigured`` when the client's redirect address is none of the loopback or its port is taken.
    public func logIn() async throws(TokenError) -> AccessToken {
        try await logIn(returningTo: nil)
    }

    /// The same for a redirect address of the app's own scheme (RFC 8252 section 7.1), whose answer the app leaves at `desk`; nil for
    /// one of the loopback.
    package func logIn(returningTo receiver: RedirectReceiver?) async throws(TokenError) -> AccessToken {
        do {
            let (issuer, isNamed) = try await tokens.server.issuer()
            let attempt = AuthorizationAttempt.new()
            let answer = try await answer(to: attempt, at: receiver)
            let code = try AuthorizationResponse.code(
                query: FormCoding.decode(answer.query), state: attempt.state, issuer: issuer, requiresIssuer: isNamed)
            return try await tokens.adopt(
                try await tokens.server.exchange(code, attempt, redirectURI: answer.redirectURI))
        } catch let error as LoopbackListener.InvalidAddress {
            throw TokenError(.notConfigured, .other(error.reason))
        } catch RedirectReceiver.Failure.timeout {
            throw TokenError(.cancelled, .other("the login was not finished within \(patience)"))
        } catch RedirectReceiver.Failure.cancelled {
            throw TokenError(.cancelled)
        } catch {
            throw TokenError(error)
        }
    }

    /// The query that the browser brings back, and the address that it brings it to.
    private func answer(
        to attempt: AuthorizationAttempt, at receiver: RedirectReceiver?
    ) async throws -> (query: String, redirectURI: String) {
        let server = tokens.server
        // What does not carry our state is not about this login, and does not end it.
        let isOurs: @Sendable (String) -> Bool = { query in
            FormCoding.decode(query)["state"].map { ConstantTime.areEqual($0, attempt.state) } ?? false
        }
        let wanted = try server.client.redirectURI
        if let receiver {
            let query = try await receiver.answer(within: patience, accepting: isOurs) {
                try await open(try await server.authorizationAddress(attempt, redirectURI: wanted))
            }
            return (query, wanted)
        }
        let listener = try await LoopbackListener.listening(at: wanted)
        let redirectURI = listener.redirectURI
        // The address is made in there, because the port is closed whatever fails in there.
        let query = try await listener.answer(within: patience, accepting: isOurs) {
            try await open(try await server.authorizationAddress(attempt, redirectURI: redirectURI))
        }
        return (query, redirectURI)
    }
}
