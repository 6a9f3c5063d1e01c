import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// The page at `/console`, which shows developers the activity of the server.
///
/// It is available only to browsers on this machine that have opened a link of ``DevServer/consoleLink()``. The page itself is static;
/// its scripts request the administration API below `/console/admin` (``ConsoleAccessMiddleware``).
struct ConsoleController: Sendable {
    let server: ServerContext

    private var address: String { "\(server.contextPath)/console" }

    /// Opens the console with a link, which is valid once.
    func open(_ request: Request, context: AppRequestContext) async throws -> Response {
        let token = request.query("token") ?? ""
        guard let value = try await server.store.write({ tx in try tx.console.enter(with: token) }) else {
            throw APIError(.forbidden, "The link is invalid or was already used: each link opens the console once.")
        }
        server.logger.notice("the console was opened")
        let cookie = ConsoleCookie(server)
        return LoginController.redirect(to: address, [cookie.field(value)])
    }

    /// Shows the console.
    func show(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard let csrf = try await ConsoleCookie(server).csrf(request) else { throw APIError.consoleClosed }
        return ConsolePage(contextPath: server.contextPath, issuer: server.configuration.issuer, csrf: csrf).response
    }

    /// Creates a link for another browser.
    func link(_ request: Request, context: AppRequestContext) async throws -> Response {
        var response = try JSONReply.make(.created, JSONValue.object(["link": .string(try await server.consoleLink())]))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Shows the HTML of an email as a document that can run no scripts and loads nothing.
    func email(_ request: Request, context: AppRequestContext) async throws -> Response {
        let id = try context.parameter("id")
        let found = try await server.store.read(skippingUnreadableRows: true) { tx in
            try tx.emails.newest(ConsoleFacts.rows).first { $0.id == id }
        }
        guard let html = found?.message?.html else { throw APIError(.notFound, "There is no such email.") }
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers.set(
            "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'")
        headers.set("X-Frame-Options", "SAMEORIGIN")
        return Response(Array(html.utf8), type: "text/html; charset=UTF-8", headers: headers)
    }
}

/// The cookie of a browser that has opened the console.
struct ConsoleCookie: Sendable {
    static let name = "signet-console"

    private let server: ServerContext
    /// The form of the cookie.
    ///
    /// Its prefix and `Secure` follow the scheme of the link, which leads to the address on this machine. The public address may have
    /// another scheme.
    private let form: SessionCookie

    init(_ server: ServerContext) {
        self.server = server
        let time = server.time
        form = SessionCookie(time.at(server.localURL))
    }

    private var name: String { form.hostPrefix + Self.name }

    /// Returns the header field that sets the cookie.
    func field(_ value: String) -> HTTPField {
        form.own(name, value, path: form.isSecure ? "/" : "\(server.contextPath)/console", sameSite: "Strict")
    }

    /// Returns the value that the browser's requests must have (``ConsoleAccessMiddleware``); nil for a browser that hasn't opened a
    /// link.
    /// - Throws: `StoreError` when the state cannot be read.
    func csrf(_ request: Request) async throws -> String? {
        let values = request.cookies(name)
        return try await server.store.read { tx in
            try values.first { try tx.console.isOpen(to: $0) }.map { tx.mac("console \($0)") }
        }
    }
}

/// Admits the console's own requests.
///
/// A request needs the cookie of a browser that has opened a link. One that changes something also needs the value that only the
/// console's page has, in a header field that a page of another origin cannot send.
struct ConsoleAccessMiddleware: RouterMiddleware {
    static let header = "signet-console"
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        var context = context
        // The errors are those of the administration API: JSON, and not pages.
        context.family = .admin
        return try await ErrorMiddleware(server: server).handle(request, context: context) { request, context in
            guard ["same-origin", "none", nil].contains(request.header("sec-fetch-site")),
                let csrf = try await ConsoleCookie(server).csrf(request)
            else { throw APIError.consoleClosed }
            if request.method.changesState {
                guard let given = request.header(Self.header), ConstantTime.areEqual(given, csrf) else {
                    throw APIError.foreignForm
                }
            }
            return try await next(request, context)
        }
    }
}

extension APIError {
    /// The browser hasn't opened a link of the console.
    fileprivate static let consoleClosed = APIError(
        .forbidden, "Open the console with the link that the server prints when it starts. Each link opens the console once.")
}

extension ServerContext {
    /// Creates a link that opens the console once.
    func consoleLink() async throws -> String {
        let token = try await store.write { tx in try tx.console.invite() }
        return "\(localURL)/console/open?token=\(token)"
    }
}
