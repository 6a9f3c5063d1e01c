import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// The pages at `/XUI/session` and `/XUI/logout`, for users that logged in without an app to return to.
struct SessionPageController: Sendable {
    let server: ServerContext

    /// The parameter with which a logout leads to the page.
    private static let afterLogout = "signedOut"

    /// Shows the session of the browser.
    ///
    /// This does not count as activity, so the session's idle time continues.
    func show(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try server.realm(ofPage: request)
        let tokens = request.cookies(server.configuration.cookieName)
        let found = try await server.store.read { tx -> (SSOSession, String)? in
            for token in tokens {
                guard let session = try tx.sessions.find(TokenHash(token)), session.user.realm == realm else {
                    continue
                }
                return (session, tx.csrf(of: token))
            }
            return nil
        }
        guard let (session, csrf) = found else {
            let login = server.loginPath(in: realm)
            return (request.flag(Self.afterLogout) ? HTMLPage.signedOut(signInAt: login) : Self.none(login)).response(at: server)
        }
        let action = "\(server.contextPath)/XUI/logout?realm=\(realm.description.percentEncoded())"
        return HTMLPage(
            title: localized(.signedIn),
            content: tag("dl") {
                tag("dt") { localized(.sessionName) }
                tag("dd") { session.user.name }
                tag("dt") { localized(.sessionRealm) }
                tag("dd") { realm.description }
                tag("dt") { localized(.sessionJourneys) }
                tag("dd") { session.trees.sorted().joined(separator: ", ") }
                tag("dt") { localized(.sessionStart) }
                tag("dd") { Self.time(session.authenticatedAt) }
                tag("dt") { localized(.sessionEnd) }
                tag("dd") { Self.time(session.end) }
                tag("dt") { localized(.sessionIdleEnd) }
                tag("dd") { Self.time(session.idleEnd) }
            }
                + tag("form", ["method": "post", "action": action]) {
                    PagePart.hidden("csrf", csrf)
                    tag("div", ["class": "buttons"]) { PagePart.button(localized(.signOut), isMain: false) }
                }
        ).response(at: server)
    }

    /// Ends the browser's session.
    /// - Throws: ``APIError/foreignForm`` for a form of a different session.
    func logOut(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try server.realm(ofPage: request)
        let form = try await request.form(context)
        let tokens = request.cookies(server.configuration.cookieName)
        let (ended, cookie) = try await server.store.write { tx in
            guard let presented = try tx.session(tokens, in: realm) else {
                return (nil as SSOSession?, SessionCookie(tx.time))
            }
            guard let csrf = form["csrf"], ConstantTime.areEqual(csrf, tx.csrf(of: presented.token)) else {
                throw APIError.foreignForm
            }
            return (try tx.endSession(TokenHash(presented.token)), SessionCookie(tx.time))
        }
        if let ended { server.logger.info("logged out", metadata: ["realm": "\(realm)", "user": "\(ended.user.name)"]) }
        let mark = ended == nil ? "" : "&\(Self.afterLogout)=true"
        return LoginController.redirect(
            to: "\(server.contextPath)/XUI/session?realm=\(realm.description.percentEncoded())\(mark)", [cookie.expired])
    }

    /// Returns the page for a browser without a session.
    static func none(_ login: String) -> HTMLPage {
        HTMLPage(
            title: localized(.youAreNotSignedIn),
            content: tag("p") { localized(.noSession) }
                + PagePart.link(localized(.signIn), to: login))
    }

    /// Returns a time in UTC with a precision of one second.
    ///
    /// The date is omitted if it is the given day.
    static func time(_ date: Date, on day: Date? = nil) -> Markup {
        let text = date.ISO8601Format()
        let isThatDay = day.map { $0.ISO8601Format().prefix(10) == text.prefix(10) } ?? false
        let readable = text.replacing("T", with: " ").replacing("Z", with: isThatDay ? "" : " UTC")
        return tag("time", ["datetime": text]) { isThatDay ? String(readable.dropFirst(11)) : readable }
    }
}
