import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// A login that ends in the response to its last form.
struct LoginCompletion: Sendable {
    let end: LoginFlowEnd
    let realm: RealmPath
    /// The token of the session.
    let token: String
    /// The last cookie of the flow, which marks the flow as finished (``FinishedFlow``).
    let cookie: LoginCookie
    /// The URL to go to.
    let location: String
    /// The id of the client that has got a code in ``location``; nil for none.
    let client: String?
}

/// The cookie of a login flow that has ended: its value says so, and is valid without the stored flow.
///
/// A user that goes back from the client to the login page is led to the client again. The value is valid for one flow and one
/// destination, until the flow expires. It contains a MAC, so no other party can make one, and it gives no session.
struct FinishedFlow: Sendable {
    let flow: String
    let destination: String
    /// The expiry of the flow, in seconds since 1970.
    let expiry: Int64

    /// Returns the value of the cookie.
    func value(_ tx: ServerTransaction) -> String { "\(expiry)-\(tx.mac("finished flow \(flow) \(expiry) \(destination)"))" }

    /// Returns true when one of a browser's cookies says that it has finished the flow.
    static func isMarked(by values: [String], _ flow: String, _ destination: String, _ tx: ServerTransaction) -> Bool {
        values.contains { value in
            guard let expiry = Int64(value.prefix { $0 != "-" }), tx.now.timeIntervalSince1970 < Double(expiry) else {
                return false
            }
            let expected = FinishedFlow(flow: flow, destination: destination, expiry: expiry).value(tx)
            return ConstantTime.areEqual(value, expected)
        }
    }
}

extension ServerTransaction {
    /// Ends a login flow whose last answer was accepted, without another request of the browser.
    ///
    /// The browser has to request the next page itself when the journey sets cookies of its own or opens no session. When the
    /// browser sends the last form again, because it has lost the response, the session gets another token: the server doesn't
    /// have the first one any more.
    /// - Parameters:
    ///   - id: The id of the flow, whose answer or repeated answer was accepted in this transaction.
    ///   - presented: The session tokens that the browser sent.
    ///   - follows: True to decide the authorization request to which the login leads.
    /// - Returns: The end of the login; nil when the browser has to request the next page.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func complete(_ id: String, presented: [String], follows: Bool) throws -> LoginCompletion? {
        guard let flow = try flows[id], case .done(let end) = flow.state, end.cookies == nil, newDevice(of: flow, end.user) == nil
        else { return nil }
        let given = end.token.map(\.text)
        guard let token = try given ?? end.session.flatMap({ try sessions.replaceToken(of: $0) }),
            try sessions.find(TokenHash(token)) != nil
        else { return nil }
        let destination = flow.destination?.location ?? time.sessionPagePath(in: flow.realm)
        let mark = FinishedFlow(
            flow: id, destination: destination, expiry: Int64(flow.expiresAt.timeIntervalSince1970.rounded(.up)))
        // A browser that had the token before the login doesn't need it again.
        let cookie = close(flow, session: presented.contains(token) ? nil : TokenHash(token), cookie: mark.value(self))
        let answer = follows ? try AuthorizeController.answer(toRequestAt: destination, session: token, flow: id, &self) : nil
        return LoginCompletion(
            end: end, realm: flow.realm, token: token, cookie: cookie, location: answer?.location ?? destination,
            client: answer?.client)
    }
}

extension LoginController {
    func finish(
        _ flow: LoginFlow, _ end: LoginFlowEnd, _ again: String, _ browsers: [TokenHash]
    ) async throws -> Response {
        let destination = flow.destination?.location ?? server.sessionPagePath(in: flow.realm)
        // The user has gone back: the browser has the session, or the user has logged out.
        if end.isCollected == true { return Self.redirect(to: destination) }
        guard end.token != nil else {
            return HTMLPage(
                title: localized(.done),
                content: tag("p") { localized(.completed, ["user": end.user.name, "journey": end.tree]) }
                    + PagePart.link(localized(.onceMore), to: again)
            ).response(at: server)
        }
        let cookies = try await server.store.write { tx -> [HTTPField]? in
            guard let flow = try tx.flow(flow.id, of: browsers), case .done(let end) = flow.state, let token = end.token else {
                return []
            }
            guard try tx.sessions.find(TokenHash(token.text)) != nil else { return nil }
            let (cookie, path) = (SessionCookie(tx.time), server.contextPath)
            let (login, device) = tx.collect(flow)
            let ofNodes = (end.cookies ?? []).map { HTTPField(name: .setCookie, value: $0.text) }
            let kept = ofNodes + (device.map { [cookie.device($0, contextPath: path)] } ?? [])
            return [cookie.set(token.text), cookie.login(login, at: tx.now, contextPath: path)] + kept
        }
        guard let cookies else { return SessionPageController.none(again).response(at: server) }
        // Of two concurrent requests, the other one got the token.
        guard !cookies.isEmpty else { return Self.redirect(to: destination) }
        logLogin(end, in: flow.realm)
        return Self.redirect(to: destination, cookies)
    }

    /// Returns the response that ends a login, and gives the browser its session.
    func completed(_ completion: LoginCompletion, _ cookies: [HTTPField]) -> Response {
        logLogin(completion.end, in: completion.realm)
        if let client = completion.client {
            server.logger.info("code given", metadata: ["client": "\(client)", "realm": "\(completion.realm)"])
        }
        return Self.redirect(to: completion.location, [SessionCookie(server.time).set(completion.token)] + cookies)
    }

    private func logLogin(_ end: LoginFlowEnd, in realm: RealmPath) {
        server.logger.info(
            "logged in", metadata: ["journey": "\(end.tree)", "realm": "\(realm)", "user": "\(end.user.name)"])
    }

    /// Returns the destination of a flow that the browser has finished, and that is not stored any more; nil for another flow.
    ///
    /// The destination comes from the address of the page and must be permitted, as at the start of a login.
    func finishedDestination(of flow: String, _ request: Request) async throws -> String? {
        let values = request.loginCookieValues(of: flow, SessionCookie(server.time))
        guard !values.isEmpty else { return nil }
        let realm = try server.realm(ofPage: request)
        let goto = request.query("goto")
        return try await server.store.read { tx in
            var destination = tx.time.sessionPagePath(in: realm)
            if let goto {
                guard let address = ReturnAddress(goto, in: realm, realms: server.realms, tx) else { return nil }
                destination = address.location
            }
            return FinishedFlow.isMarked(by: values, flow, destination, tx) ? destination : nil
        }
    }
}

extension RequestTime {
    /// Returns the path of the page that shows the session of a realm.
    func sessionPagePath(in realm: RealmPath) -> String {
        "\(configuration.normalContextPath)/XUI/session?realm=\(realm.description.percentEncoded())"
    }
}

extension ServerContext {
    /// Returns the path of the page that shows the session of a realm.
    func sessionPagePath(in realm: RealmPath) -> String { time.sessionPagePath(in: realm) }
}
