import HTTPTypes
import Hummingbird
import Logging
import SignetCore
import SignetStorage

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
            return refusal.page(again: nil).response(at: desk)
        } catch let refusal as OAuthRefusal {
            return Refusal(refusal.status, refusal.message).page(again: nil).response(at: desk)
        } catch let error as StoreError {
            desk.logger.error("the state failed", metadata: ["code": "\(error.code.rawValue)", "reason": "\(error)"])
            return Refusal.stateFailed.page(again: nil).response(at: desk)
        }
    }

    private func answer(_ reader: RequestReader, _ path: Substring) async throws -> Response {
        if path == "/open" {
            try reader.require(.get)
            return try await open(reader.query("token") ?? "")
        }
        let cookies = reader.cookies(Self.cookieName)
        let found = try await desk.transact { state, _ in
            cookies.first { state.console.isOpen(to: $0) }.map { ($0, state.proof("console \($0)")) }
        }
        guard let (_, csrf) = found else {
            return Refusal(.forbidden, "Open the console with the link that the server prints when it starts. Each is good once.")
                .page(again: nil).response(at: desk)
        }
        let place = ConsolePlace(reader)
        guard !["", "/"].contains(path) else {
            try reader.require(.get)
            let facts = try await ConsoleFacts(desk, at: place)
            return ConsoleView(contextPath: desk.contextPath, csrf: csrf, place: place, facts: facts).page.response(at: desk)
        }
        try reader.require(.post)
        let form = try await reader.form()
        guard let given = form["csrf"], ConstantTime.areEqual(given, csrf) else { throw Refusal.foreignForm }
        return try await act(path, form, place)
    }

    private func open(_ token: String) async throws -> Response {
        let cookie = try await desk.transact { state, moment in
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

    private func act(_ path: Substring, _ form: Parameters, _ place: ConsolePlace) async throws -> Response {
        switch path {
        case "/clock":
            try await operations.moveClock(by: form["seconds"].flatMap { Double($0) } ?? .infinity)
        case "/clock/stop": try await operations.change(clock: .stop)
        case "/clock/resume": try await operations.change(clock: .resume)
        case "/clock/reset": try await operations.change(clock: .reset)
        case "/session": if let key = form["key"] { _ = try await operations.endSession(BearerKey(text: key)) }
        case "/fault": try switchOnFault(form)
        case "/fault/off": if let name = form["name"] { _ = operations.switchOff(name) }
        case "/link":
            let link = try await desk.consoleLink()
            return HTMLPage(
                title: "Another browser",
                content: tag("p") { "This opens the console once, in a browser on this machine:" }
                    + tag("p") { tag("code") { link } } + PagePart.link("Back", to: address)
            ).response(at: desk)
        default: throw Refusal(.notFound, "There is no such page.")
        }
        return LoginPages.redirect(to: address + place.query)
    }

    private var operations: AdminOperations { AdminOperations(desk: desk) }
}

extension Desk {
    /// A new link that opens the console once.
    func consoleLink() async throws -> String {
        let token = try await transact { state, _ in state.console.invite() }
        return "\(localURL)/console/open?token=\(token)"
    }
}

extension DeskServer {
    /// A link that opens the console, once, in a browser on this machine. The console shows users, devices, sessions, push messages
    /// and requests, moves the clock, and ends sessions (docs/server.md).
    /// - Throws: `StoreError` when the server's state cannot be written.
    public func consoleLink() async throws -> String { try await desk.consoleLink() }

    /// The address of the administration, for programs on this machine; nothing is there without ``ServerConfiguration/adminToken``.
    package var adminURL: String { "\(desk.localURL)/admin" }

    /// Moves the server's clock: every timeout, code and signature goes by it from now on.
    /// - Parameter duration: how far; backwards if negative.
    public func moveClock(by duration: Duration) { clock.advance(by: duration) }

    /// Lets the server go by the clock that it was given again.
    public func resetClock() { clock.reset() }
}
