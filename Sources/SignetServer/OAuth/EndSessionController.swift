import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `GET` and `POST /oauth2/.../connect/endSession`: ends a session (OpenID Connect RP-Initiated Logout 1.0).
///
/// An id_token in `id_token_hint`, which may have expired, names the session. Without it, and when the browser has another session,
/// a browser gets a page that asks the user. The form of the page contains a value of the browser's session, so no other page can
/// end the session.
struct EndSessionController: Sendable {
    let server: ServerContext

    /// The parameters of a logout without an id_token.
    private static let parameterNames = ["client_id", "post_logout_redirect_uri", "state", "logout_hint", "ui_locales"]
    /// The maximum length of the query to which a form of another site is redirected, in bytes.
    private static let maxQueryLength = 8192

    func endSession(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard request.method == .post else { return try await respond(to: request, context, try request.queryParameters()) }
        let form = try await request.form(context)
        return try await server.inLanguage(of: form) { try await respond(to: request, context, form) }
    }

    private func respond(
        to request: Request, _ context: AppRequestContext, _ parameters: Parameters
    ) async throws -> Response {
        if parameters["id_token_hint"] == nil {
            if request.method == .post, let csrf = parameters["csrf"] {
                return try await endOwnSession(request, context, parameters, csrf)
            }
            if request.acceptsHTML { return try await question(request, context, parameters) }
        }
        return try await endHintedSession(request, context, parameters)
    }

    // MARK: With an id_token

    private func endHintedSession(
        _ request: Request, _ context: AppRequestContext, _ parameters: Parameters
    ) async throws -> Response {
        let realm = context.realm
        guard let hint = try await IDTokenHint(try parameters.required("id_token_hint"), at: server), hint.user.realm == realm,
            parameters["client_id"].map({ $0 == hint.clientID }) ?? true
        else { throw OAuthErrorResponse.invalidRequest("The id_token_hint is not one of this client in this realm") }

        let target = try target(parameters, of: hint.clientID, in: realm)
        let session = hint.session
        let presented = request.sessionTokens(server.configuration.cookieName).map { TokenHash($0) }
        let isOwn = session.map(presented.contains) ?? false
        // The user decides about a session that the id_token isn't of (RP-Initiated Logout section 2).
        if !isOwn, request.acceptsHTML, let other = try await browserSession(request, in: realm) {
            return question(other, parameters, target, in: realm)
        }
        let (ended, headers) = try await server.store.write { tx in
            let ended = try session.flatMap { try tx.endSession($0) }
            return (ended, isOwn ? HTTPFields([SessionCookie(tx.time).expired]) : [:])
        }
        if let ended { log(ended, realm) }
        if let target { return OAuthReply.redirect(to: target.address, headers: headers) }
        guard request.acceptsHTML else { return Response(status: .noContent, headers: headers) }
        return HTMLPage.signedOut(headers, signInAt: server.loginPath(in: realm)).response(at: server)
    }

    /// Returns the address to go to after the logout; nil when the request has none, or no client.
    /// - Throws: ``OAuthErrorResponse`` when the client has not registered the address.
    private func target(
        _ parameters: Parameters, of client: String?, in realm: RealmPath
    ) throws(OAuthErrorResponse) -> LogoutReturn? {
        guard let address = parameters["post_logout_redirect_uri"], let client else { return nil }
        return try LogoutReturn(to: address, of: client, in: realm, parameters, server.clients)
    }

    // MARK: Question

    /// A session of a browser, and the value that its form contains.
    private struct BrowserSession: Sendable {
        let user: UserKey
        let csrf: String
    }

    /// Returns the session that the cookies of a request name.
    ///
    /// This does not count as activity, so the session's idle time continues.
    private func browserSession(_ request: Request, in realm: RealmPath) async throws -> BrowserSession? {
        let tokens = request.cookies(server.configuration.cookieName)
        return try await server.store.read { tx in
            try tx.findSession(tokens, in: realm).map { BrowserSession(user: $0.session.user, csrf: tx.csrf(of: $0.token)) }
        }
    }

