import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore
import SignetStorage

/// The login pages at `/XUI/`, with the URL and the parameters of AM.
struct LoginController: Sendable {
    let server: ServerContext

    /// Returns the URL of the login page to which a browser is redirected.
    static func address(
        _ baseURL: String, _ realm: RealmPath, goto: String, isForced: Bool = false, journey: String? = nil
    ) -> String {
        let force = isForced ? "&ForceAuth=true" : ""
        let choice = journey.map { "&authIndexType=service&authIndexValue=\($0.percentEncoded())" } ?? ""
        return "\(baseURL)/XUI/?realm=\(realm.description.percentEncoded())&goto=\(goto.percentEncoded())\(force)\(choice)#login/"
    }

    /// Leads a browser that opens the server's address without a page to the login page, with the parameters of a login.
    func enter(_ request: Request, context: AppRequestContext) async throws -> Response {
        let query = try request.knownQuery()
        return Self.redirect(to: "\(server.contextPath)/XUI/" + (query.isEmpty ? "" : "?\(query)"))
    }

    /// Shows the page of a login flow, or starts a flow.
    func page(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try server.realm(ofPage: request)
        guard let id = request.query("flow") else { return try await begin(request, realm, context.client) }
        return try await show(id, request, context.client)
    }

    /// Returns the style sheet with the colors of the configuration.
    func colors(_ request: Request, context: AppRequestContext) async throws -> Response {
        guard let color = server.configuration.accentColor else { throw HTTPError(.notFound) }
        var headers: HTTPFields = [.cacheControl: "public, max-age=3600"]
        headers.setPageSecurity()
        return Response(
            Array(PageColors(color.trimming("#").description).css.utf8), type: "text/css; charset=UTF-8", headers: headers)
    }

    // MARK: Login flow

    private func begin(_ request: Request, _ realm: RealmPath, _ client: ClientConnection) async throws -> Response {
        guard request.opensPage else { throw APIError.notOpenedAsPage }
        var start = LoginFlowStart(
            kind: .email(token: ""), realm: realm, query: try request.knownQuery(), goto: request.query("goto"),
            address: client.network, cookies: request.loginCookies(SessionCookie(server.time)))
        if let token = request.query("suspendedId") {
            start.kind = .email(token: token)
        } else {
            var journey = try JourneyStart(request, realm: realm, server.configuration)
            // The parameter `service` is AM's short form for the journey.
            if journey.tree == nil { journey.tree = request.query("service") }
            start.kind = .journey(journey)
        }
        start.repeated = request.query(LoginFlow.repeatedParameter)
        let (shown, cookies, dispatched) = try await server.store.write(for: JourneyRequest(request, client)) { [start] tx in
            let (login, ended) = try tx.begin(start, realms: server.realms)
            let (cookie, path) = (SessionCookie(tx.time), server.contextPath)
            let routing = server.configuration.loadBalancerCookie.map { [cookie.plain($0)] } ?? []
            let removed = ended.sorted().map { cookie.loginEnd($0, contextPath: path) }
            let cookies = [cookie.login(login, at: tx.now, contextPath: path)] + removed + routing
            let shown = try tx.shownFlow(login.flow)
            if case .open = shown?.flow.state { tx.allowLossInPowerFailure() }
            return (shown, cookies, tx.dispatched)
        }
        guard let shown else { throw APIError.resourceNotFound }
        let failed = try await deliver(dispatched, of: shown.flow.id)
        // A page that only asks something is the response itself: a reload of it starts another flow, and nothing is lost. A page
        // that waits, or tells how the login ended, has the address of the flow.
        guard failed == nil, case .open(let step, nil) = shown.flow.state, shown.flow.state.onlyAsks else {
            return Self.redirect(to: address(of: shown.flow.id, start.query), cookies)
        }
        var response = stepPage(step, due: nil, of: shown)
        for cookie in cookies { response.headers.append(cookie) }
        return response
    }

