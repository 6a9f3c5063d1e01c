import ArgumentParser
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

struct Logout: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Log out: delete the session and the tokens here, and end them at the server.",
        discussion: """
            signet first deletes the local session and tokens, also without a network. If the server could not be reached, they stay \
            valid there until they expire: signet reports that with exit code 69, or 77 if the server answered and did not end \
            them. If a server does not offer to revoke tokens, signet prints until when they are valid, and ends with 0.

            An OpenID provider that ends the session with a page may ask for a confirmation there; then the browser opens. With \
            client.signOutRedirectUri in 'login --settings FILE', an address that is registered for the client, it ends the session \
            without a page.

            A provider whose session is a cookie of your browser ends it only there: --browser opens the logout in the browser. With \
            a loopback address in client.signOutRedirectUri, such as http://127.0.0.1/bye, signet waits until the browser comes back. \
            Without one the browser shows the page of the provider, and signet does not wait.

            EXAMPLES:
              signet logout
              signet logout --all
              signet logout --browser
            """)

    @OptionGroup var profile: ProfileOptions

    @Flag(help: "Log out of every server.")
    var all = false

    @Flag(help: "End the session of the OpenID provider in the browser of this desktop.")
    var browser = false

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp("With --browser: how long to wait for the browser. Default: 300.", valueName: "seconds"))
    var seconds: Int?

    @Flag(
        help:
            "Print JSON, one login a line: profile, server, complete; local, tokens, session, openIDSession (their outcomes); tokensExpireAt."
    )
    var json = false

    private static let maxSeconds = 86_400

    func validate() throws {
        if all, profile.name != nil {
            throw ValidationError("--all and --profile exclude each other: use one of them.")
        }
        guard let seconds else { return }
        guard browser else { throw ValidationError("--timeout is the time for the browser: it needs --browser.") }
        guard (1...Self.maxSeconds).contains(seconds) else {
            throw ValidationError("--timeout takes a number of seconds from 1 to \(Self.maxSeconds).")
        }
    }

    func run() async throws {
        let session = try Session.open(profile.options)
        let store = try ProfileStore.read(from: session.vault)
        guard !store.profiles.isEmpty else {
            if !json { Console.line("No user is logged in here.") }
            return
        }
        var failures: [Failure] = []
        for profile in all ? store.profiles : [try store.profile(profile.name)] {
            let report = try await profile.use(session, requiresSecret: false) {
                [wait = timeout] (client: IdentityClient) async throws -> LogOutReport in
                guard let wait else { return await client.logOut() }
                return await Self.logOutInBrowser(client, within: wait)
            }
            // A login that could not be removed from the vault keeps its profile.
            if report.local.isOver { try ProfileStore.change(in: session.vault) { $0.remove(profile.name) } }
            let text = report.text(profile, isOneOfSeveral: store.profiles.count > 1, isInBrowser: browser)
            Console.line(json ? JSONText.line(report.json(profile)) : text)
            guard let failure = await confirmInBrowser(report) else { continue }
            // No other browser opens after Ctrl-C.
            guard failure.exit != .interrupted else { throw failure }
            failures.append(failure)
        }
        if let failure = failures.first { throw failure }
    }

    /// The time to wait for the browser; nil for a logout without one.
    private var timeout: Duration? { browser ? .seconds(seconds ?? 300) : nil }

    /// Logs out, and ends the session of the provider in the browser.
    private static func logOutInBrowser(_ client: IdentityClient, within timeout: Duration) async -> LogOutReport {
        await BrowserLogOut(client.tokens, timeout: timeout) { address in
            do {
                // The address contains the id_token, so it must not be printed or passed as an argument to another program. The page
                // on this machine that leads to it opens once, on Linux for this user only.
                try await SystemBrowser.open(confidential: Secret(text: address), within: timeout) { page in
                    Console.error("Open this address in a browser, if none opens by itself:\n  \(page)")
                    try? await SystemBrowser.open(page)
                }
            } catch let error as SystemBrowser.CannotOpen {
                throw TokenError(.cancelled, .other(error.description))
            }
        }.logOut()
    }

    /// Opens the browser if the server requires a confirmation.
    ///
    /// Returns the error with which the command ends, if there is one.
    private func confirmInBrowser(_ report: LogOutReport) async -> Failure? {
        if let address = report.browserAddress {
            // The address contains the id_token, so it must not be printed or passed as an argument to another program.
            Console.error("The server wants the logout to be confirmed in the browser.")
            do {
                try await Interrupt.ending { try await SystemBrowser.open(confidential: Secret(text: address)) }
            } catch is CancellationError {
                return Failure(CancellationError())
            } catch {
                return Failure(
                    .unavailable, "logout.browser",
                    "the server wants the logout to be confirmed in a browser, and none can be opened here")
            }
        }
        return report.failure("logged out here")
    }
}