    /// Asks the user of a request without an id_token whether to end the session of the browser.
    ///
    /// A form of another site comes without the cookies that are `SameSite=Lax`, so it is redirected to the same address: the
    /// browser sends them with that request.
    private func question(_ request: Request, _ context: AppRequestContext, _ parameters: Parameters) async throws -> Response {
        let realm = context.realm
        let target = try target(parameters, of: parameters["client_id"], in: realm)
        if let own = try await browserSession(request, in: realm) { return question(own, parameters, target, in: realm) }
        guard request.method == .post else { return HTMLPage.notSignedIn(returningTo: target).response(at: server) }
        let query = FormCoding.encode(Self.fields(Self.parameterNames, of: parameters))
        guard query.utf8.count <= Self.maxQueryLength else {
            throw OAuthErrorResponse.invalidRequest("The parameters are too long")
        }
        let headers: HTTPFields = [
            .location: query.isEmpty ? path(in: realm) : "\(path(in: realm))?\(query)", .cacheControl: "no-store",
        ]
        return Response(status: .seeOther, headers: headers)
    }

    /// Returns the page that asks the user whether to end a session of the browser.
    private func question(
        _ session: BrowserSession, _ parameters: Parameters, _ target: LogoutReturn?, in realm: RealmPath
    ) -> Response {
        var hidden: [(name: String, value: String)] = []
        if let target {
            hidden = [(name: "client_id", value: target.client.id)]
            hidden += Self.fields(["post_logout_redirect_uri", "state"], of: parameters)
        }
        hidden.append((name: "csrf", value: session.csrf))
        return HTMLPage.signOut(session.user, action: path(in: realm), hidden: hidden, to: target).response(at: server)
    }

    private static func fields(_ names: [String], of parameters: Parameters) -> [(name: String, value: String)] {
        names.compactMap { name in parameters[name].map { (name: name, value: $0) } }
    }

    /// Returns the path of `endSession`, so that the browser stays at the host name for which it has the cookie.
    private func path(in realm: RealmPath) -> String { "\(server.contextPath)\(Route.Address(.endSession, realm: realm).path)" }

    /// Ends the session of the browser, after the user has confirmed it on the page.
    /// - Throws: ``OAuthErrorResponse`` for a form that this server did not make for the session.
    private func endOwnSession(
        _ request: Request, _ context: AppRequestContext, _ parameters: Parameters, _ csrf: String
    ) async throws -> Response {
        let realm = context.realm
        let target = try target(parameters, of: parameters["client_id"], in: realm)
        let tokens = request.cookies(server.configuration.cookieName)
        let (ended, cookie) = try await server.store.write { tx -> (SSOSession?, SessionCookie) in
            guard let presented = try tx.findSession(tokens, in: realm) else { return (nil, SessionCookie(tx.time)) }
            guard ConstantTime.areEqual(csrf, tx.csrf(of: presented.token)) else {
                throw OAuthErrorResponse(.forbidden, "access_denied", "The form is not one of this session")
            }
            return (try tx.endSession(TokenHash(presented.token)), SessionCookie(tx.time))
        }
        guard let ended else { return HTMLPage.notSignedIn(returningTo: target).response(at: server) }
        log(ended, realm)
        let headers = HTTPFields([cookie.expired])
        guard let target else { return HTMLPage.signedOut(headers, signInAt: server.loginPath(in: realm)).response(at: server) }
        return OAuthReply.redirect(to: target.address, headers: headers)
    }

    private func log(_ ended: SSOSession, _ realm: RealmPath) {
        server.logger.info("logged out", metadata: ["realm": "\(realm)", "user": "\(ended.user.name)"])
    }
}

/// The address of a client to which the browser goes after a logout, which the client has registered.
struct LogoutReturn: Sendable, Hashable {
    let client: RegisteredClient
    /// The registered address, with the `state` of the request.
    let address: String

    /// Verifies an address.
    /// - Parameters:
    ///   - address: The address in the request.
    ///   - clientID: The ID of the client.
    ///   - realm: The realm of the request.
    ///   - parameters: The parameters of the request.
    ///   - clients: The clients.
    /// - Throws: `redirect_uri_mismatch` when the realm has no such client, or the client has not registered the address.
    init(
        to address: String, of clientID: String, in realm: RealmPath, _ parameters: Parameters, _ clients: ClientRegistry
    ) throws(OAuthErrorResponse) {
        guard let client = clients[ClientKey(realm: realm, id: clientID)], client.mayReturn(to: address) else {
            throw OAuthErrorResponse(
                .badRequest, "redirect_uri_mismatch",
                "The post logout redirection URI provided does not match a pre-registered value.")
        }
        self.client = client
        let state = parameters["state"].map { [(name: "state", value: $0)] } ?? []
        self.address = FormCoding.address(address, adding: state)
    }
}
