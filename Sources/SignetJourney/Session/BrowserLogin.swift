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
        let attempt = AuthorizationAttempt.new()
        let server = tokens.server
        do {
            let (issuer, isNamed) = try await server.issuer()
            let listener = try await LoopbackListener.listening(at: try server.client.redirectURI)
            let redirectURI = listener.redirectURI
            let address = try await server.authorizationAddress(attempt, redirectURI: redirectURI)
            let code = try await listener.answer(
                within: patience,
                accepting: { query in
                    // What does not carry our state is not about this login, and does not end it.
                    FormCoding.decode(query)["state"].map { ConstantTime.areEqual($0, attempt.state) } ?? false
                },
                whileOpening: { try await open(address) })
            let fields = FormCoding.decode(code)
            let secret = try AuthorizationResponse.code(
                query: fields, state: attempt.state, issuer: issuer, requiresIssuer: isNamed)
            return try await tokens.adopt(try await server.exchange(secret, attempt, redirectURI: redirectURI))
        } catch let error as LoopbackListener.Failure {
            switch error {
            case .address(let reason): throw TokenError(.notConfigured, .other(reason))
            case .timeout: throw TokenError(.cancelled, .other("the login was not finished within \(patience)"))
            case .cancelled: throw TokenError(.cancelled)
            }
        } catch {
            throw TokenError(error)
        }
    }
}