    private func show(_ id: String, _ request: Request, _ client: ClientConnection) async throws -> Response {
        let browsers = request.loginCookies(of: id, SessionCookie(server.time))
        let (found, dispatched) = try await server.store.write(for: JourneyRequest(request, client)) { tx in
            (try tx.flow(id, of: browsers).map { try tx.shown($0) }, tx.dispatched)
        }
        guard var shown = found else {
            if let destination = try await finishedDestination(of: id, request) { return Self.redirect(to: destination) }
            return try await over(request)
        }
        if let failed = try await deliver(dispatched, of: id) { shown.flow = failed }
        let flow = shown.flow
        let again = "\(server.contextPath)/XUI/?\(flow.query)"
        switch flow.state {
        case .done(let end): return try await finish(flow, end, again, browsers)
        case .failed(let refusal):
            if let reason = refusal.reason {
                server.logger.log(level: refusal.logLevel, "login failed", metadata: ["reason": "\(reason)"])
            }
            let repeated = flow.kept == nil ? "" : "\(flow.query.isEmpty ? "" : "&")\(LoginFlow.repeatedParameter)=\(flow.id)"
            return failure(refusal, of: flow, again + repeated).response(at: server)
        case .invited:
            return invitation(form(flow, shown.csrf)).leading(to: flow.destination, server).response(at: server)
        case .open(let step, let due): return stepPage(step, due: due, of: shown)
        }
    }

    /// Returns the page that asks in a step of a login flow.
    private func stepPage(_ step: JourneyStep, due: Date?, of shown: ShownFlow) -> Response {
        let flow = shown.flow
        let left = due.map { max(0, Int(($0.timeIntervalSince(server.clock.now) * 1000).rounded(.up))) }
        let view = StepView(
            step: step, form: form(flow, shown.csrf), wait: left, pollAddress: "\(server.contextPath)/XUI/wait?flow=\(flow.id)",
            isRepeated: flow.isRepeated == true, kept: flow.isFilledIn ? flow.kept : nil, push: shown.push,
            codes: shown.codes,
            again: "\(server.contextPath)/XUI/?\(flow.query)",
            picker: flow.page == 1 ? UserPickerController.address(flow.query, server) : nil)
        return view.page.leading(to: flow.destination, server).response(at: server)
    }

    /// Returns the page of a login flow that has failed, with a link that starts another attempt.
    ///
    /// A journey that does not exist is not started again: the link leads to the default journey, and to the same destination.
    private func failure(_ refusal: APIError, of flow: LoginFlow, _ again: String) -> HTMLPage {
        guard refusal == .noSuchJourney else { return refusal.page(again: again) }
        let kept = flow.query.split(separator: "&").filter { $0.hasPrefix("realm=") || $0.hasPrefix("goto=") }
        let query = kept.joined(separator: "&")
        return refusal.page(again: "\(server.contextPath)/XUI/" + (query.isEmpty ? "" : "?\(query)"), label: .signIn)
    }

    /// Returns the page for a login flow that is over or belongs to another browser, with a link that starts the login again.
    ///
    /// The link has the parameters of the flow's URL. A destination that a login could not go to is left out.
    private func over(_ request: Request) async throws -> Response {
        let realm = try server.realm(ofPage: request)
        var query = try request.knownQuery()
        if let goto = request.query("goto") {
            let isAllowed = try await server.store.read { tx in
                ReturnAddress(goto, in: realm, realms: server.realms, tx) != nil
            }
            if !isAllowed { query = try request.knownQuery(without: "goto") }
        }
        var page = APIError(
            .notFound,
            localized(.signInOver)
        )
        .page(again: "\(server.contextPath)/XUI/" + (query.isEmpty ? "" : "?\(query)"))
        page.title = localized(.nothingHere)
        return page.response(at: server)
    }

    private func form(_ flow: LoginFlow, _ csrf: String) -> FormHandle {
        FormHandle(action: address(of: flow.id, flow.query), flow: flow.id, page: flow.page, csrf: csrf)
    }

    private func invitation(_ form: FormHandle) -> HTMLPage {
        HTMLPage(
            title: localized(.goOnSigningIn),
            content: tag("p") { localized(.linkFollowed) }
                + form.markup(stage: nil) {
                    tag("div", ["class": "buttons"]) { PagePart.button(localized(.continueLabel)) }
                })
    }

