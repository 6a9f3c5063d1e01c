import HTTPTypes
import Hummingbird
import Logging
import SignetCore
import SignetStorage

/// The pages at `/console`, which show developers the activity of the server. They are available only to browsers on this machine
/// that have opened a link of ``DevServer/consoleLink()``.
struct ConsoleController: Sendable {
    static let cookieName = "signet-console"
    let server: ServerContext

    private var address: String { "\(server.contextPath)/console" }

    /// Responds to a request.
    /// - Parameters:
    ///   - reader: The request.
    ///   - path: The rest of the path after `/console`.
    ///   - isLocal: True when the client is on this machine.
    func respond(to reader: RequestReader, path: Substring, isLocal: Bool) async throws -> Response {
        do {
            // Clients on other machines get the same response as for an unknown path.
            guard isLocal else { throw APIError.resourceNotFound }
            return try await answer(reader, path)
        } catch let refusal as APIError {
            return refusal.page(again: nil).response(at: server)
        } catch let refusal as OAuthErrorResponse {
            return APIError(refusal.status, refusal.message).page(again: nil).response(at: server)
        } catch let error as StoreError {
            server.logger.error("the state failed", metadata: ["code": "\(error.code.rawValue)", "reason": "\(error)"])
            return APIError.stateFailed.page(again: nil).response(at: server)
        }
    }

    private func answer(_ reader: RequestReader, _ path: Substring) async throws -> Response {
        if path == "/open" {
            try reader.require(.get)
            return try await open(reader.query("token") ?? "")
        }
        let cookies = reader.cookies(Self.cookieName)
        let found = try await server.store.read { tx in
            cookies.first { tx.console.isOpen(to: $0) }.map { ($0, tx.proof("console \($0)")) }
        }
        guard let (_, csrf) = found else {
            return APIError(
                .forbidden, "Open the console with the link that the server prints when it starts. Each is good once."
            )
            .page(again: nil).response(at: server)
        }
        let place = ConsoleQuery(reader)
        guard !["", "/"].contains(path) else {
            try reader.require(.get)
            let facts = try await ConsoleFacts(server, at: place)
            return ConsoleView(contextPath: server.contextPath, csrf: csrf, place: place, facts: facts).page.response(at: server)
        }
        try reader.require(.post)
        let form = try await reader.form()
        guard let given = form["csrf"], ConstantTime.areEqual(given, csrf) else { throw APIError.foreignForm }
        return try await act(path, form, place)
    }

    private func open(_ token: String) async throws -> Response {
        let cookie = try await server.store.write { tx in
            tx.console.enter(with: token).map {
                SessionCookie(tx.time).own(Self.cookieName, $0, path: address, sameSite: "Strict")
            }
        }
        guard let cookie else {
            throw APIError(.forbidden, "The link is invalid, or not any more: each opens the console once.")
        }
        server.logger.notice("the console was opened")
        return LoginController.redirect(to: address, [cookie])
    }

    private func act(_ path: Substring, _ form: Parameters, _ place: ConsoleQuery) async throws -> Response {
        switch path {
        case "/clock":
            try await operations.moveClock(by: form["seconds"].flatMap { Double($0) } ?? .infinity)
        case "/clock/stop": try await operations.change(clock: .stop)
        case "/clock/resume": try await operations.change(clock: .resume)
        case "/clock/reset": try await operations.change(clock: .reset)
        case "/session": if let key = form["key"] { _ = try await operations.endSession(TokenHash(text: key)) }
        case "/fault": try enableFault(form)
        case "/fault/off": if let name = form["name"] { _ = operations.disable(name) }
        case "/link":
            let link = try await server.consoleLink()
            return HTMLPage(
                title: "Another browser",
                content: tag("p") { "This opens the console once, in a browser on this machine:" }
                    + tag("p") { tag("code") { link } } + PagePart.link("Back", to: address)
            ).response(at: server)
        default: throw APIError(.notFound, "There is no such page.")
        }
        return LoginController.redirect(to: address + place.query)
    }

    private var operations: AdminOperations { AdminOperations(server: server) }
}

extension ServerContext {
    /// Creates a link that opens the console once.
    func consoleLink() async throws -> String {
        let token = try await store.write { tx in tx.console.invite() }
        return "\(localURL)/console/open?token=\(token)"
    }
}

extension DevServer {
    /// Creates a link that opens the console once, in a browser on this machine. The console shows users, devices, sessions, push
    /// messages and requests. It can also move the clock and end sessions (docs/reference/server.md).
    /// - Throws: `StoreError` when the server's state cannot be written.
    public func consoleLink() async throws -> String { try await context.consoleLink() }

    /// The URL of the administration API, for programs on this machine. The API is only available with
    /// ``ServerConfiguration/adminToken``.
    package var adminURL: String { "\(context.localURL)/admin" }

    /// Moves the server's clock, which determines all timeouts, codes and signatures.
    /// - Parameter duration: The distance; negative to move the clock backward.
    public func moveClock(by duration: Duration) { clock.advance(by: duration) }

    /// Resets the server's clock to the clock that the server was created with.
    public func resetClock() { clock.reset() }
}