extension LogOutReport {
    private var parts: [(name: String, title: String, outcome: Outcome)] {
        [
            ("local", "here", local), ("tokens", "tokens at the server", tokens), ("session", "session at the server", session),
            ("openIDSession", "OpenID session at the server", openIDSession),
        ]
    }

    /// Returns the error that a command ends with when not everything was ended.
    ///
    /// The exit code is 69 when the server could not be reached, and 77 when it answered but did not end the session or the
    /// tokens.
    /// - Parameter done: The part of the command that succeeded, as text.
    /// - Returns: The error of the first part that failed; nil when everything was ended, or when the user must confirm it in a
    ///   browser.
    func failure(_ done: String) -> Failure? {
        let failures = parts.compactMap { part in if case .failed(let error) = part.outcome { (part.name, error) } else { nil } }
        guard let (name, error) = failures.first else { return nil }
        let failure = Failure(error)
        if name == "local" { return Failure(failure.exit, failure.code, "not logged out here: \(failure.message)", part: name) }
        // The login is already deleted here and cannot be retried, so the advice to retry is left out.
        let isRefused = failure.exit == .protocolBroken || error.isOfMissingEndpoint
        // The server is not at fault when a port is in use or the browser does not come back.
        let isHere = !isRefused && (error.code == .notConfigured || error.code == .cancelled)
        let rest = isHere ? "not everything at the server was ended" : "the server did not end everything"
        return Failure(
            isRefused ? .notAllowed : failure.exit, failure.code, "\(done), but \(rest): \(failure.reason)", part: name)
    }

    /// The address at which the user must confirm the logout; nil when no confirmation is needed.
    var browserAddress: String? {
        parts.lazy.compactMap(\.outcome.address).first
    }

    /// The parts that were neither ended nor failed, one line for each, for commands that print no report.
    var remarks: [TerminalText] {
        parts.filter(\.outcome.isLeftToServer).map { "\($0.title): \($0.outcome.text)" }
    }

    fileprivate func text(_ profile: LoginProfile, isOneOfSeveral: Bool, isInBrowser: Bool) -> TerminalText {
        let left = parts.filter { !$0.outcome.isOver }
        let login: TerminalText = "\(profile.url)" + (isOneOfSeveral ? " (\(profile.name))" : "")
        guard !left.isEmpty else { return "Logged out of \(login)." }
        let heading: TerminalText =
            local.isOver ? "Logged out of \(login) on this machine." : "Not logged out of \(login)."
        let lines: [TerminalText] = left.map { part in
            let outcome = isInBrowser && part.outcome == .showedPage ? Self.pageInBrowser : part.outcome.text
            return "  \(part.title): \(outcome)"
        }
        return ([heading] + lines).joined(separator: "\n")
    }

    /// The outcome of a logout whose page was opened in the browser.
    private static let pageInBrowser: TerminalText =
        "the page of the server was opened in the browser, and shows whether it has ended; with a loopback address in "
        + "client.signOutRedirectUri (login --settings) signet waits for the end"

    fileprivate func json(_ profile: LoginProfile) -> JSONValue {
        var members: [String: JSONValue] = [
            "profile": .string(profile.name), "server": .string(profile.url), "complete": .bool(isComplete),
        ]
        for part in parts { members[part.name] = .string(part.outcome.name) }
        if case .notOffered(let rest) = tokens { members["tokensExpireAt"] = .string(rest.accessTokenEnd?.text) }
        return .object(members)
    }
}

extension LogOutReport.Outcome {
    fileprivate var name: String {
        switch self {
        case .done: "done"
        case .notNeeded: "notNeeded"
        case .needsBrowser: "needsBrowser"
        case .showedPage: "showedPage"
        case .notOffered: "notOffered"
        case .failed: "failed"
        }
    }

    /// True when the server did what it offers, and the result is up to it.
    fileprivate var isLeftToServer: Bool {
        switch self {
        case .showedPage, .notOffered: true
        default: false
        }
    }

    var text: TerminalText {
        switch self {
        case .done, .notNeeded: "ended"
        case .needsBrowser: "to be confirmed in the browser"
        case .showedPage:
            "the server answered with a page without a question, which usually means that the session has ended; "
                + "client.signOutRedirectUri (login --settings) gets an answer without a page"
        case .notOffered(let rest):
            "the server cannot revoke them: the access token is valid until \(rest.accessTokenEnd?.text ?? "the server ends it")"
                + (rest.hasRefreshToken ? ", and the refresh token until the server ends it" : "")
        case .failed(let error): "not ended; it stays valid until it expires: \(Failure(error).reason)"
        }
    }
}
