import SignetCore
import SignetNetwork

/// A logout in the user's own browser (OpenID Connect RP-Initiated Logout 1.0), for desktop programs.
///
/// A server whose session is a cookie of the browser ends that session only in the browser. `TokenSource.logOut()` sends its
/// requests itself, so such a session goes on.
///
///     let report = await BrowserLogOut(tokens).logOut()
///
/// When the ``OAuthClient/signOutRedirectURI`` of the client is a loopback address, the server sends the browser back to it, and the
/// logout waits for that. The rules for its port are those of ``BrowserLogin``: `http://127.0.0.1/bye` for any port, and
/// `http://127.0.0.1:8400/bye` for a server that requires a fixed port. Another address, such as `https://app.example.com/bye`, is
/// sent too, and the server sends the browser there, but this process doesn't learn of it. Without an address the browser shows the
/// page of the server. In both cases the logout doesn't wait for an answer. On Apple's systems it waits until the user has closed the
/// system's window.
public struct BrowserLogOut: Sendable {
    private let tokens: TokenSource
    private let open: BrowserLogin.Opener?
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Creates a logout for a token source.
    /// - Parameters:
    ///   - tokens: The token source with the stored items.
    ///   - timeout: The timeout for the user.
    ///   - open: A function that opens the address, and keeps it from the machine's other users: it contains the ID token. When nil,
    ///     it is the system's window on Apple's systems, and elsewhere `SystemBrowser.open(confidential:within:open:)` with the
    ///     timeout of the logout.
    public init(_ tokens: TokenSource, timeout: Duration = .seconds(300), open: BrowserLogin.Opener? = nil) {
        self.init(tokens, timeout: timeout, clock: ContinuousClock(), open: open)
    }

    /// Creates a logout whose timeout is measured by a clock.
    package init(_ tokens: TokenSource, timeout: Duration, clock: any Clock<Duration>, open: BrowserLogin.Opener?) {
        self.tokens = tokens
        self.timeout = timeout
        self.clock = clock
        self.open = open
    }

    /// Logs out: removes the stored items, revokes the tokens, ends the session of a journey, and then opens the server's
    /// end-session endpoint in the browser.
    ///
    /// The items are removed first and in all cases, as `TokenSource.logOut(endsOpenIDSession:)` does. Without a stored ID token
    /// the browser has no session to end, and isn't opened.
    /// - Returns: The outcome of each step. ``LogOutReport/openIDSession`` is ``LogOutReport/Outcome/done`` when the browser came
    ///   back with the right state; ``LogOutReport/Outcome/showedPage`` when the page was opened and the client has no address at
    ///   which this process can receive the browser; ``LogOutReport/Outcome/failed(_:)`` with ``TokenError/Code/cancelled`` when the task was canceled or the
    ///   browser didn't come back in time, and with ``TokenError/Code/notConfigured`` when the server has no end-session endpoint,
    ///   no browser can be opened, or the port is in use.
    public func logOut() async -> LogOutReport {
        await tokens.end(await tokens.removeAll(), endsOpenIDSession: true) { idToken in
            try await endSession(idToken)
        }
    }

    private func endSession(_ idToken: Secret) async throws -> LogOutReport.Outcome {
        let server = tokens.server
        let target = try server.client.signOutRedirectURI
        guard let returnAddress = target, canReceive(at: returnAddress) else {
            try await show(try await server.endSessionAddress(idToken, returningTo: target), returningTo: target)
            return .showedPage
        }
        let state = AuthorizationAttempt.new().state
        let visit = BrowserVisit(
            returnAddress: returnAddress, state: state, timeout: timeout, clock: clock, open: open, title: "Logout")
        do {
            let answer = try await visit.answer { redirectURI in
                try await server.endSessionAddress(idToken, returningTo: redirectURI, state: state)
            }
            let fields = try answer.fields()
            guard let name = fields["error"] else { return .done }
            throw OAuthError(name: name, explanation: fields["error_description"], status: nil)
        } catch let expired as BrowserVisit.Expired {
            throw TokenError(
                .cancelled,
                .other(
                    "the browser did not come back from the logout within \(timeout.components.seconds) seconds\(expired.remark); if it "
                        + "shows an error about the address, register \(expired.redirectURI) as an address for the return after a "
                        + "logout (post_logout_redirect_uris)"))
        }
    }

    /// Opens the address with the app's function, or in the system's way, for a page from which no answer comes.
    private func show(_ address: String, returningTo target: String?) async throws {
        if let open { return try await open(address) }
        do {
            // The system's window requires an address. No answer at a loopback address closes it.
            try await LoginBrowser.open(address, returningTo: target ?? "http://127.0.0.1/", within: timeout, to: nil)
        } catch let error as CancellationError {
            // The user closes the window after reading the page.
            guard !Task.isCancelled else { throw error }
        }
    }

    /// True when this process can receive an answer at the address: on the loopback interface, or in the system's window.
    private func canReceive(at returnAddress: String) -> Bool {
        if LoopbackListener.canListen(at: returnAddress) { return true }
        return open == nil && LoginBrowser.hasWindow && !returnAddress.hasPrefix("http")
    }
}