    /// Processes a submitted form and redirects the browser to the next page, so that reloading that page does not submit the
    /// form again.
    ///
    /// The last form of a login redirects it to the destination, and to the client if the login was for an authorization request
    /// (``ServerTransaction/complete(_:presented:follows:)``).
    func take(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try server.realm(ofPage: request)
        let form = try await request.form(context)
        guard let id = form["flow"], let page = form["page"].flatMap({ Int($0) }), let csrf = form["csrf"] else {
            throw APIError.foreignForm
        }
        let cookie = SessionCookie(server.time)
        let answer = LoginAnswer(
            flow: id, page: page, browsers: request.loginCookies(of: id, cookie), form: form,
            userAgent: request.header("user-agent").map { $0.limited(to: 256) }, address: context.client.network,
            devices: request.deviceCookies(cookie))
        let received = JourneyRequest(request, context.client)
        let tokens = request.sessionTokens(server.configuration.cookieName)
        // A fault for authorization requests applies to a request of the browser, so the browser sends it.
        let follows = server.faults.isIdle
        let (cookies, completion, dispatched) = try await server.store.write(for: received) { tx in
            guard ConstantTime.areEqual(csrf, tx.csrf(of: id, page: page)) else { throw APIError.foreignForm }
            let login = try tx.answer(answer)
            let completion = try login == nil ? nil : tx.complete(id, presented: tokens, follows: follows)
            let cookie = (completion?.cookie ?? login).map {
                SessionCookie(tx.time).login($0, at: tx.now, contextPath: server.contextPath)
            }
            return (cookie.map { [$0] } ?? [], completion, tx.dispatched)
        }
        _ = try await deliver(dispatched, of: id)
        if let completion { return completed(completion, cookies) }
        return Self.redirect(to: address(of: id, try request.knownQuery()), cookies)
    }

    /// Answers the poll of the page's script: the number of the current page, and the remaining wait time.
    func wait(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try server.realm(ofPage: request)
        guard let id = request.query("flow") else { throw APIError.resourceNotFound }
        let (found, now, dispatched) = try await server.store.write(for: JourneyRequest(request, context.client)) { tx in
            (try tx.flow(id, of: request.loginCookies(of: id, SessionCookie(tx.time))), tx.now, tx.dispatched)
        }
        guard let found else { throw APIError.resourceNotFound }
        let flow = try await deliver(dispatched, of: id) ?? found
        var body: [String: JSONValue] = ["page": .integer(Int64(flow.page))]
        if case .open(_, let due?) = flow.state {
            body["wait"] = .integer(Int64(max(0, (due.timeIntervalSince(now) * 1000).rounded(.up))))
        }
        var response = try JSONReply.make(.ok, JSONValue.object(body))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Delivers the push messages of a login flow (``ServerContext/deliver(_:)``).
    ///
    /// The flow fails when a message cannot be delivered.
    /// - Returns: The flow after a message could not be delivered; nil when all were.
    private func deliver(_ messageIDs: [String], of flow: String) async throws -> LoginFlow? {
        do {
            try await server.deliver(messageIDs)
            return nil
        } catch let error as APIError {
            return try await server.store.write { tx in try tx.fail(flow, with: error) }
        }
    }

    /// Returns the address of a login flow's pages.
    ///
    /// It contains the parameters with which the flow started, so that the login can start again when the flow is over.
    private func address(of flow: String, _ query: String) -> String {
        let parameters = query.isEmpty || query.utf8.count > Self.maxQueryLength ? "" : "\(query)&"
        return "\(server.contextPath)/XUI/?\(parameters)flow=\(flow)"
    }

    /// The length of the longest parameters in a page's address, in bytes: the browser sends the address twice, also as referrer.
    private static var maxQueryLength: Int { 4096 }

    static func redirect(to location: String, _ cookies: [HTTPField] = []) -> Response {
        var headers: HTTPFields = [.location: location, .cacheControl: "no-store"]
        for cookie in cookies { headers.append(cookie) }
        headers.set("Referrer-Policy", "no-referrer")
        return Response(status: .seeOther, headers: headers)
    }
}

extension ServerContext {
    /// Returns the path of the login page of a realm.
    func loginPath(in realm: RealmPath) -> String { "\(contextPath)/XUI/?realm=\(realm.description.percentEncoded())" }

    /// Returns the realm of a page.
    /// - Throws: ``APIError/unknownRealm(_:)``.
    func realm(ofPage request: Request) throws(APIError) -> RealmPath {
        let realm = RealmPath(request.query("realm") ?? "/")
        guard has(realm) else { throw .unknownRealm(realm) }
        return realm
    }
}

extension Request {
    /// The parameters of a login URL that start the same flow again.
    private static let loginParameters: Set = [
        "realm", "goto", "authIndexType", "authIndexValue", "service", "ForceAuth", "noSession", "ui_locales",
    ]

