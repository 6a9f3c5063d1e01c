import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// The page at `/XUI/users`, at which a tester signs in as a user without a password (``ServerConfiguration/offersUserPicker``).
///
/// It exists only for browsers on this machine, as the console does.
struct UserPickerController: Sendable {
    /// The name of the cookie that binds the form to the browser.
    private static let cookieName = "signet-picker"
    let server: ServerContext

    /// Returns the address of the page.
    /// - Parameters:
    ///   - query: The parameters of a login, of which the realm, the destination and the journey are kept.
    ///   - server: The server.
    /// - Returns: The address; nil when the configuration does not offer the page.
    static func address(_ query: String, _ server: ServerContext) -> String? {
        guard server.configuration.offersUserPicker else { return nil }
        let names = ["realm", "goto", "authIndexValue"]
        let kept = query.split(separator: "&").filter { field in names.contains { field.hasPrefix("\($0)=") } }
        return "\(server.contextPath)/XUI/users" + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
    }

    /// Shows the users of the realm.
    func show(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try admitted(request, context)
        let limit = ConsoleFacts.rows
        let value = RandomID.token()
        let (users, csrf, cookie) = try await server.store.read(skippingUnreadableRows: true) { tx in
            // An administrator gets no session here.
            let users = try tx.directory.users(ConsoleFacts.maxCounted)
                .filter { $0.realm == realm && !tx.directory.isAdministrator($0) }.prefix(limit)
                .map { (name: $0.name, isLocked: try tx.directory[$0]?.isLocked ?? false) }
            return (users, tx.mac("picker \(value)"), SessionCookie(tx.time))
        }
        let action = "\(server.contextPath)/XUI/users" + (request.uri.query.map { "?\($0)" } ?? "")
        let list = tag("form", ["method": "post", "action": action]) {
            PagePart.hidden("csrf", csrf)
            tag("ul", ["class": "people"]) {
                for user in users {
                    tag("li") {
                        tag(
                            "button",
                            [
                                "type": "submit", "name": "user", "value": user.name, "class": "plain",
                                "disabled": Markup.flag(user.isLocked),
                            ]
                        ) { user.isLocked ? localized(.userLocked, ["user": user.name]) : user.name }
                    }
                }
            }
        }
        var page = HTMLPage(
            title: localized(.chooseUser),
            purpose: localized(.chooseUserAbout),
            content: users.isEmpty ? tag("p") { localized(.noUsers, ["realm": realm.description]) } : list)
        page.formTargets = try await destination(request, realm)?.formTargets ?? []
        let path = cookie.isSecure ? "/" : "\(server.contextPath)/XUI"
        page.headers.append(cookie.own(cookie.hostPrefix + Self.cookieName, value, path: path, sameSite: "Strict"))
        return page.response(at: server)
    }

    /// Signs the browser in as the chosen user.
    func choose(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try admitted(request, context)
        let form = try await request.form(context)
        let cookie = SessionCookie(server.time)
        let values = request.cookies(cookie.hostPrefix + Self.cookieName)
        guard let csrf = form["csrf"], let name = form["user"] else { throw APIError.foreignForm }
        let isOwn = try await server.store.read { tx in values.contains { ConstantTime.areEqual(csrf, tx.mac("picker \($0)")) } }
        guard isOwn else { throw APIError.foreignForm }
        let destination = try await destination(request, realm)
        let token = try await AdminOperations(server: server).openSession(
            of: UserKey(realm: realm, name: name), journey: request.query("authIndexValue"))
        var cookies = [cookie.set(token)]
        if let routing = server.configuration.loadBalancerCookie { cookies.append(cookie.plain(routing)) }
        let own = "\(server.contextPath)/XUI/session?realm=\(realm.description.percentEncoded())"
        return LoginController.redirect(to: destination?.location ?? own, cookies)
    }

    /// Returns the realm of a request from a browser on this machine.
    /// - Throws: The response of an unknown address for other clients, and when the configuration does not offer the page.
    private func admitted(_ request: Request, _ context: AppRequestContext) throws -> RealmPath {
        guard server.configuration.offersUserPicker, LoopbackPolicy(server, context.client).admits(request) else {
            throw HTTPError(.notFound)
        }
        return try server.realm(ofPage: request)
    }

    /// Returns the URL to go to after the login; nil when the address names none.
    private func destination(_ request: Request, _ realm: RealmPath) async throws -> ReturnAddress? {
        guard let goto = request.query("goto") else { return nil }
        let realms = server.realms
        let found = try await server.store.read { tx in ReturnAddress(goto, in: realm, realms: realms, tx) }
        guard let found else { throw APIError.foreignReturn }
        return found
    }
}
