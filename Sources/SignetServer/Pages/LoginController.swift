import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore
import SignetStorage

/// The login pages at `/XUI/`, with the URL and the parameters of AM.
struct LoginController: Sendable {
    static let cookieName = "signet-browser"
    let server: ServerContext

    /// Returns the URL of the login page to which a browser is redirected.
    static func address(
        _ baseURL: String, _ realm: RealmPath, goto: String, isForced: Bool = false, journey: String? = nil
    ) -> String {
        let force = isForced ? "&ForceAuth=true" : ""
        let choice = journey.map { "&authIndexType=service&authIndexValue=\($0.percentEncoded())" } ?? ""
        return "\(baseURL)/XUI/?realm=\(realm.description.percentEncoded())&goto=\(goto.percentEncoded())\(force)\(choice)#login/"
    }

    /// Shows the page of a login flow, or starts a flow.
    func page(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try server.realm(ofPage: request)
        guard let id = request.query("flow") else { return try await begin(request, realm) }
        return try await show(id, request)
    }

    // MARK: Login flow

    private func begin(_ request: Request, _ realm: RealmPath) async throws -> Response {
        let query = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("suspendedId=") }
        var start = LoginFlowStart(
            kind: .email(token: ""), realm: realm, query: query.joined(separator: "&"), goto: request.query("goto"))
        if let token = request.query("suspendedId") {
            start.kind = .email(token: token)
        } else {
            var journey = try JourneyStart(request, realm: realm, server.configuration)
            // The parameter `service` is AM's short form for the journey.
            if journey.tree == nil { journey.tree = request.query("service") }
            start.kind = .journey(journey)
        }
        let known = request.browser
        let browser = known ?? RandomID.token()
        let (id, cookies) = try await server.store.write { [start] tx in
            let id = try tx.begin(start, browser: TokenHash(browser), realms: server.realms)
            let cookie = SessionCookie(tx.time)
            let routing = server.configuration.loadBalancerCookie.map { [cookie.plain($0)] } ?? []
            let own = known == nil ? [cookie.own(Self.cookieName, browser, path: "\(server.contextPath)/XUI")] : []
            return (id, own + routing)
        }
        return Self.redirect(to: address(of: id), cookies)
    }

    private func show(_ id: String, _ request: Request) async throws -> Response {
        guard let browser = request.browser.map({ TokenHash($0) }),
            let (flow, csrf) = try await server.store.write({ tx in
                try tx.flow(id, of: browser).map { ($0, tx.csrf(of: id, page: $0.page, browser: browser)) }
            })
        else {
            var page = APIError(.notFound, "This sign-in is over, or was begun in another browser. Cookies must be allowed here.")
                .page(again: "\(server.contextPath)/XUI/")
            page.title = "There is nothing here"
            return page.response(at: server)
        }
        let again = "\(server.contextPath)/XUI/?\(flow.query)"
        switch flow.state {
        case .done(let end): return try await finish(flow, end, again)
        case .failed(let refusal):
            if let reason = refusal.reason { server.logger.info("login failed", metadata: ["reason": "\(reason)"]) }
            return refusal.page(again: again).response(at: server)
        case .invited:
            return invitation(form(flow, csrf)).leading(to: flow.destination).response(at: server)
        case .open(let step, let due):
            let left = due.map { max(0, Int(($0.timeIntervalSince(server.clock.now) * 1000).rounded(.up))) }
            let view = StepView(
                step: step, form: form(flow, csrf), wait: left, pollAddress: "\(server.contextPath)/XUI/wait?flow=\(id)")
            return view.page.leading(to: flow.destination).response(at: server)
        }
    }

    private func form(_ flow: LoginFlow, _ csrf: String) -> FormHandle {
        FormHandle(action: address(of: flow.id), flow: flow.id, page: flow.page, csrf: csrf)
    }

    private func invitation(_ form: FormHandle) -> HTMLPage {
        HTMLPage(
            title: "Go on signing in",
            content: tag("p") { "You followed the link of an email. It works once." }
                + form.markup(stage: nil) {
                    tag("div", ["class": "buttons"]) { PagePart.button("Continue") }
                })
    }

    private func finish(_ flow: LoginFlow, _ end: LoginFlowEnd, _ again: String) async throws -> Response {
        guard let token = end.token else {
            return HTMLPage(
                title: "Done",
                content: tag("p") { "\(end.user.name) has completed \(end.tree). It opens no session." }
                    + PagePart.link("Once more", to: again)
            ).response(at: server)
        }
        let cookie = try await server.store.read { tx in
            try tx.sessions.find(TokenHash(token.text)).map { _ in SessionCookie(tx.time).set(token.text) }
        }
        guard let cookie else { return SessionPageController.none(again).response(at: server) }
        server.logger.info(
            "logged in", metadata: ["journey": "\(end.tree)", "realm": "\(flow.realm)", "user": "\(end.user.name)"])
        let own = "\(server.contextPath)/XUI/session?realm=\(flow.realm.description.percentEncoded())"
        return Self.redirect(to: flow.destination?.location ?? own, [cookie])
    }

    /// Processes a submitted form and redirects the browser to the next page, so that reloading that page does not submit the
    /// form again.
    func take(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try server.realm(ofPage: request)
        let form = try await request.form(context)
        guard let browser = request.browser.map({ TokenHash($0) }), let id = form["flow"],
            let page = form["page"].flatMap({ Int($0) }), let csrf = form["csrf"]
        else { throw APIError.foreignForm }
        let userAgent = request.header("user-agent").map { String($0.prefix(256)) }
        try await server.store.write { tx in
            guard ConstantTime.areEqual(csrf, tx.csrf(of: id, page: page, browser: browser)) else { throw APIError.foreignForm }
            try tx.answer(id, page: page, of: browser, form: form, userAgent: userAgent)
        }
        return Self.redirect(to: address(of: id))
    }

    /// Answers the poll of the page's script: the number of the current page, and the remaining wait time.
    func wait(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try server.realm(ofPage: request)
        guard let browser = request.browser.map({ TokenHash($0) }), let id = request.query("flow"),
            let (flow, now) = try await server.store.write({ tx in
                try tx.flow(id, of: browser).map { ($0, tx.now) }
            })
        else { throw APIError.resourceNotFound }
        var body: [String: JSONValue] = ["page": .integer(Int64(flow.page))]
        if case .open(_, let due?) = flow.state {
            body["wait"] = .integer(Int64(max(0, (due.timeIntervalSince(now) * 1000).rounded(.up))))
        }
        var response = try JSONReply.make(.ok, JSONValue.object(body))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func address(of flow: String) -> String { "\(server.contextPath)/XUI/?flow=\(flow)" }

    static func redirect(to location: String, _ cookies: [HTTPField] = []) -> Response {
        var headers: HTTPFields = [.location: location, .cacheControl: "no-store"]
        for cookie in cookies { headers.append(cookie) }
        headers.set("Referrer-Policy", "no-referrer")
        return Response(status: .seeOther, headers: headers)
    }
}

