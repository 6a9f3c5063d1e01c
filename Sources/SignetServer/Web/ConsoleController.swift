import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// The pages at `/console`, which show developers the activity of the server.
///
/// They are available only to browsers on this machine that have opened a link of ``DevServer/consoleLink()``.
struct ConsoleController: Sendable {
    static let cookieName = "signet-console"
    let server: ServerContext

    private var address: String { "\(server.contextPath)/console" }

    /// The form of the console's cookie.
    ///
    /// Its prefix and `Secure` follow the scheme of the link, which leads to the address on this machine. The public address may have
    /// another scheme.
    private var cookies: SessionCookie {
        let time = server.time
        return SessionCookie(RequestTime(now: time.now, configuration: time.configuration, baseURL: server.localURL))
    }

    private var cookieName: String { cookies.hostPrefix + Self.cookieName }

    /// Opens the console with a link, which is valid once.
    func open(_ request: Request, context: AppRequestContext) async throws -> Response {
        let token = request.query("token") ?? ""
        guard let value = try await server.store.write({ tx in try tx.console.enter(with: token) }) else {
            throw APIError(.forbidden, "The link is invalid or was already used: each link opens the console once.")
        }
        server.logger.notice("the console was opened")
        let path = cookies.isSecure ? "/" : address
        return LoginController.redirect(to: address, [cookies.own(cookieName, value, path: path, sameSite: "Strict")])
    }

    /// Shows the console.
    func show(_ request: Request, context: AppRequestContext) async throws -> Response {
        let (csrf, pages) = (try await self.csrf(request), ConsoleQuery(request))
        let facts = try await ConsoleFacts(server, at: pages)
        return ConsoleView(contextPath: server.contextPath, csrf: csrf, pages: pages, facts: facts).page.response(at: server)
    }

    /// Creates a link for another browser, and shows it.
    func link(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try await form(request, context)
        let link = try await server.consoleLink()
        return HTMLPage(
            title: "Another browser",
            content: tag("p") { "This opens the console once, in a browser on this machine:" }
                + tag("p") { tag("code") { link } } + PagePart.link("Back", to: address)
        ).response(at: server)
    }

    /// Returns a handler that performs an operation with a form of the console, and shows the console again.
    func action(_ perform: @escaping @Sendable (AdminOperations, Parameters) async throws -> Void) -> RouteHandler {
        { request, context in
            let form = try await form(request, context)
            try await perform(AdminOperations(server: server), form)
            return LoginController.redirect(to: address + ConsoleQuery(request).query)
        }
    }

    /// Returns the CSRF value for the browser's forms.
    /// - Throws: An error with status 403 for a browser that hasn't opened a link.
    private func csrf(_ request: Request) async throws -> String {
        let values = request.cookies(cookieName)
        let csrf = try await server.store.read { tx in
            try values.first { try tx.console.isOpen(to: $0) }.map { tx.mac("console \($0)") }
        }
        guard let csrf else {
            throw APIError(
                .forbidden,
                "Open the console with the link that the server prints when it starts. Each link opens the console once.")
        }
        return csrf
    }

    /// Reads a form of the console.
    /// - Throws: ``APIError/foreignForm`` for a form that wasn't made for this browser.
    private func form(_ request: Request, _ context: AppRequestContext) async throws -> Parameters {
        let csrf = try await self.csrf(request)
        let form = try await request.form(context)
        guard let given = form["csrf"], ConstantTime.areEqual(given, csrf) else { throw APIError.foreignForm }
        return form
    }
}

extension ServerContext {
    /// Creates a link that opens the console once.
    func consoleLink() async throws -> String {
        let token = try await store.write { tx in try tx.console.invite() }
        return "\(localURL)/console/open?token=\(token)"
    }
}