    /// Returns the known parameters of a login URL as received, each once, because a flow stores them.
    /// - Parameter excluded: The name of a parameter to leave out.
    /// - Returns: The parameters in the form of a query.
    /// - Throws: ``APIError`` with status 400 when one is too long.
    fileprivate func knownQuery(without excluded: Substring = "") throws(APIError) -> String {
        var names: Set<Substring> = [excluded]
        var fields: [Substring] = []
        for field in (uri.query ?? "").fields(separatedBy: UInt8(ascii: "&")) {
            let name = field.halves(at: UInt8(ascii: "="))?.before ?? field
            guard Self.loginParameters.contains(String(name)), names.insert(name).inserted else { continue }
            guard field.utf8.count <= (name == "goto" ? 8192 : 1024) else {
                throw APIError(.badRequest, "The parameter \(name) is too long.")
            }
            fields.append(field)
        }
        return fields.joined(separator: "&")
    }
}

extension Request {
    /// True when a browser opens the address as a page, and not as an image, a frame or a script's request (W3C Fetch Metadata).
    ///
    /// Clients that do not send these headers open it as a page too.
    var opensPage: Bool {
        ["navigate", nil].contains(header("sec-fetch-mode")) && ["document", nil].contains(header("sec-fetch-dest"))
    }
}

extension APIError {
    /// The error for a login that a part of a page would start.
    fileprivate static let notOpenedAsPage = APIError(
        .forbidden, "A sign-in begins only when its address is opened as a page of its own.")
}

extension HTMLPage {
    /// Returns the page with a destination.
    ///
    /// It shows the client to which the login leads, and its forms may lead the browser there.
    fileprivate func leading(to destination: ReturnAddress?, _ server: ServerContext) -> HTMLPage {
        var page = self
        page.formTargets = destination?.formTargets ?? []
        page.purpose = destination?.client.map { id in
            let client = destination?.clientRealm.flatMap { server.clients[ClientKey(realm: $0, id: id)] }
            page.clientLogo = client?.logo
            return localized(.toContinue, ["client": client?.shownName ?? id])
        }
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
    /// Returns a page that explains the error.
    /// - Parameters:
    ///   - again: The address of a link; nil for no link.
    ///   - label: The text of the link.
    /// - Returns: A page with the status of the error.
    func page(again: String?, label: PageText = .tryAgain) -> HTMLPage {
        let (title, text) = explanation
        return HTMLPage(
            title: title, status: status,
            content: PagePart.alert(text) + policies + (again.map { PagePart.link(localized(label), to: $0) } ?? .nothing),
            headers: headers)
    }

    private var explanation: (String, String) {
        if self == .noSuchJourney {
            return (localized(.noSuchJourney), localized(.noSuchJourneyAbout))
        }
        if isTimeout { return (localized(.timeIsUp), localized(.timeIsUpAbout)) }
        if self == .suspensionNotFound {
            return (localized(.linkInvalid), localized(.linkInvalidAbout))
        }
        if self == .lockedOut { return (localized(.locked), localized(.lockedAbout)) }
        if self == .authenticationError {
            return (localized(.didNotWork), localized(.messageNotSent))
        }
        if status == .unauthorized, let text = SignInFailure.text(reason).map({ localized($0) }) {
            return (localized(.notSignedIn), message == "Login failure" ? text : "\(text) \(message)")
        }
        if message == "Login failure" {
            return (localized(.notSignedIn), localized(.notSignedInAbout))
        }
        return (localized(status == .notFound ? .nothingHere : .didNotWork), message)
    }

    /// The list of policies that a value does not comply with.
    private var policies: Markup {
        let failures = (detail?["failedPolicyRequirements"]?.array ?? []).flatMap { failure in
            (failure["policyRequirements"]?.array ?? []).map { (failure["property"]?.string ?? "", $0) }
        }
        guard !failures.isEmpty else { return .nothing }
        return tag("ul", ["class": "errors"]) {
            for (property, requirement) in failures {
                tag("li") { "\(property): \(PageLanguage.current.instruction(for: requirement))" }
            }
        }
    }
}