extension ServerContext {
    /// Returns the realm of a page.
    /// - Throws: ``APIError/unknownRealm(_:)``.
    func realm(ofPage request: Request) throws(APIError) -> RealmPath {
        let realm = RealmPath(request.query("realm") ?? "/")
        guard has(realm) else { throw .unknownRealm(realm) }
        return realm
    }
}

extension Request {
    /// The cookie that identifies the browser.
    ///
    /// It is not verified here; it is valid only if a login flow is stored for it.
    fileprivate var browser: String? { cookies(LoginController.cookieName).first { !$0.isEmpty && $0.utf8.count <= 64 } }
}

extension HTMLPage {
    /// Returns the page with a destination.
    ///
    /// It shows the client to which the login leads, and its forms may lead the browser there.
    fileprivate func leading(to destination: ReturnAddress?) -> HTMLPage {
        var page = self
        page.formTargets = destination?.formTargets ?? []
        page.purpose = destination?.client.map { "To go on to \($0)" }
        return page
    }
}

/// The hidden fields of a form in a login flow.
struct FormHandle: Sendable {
    let action: String
    let flow: String
    let page: Int
    let csrf: String

    func markup(
        stage: String?, _ attributes: Markup.Attributes = [:], @MarkupBuilder _ content: () -> Markup
    ) -> Markup {
        tag("form", ["method": "post", "action": action, "data-page": String(page), "data-stage": stage] + attributes) {
            PagePart.hidden("flow", flow)
            PagePart.hidden("page", String(page))
            PagePart.hidden("csrf", csrf)
            content()
        }
    }
}

extension APIError {
    /// Returns a page that explains the error, with a link to try again if `again` is not nil.
    func page(again: String?) -> HTMLPage {
        let (title, text) = explanation
        return HTMLPage(
            title: title, status: status,
            content: PagePart.alert(text) + policies + (again.map { PagePart.link("Try again", to: $0) } ?? .nothing),
            headers: headers)
    }

    private var explanation: (String, String) {
        if isTimeout { return ("Time is up", "The sign-in took too long, so it ended.") }
        if self == .suspensionNotFound {
            return ("The link is invalid", "A link in an email works once and for a limited time. Sign in again to get another.")
        }
        if self == .lockedOut { return ("Locked", "This account is locked. An administrator can unlock it.") }
        if message == "Login failure" {
            return (
                "Not signed in",
                "You could not be signed in: what was entered is not right, or your device said no, or did not answer in time."
            )
        }
        return (status == .notFound ? "There is nothing here" : "That did not work", message)
    }

    /// The list of policies that a value does not comply with.
    private var policies: Markup {
        let failures = (detail?["failedPolicyRequirements"]?.array ?? []).flatMap { failure in
            (failure["policyRequirements"]?.array ?? []).map { (failure["property"]?.string ?? "", $0) }
        }
        guard !failures.isEmpty else { return .nothing }
        return tag("ul", ["class": "errors"]) {
            for (property, requirement) in failures {
                tag("li") { "\(property): \(PolicyRequirement.sentence(for: requirement))" }
            }
        }
    }
}
