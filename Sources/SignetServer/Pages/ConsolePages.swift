import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `/console`: what goes on in the server, for who tests with it. Only for this machine, and only for a browser that came with a
/// link of ``DeskServer/consoleLink()``.
struct ConsolePages: Sendable {
    static let cookieName = "signet-console"
    let desk: Desk

    private var address: String { "\(desk.contextPath)/console" }

    /// - Parameters:
    ///   - path: what follows `/console`.
    ///   - isLocal: whether the client is on this machine.
    func respond(to reader: RequestReader, path: Substring, isLocal: Bool) async throws -> Response {
        do {
            // For everybody else it is not there.
            guard isLocal else { throw Refusal.resourceNotFound }
            return try await answer(reader, path)
        } catch let refusal as Refusal {
            return refusal.page(again: nil).response(below: desk.contextPath)
        } catch let refusal as OAuthRefusal {
            return Refusal(refusal.status, refusal.message).page(again: nil).response(below: desk.contextPath)
        }
    }

    private func answer(_ reader: RequestReader, _ path: Substring) async throws -> Response {
        if path == "/open" {
            try reader.require(.get)
            return try open(reader.query("token") ?? "")
        }
        let cookies = reader.cookies(Self.cookieName)
        let found = desk.transact { state, _ in
            cookies.first { state.console.isOpen(to: $0) }.map { ($0, state.proof("console \($0)")) }
        }
        guard let (_, csrf) = found else {
            return Refusal(.forbidden, "Open the console with the link that the server prints when it starts. Each is good once.")
                .page(again: nil).response(below: desk.contextPath)
        }
        guard !["", "/"].contains(path) else {
            try reader.require(.get)
            return ConsoleView(contextPath: desk.contextPath, csrf: csrf, facts: ConsoleFacts(desk))
                .page.response(below: desk.contextPath)
        }
        try reader.require(.post)
        let form = try await reader.form()
        guard let given = form["csrf"], ConstantTime.areEqual(given, csrf) else { throw Refusal.foreignForm }
        return try act(path, form)
    }

    private func open(_ token: String) throws -> Response {
        let cookie = desk.transact { state, moment in
            state.console.enter(with: token).map {
                SessionCookie(moment).own(Self.cookieName, $0, path: address, sameSite: "Strict")
            }
        }
        guard let cookie else {
            throw Refusal(.forbidden, "The link is not good, or not any more: each opens the console once.")
        }
        desk.logger.notice("the console was opened")
        return LoginPages.redirect(to: address, [cookie])
    }

    private func act(_ path: Substring, _ form: Parameters) throws -> Response {
        switch path {
        case "/clock":
            guard let seconds = form["seconds"].flatMap({ Double($0) }), abs(seconds) <= Self.longestMove else {
                throw Refusal(.badRequest, "The clock is moved by a number of seconds, at most ten years.")
            }
            desk.clock.move(by: seconds)
            desk.logger.notice("the clock was moved", metadata: ["seconds": "\(seconds)"])
        case "/clock/reset": desk.clock.reset()
        case "/session":
            let ended = desk.transact { state, moment in
                form["key"].flatMap { state.sessions.end(BearerKey(text: $0), at: moment.now) }
            }
            if let ended { desk.logger.notice("session ended", metadata: ["user": "\(ended.user.name)"]) }
        case "/link":
            return HTMLPage(
                title: "Another browser",
                content: tag("p") { "This opens the console once, in a browser on this machine:" }
                    + tag("p") { tag("code") { desk.consoleLink } } + PagePart.link("Back", to: address)
            ).response(below: desk.contextPath)
        default: throw Refusal(.notFound, "There is no such page.")
        }
        return LoginPages.redirect(to: address)
    }

    /// Ten years, in seconds.
    private static let longestMove = 10 * 365.25 * 86_400
}

extension Desk {
    /// A new link that opens the console once.
    var consoleLink: String {
        transact { state, _ in "\(state.baseURL)/console/open?token=\(state.console.invite())" }
    }
}

extension DeskServer {
    /// A link that opens the console, once, in a browser on this machine. The console shows users, devices, sessions, push messages
    /// and requests, moves the clock, and ends sessions (docs/server.md).
    public func consoleLink() -> String { desk.consoleLink }

    /// Moves the server's clock: every timeout, code and signature goes by it from now on.
    /// - Parameter duration: how far; backwards if negative.
    public func moveClock(by duration: Duration) { desk.clock.move(by: duration / .seconds(1)) }

    /// Lets the server go by the clock that it was given again.
    public func resetClock() { desk.clock.reset() }
}
