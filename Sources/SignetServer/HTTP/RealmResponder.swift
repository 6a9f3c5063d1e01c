import HTTPTypes
import Hummingbird
import SignetCore
import SignetPushGateway

/// Prepares a request for the router: it finds the named route, and takes the context path and AM's realm out of the path.
///
/// AM accepts a realm in the middle of a path (`/json/realms/root/realms/alpha/authenticate`), which a router cannot match. The
/// router sees `/json/authenticate`, and the handlers find the realm in the context.
struct RealmResponder<Next: HTTPResponder<AppRequestContext>>: HTTPResponder {
    let contextPath: String
    let gateway: PushGatewayConfiguration?
    let maxBodySize: Int
    /// Returns true when AM's configuration REST exists.
    let hasConfiguration: @Sendable () -> Bool
    let next: Next

    func respond(to request: Request, context: AppRequestContext) async throws -> Response {
        var context = context
        (context.method, context.fullPath) = (request.method, request.uri.path)
        context.maxUploadSize = maxBodySize
        var head = request.head
        let path = isEntry(request, context) ? enter(&context) : address(request, &context)
        head.path = path + (request.uri.query.map { "?\($0)" } ?? "")
        // The router knows methods by name only. A method that has none reaches the same 405 response as TRACE does.
        if !HTTPRequest.Method.known.contains(head.method) { head.method = .trace }
        return try await next.respond(to: Request(head: head, body: request.body), context: context)
    }

    /// Returns true for a browser that opens the server's address without a page.
    ///
    /// Programs get the same 404 response as at any other unknown address.
    private func isEntry(_ request: Request, _ context: AppRequestContext) -> Bool {
        let path = context.fullPath
        guard request.method == .get, ["/", contextPath, "\(contextPath)/"].contains(path), request.acceptsHTML else {
            return false
        }
        return gateway?.isAt(path) != true
    }

    /// Fills the context for the redirect to the login page, and returns its path for the router.
    private func enter(_ context: inout AppRequestContext) -> String {
        context.path = context.fullPath
        (context.family, context.route) = (.pages, .pages)
        return "/\(Route.entry)"
    }

    /// Fills the context, and returns the path for the router.
    ///
    /// An unknown address gets a path that has no route.
    private func address(_ request: Request, _ context: inout AppRequestContext) -> String {
        let path = context.fullPath
        context.path = path
        if gateway?.isAt(path) ?? false {
            (context.family, context.route) = (.gateway, .gateway)
            return Route.gateway.family.prefix
        }
        let known = Self.metadataAddress(path)
        guard let below = (known ?? path).below(contextPath: contextPath) else { return "/" }
        context.path = String(below)
        let prefix = "/\(Substring(below.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }))"
        if let family = Route.Family.withoutRealm.first(where: { $0.prefix == prefix }) {
            context.family = family
            context.route = family == .health ? .health : family == .pages ? .pages : nil
            return family.routerPath(below) ?? "/"
        }
        if hasConfiguration(), let address = ConfigurationAddress(path: below, context.method, query: request.query) {
            (context.family, context.realm, context.configuration) = (.configuration, address.realm, address)
            return "/\(Route.configuration)"
        }
        guard let address = Route.Address(path: below, realmParameter: request.query("realm")) else {
            context.family = [.json, .oauth2].first { $0.prefix == prefix } ?? .none
            return "/"
        }
        (context.family, context.route, context.realm) = (address.route.family, address.route, address.realm)
        return address.routerPath
    }
}

extension RealmResponder {
    /// Returns the path of the metadata below the path of the issuer; nil for a request for something else.
    ///
    /// A client asks for it at the well-known path with the path of the issuer after it (RFC 8414 section 3.1).
    private static func metadataAddress(_ path: String) -> String? {
        guard path.hasPrefix("/.well-known/") else { return nil }
        let wellKnown = Route.authorizationServer.pattern.map { "/\($0)" }.joined()
        guard path.hasPrefix("\(wellKnown)/") else { return nil }
        return path.dropFirst(wellKnown.count) + wellKnown
    }
}

extension Route.Family {
    /// The families whose paths have no realm.
    fileprivate static let withoutRealm: [Route.Family] = [.health, .console, .pages, .admin]

    /// Returns a path of the family for the router, which ignores empty segments; nil when they make the path an unknown one.
    fileprivate func routerPath(_ path: Substring) -> String? {
        switch self {
        case .admin: String(path)
        case .pages where path == "/XUI/", .console where path == "/console/": prefix
        default: path.hasSuffix("/") || path.contains("//") ? nil : String(path)
        }
    }
}

extension HTTPRequest.Method {
    /// The methods that HTTP defines.
    static let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
}
