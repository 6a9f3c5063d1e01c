import Foundation
import HTTPTypes
import SignetCore

/// The login flow of a browser through a journey.
///
/// The handle of the journey stays on the server. The browser gets only the id of the flow, which is valid together with the
/// browser's cookie (docs/reference/server.md explains the reason). A page can therefore be loaded again, and an answer that is sent twice
/// counts once.
struct LoginFlow: Codable, Sendable {
    enum State: Codable, Sendable {
        /// The browser has opened the link in an email. The link is valid once, and programs such as mail scanners also open
        /// links. The flow therefore continues only after the user presses a button.
        case invited(token: Secret)
        case open(JourneyStep, due: Date?)
        case done(LoginFlowEnd)
        case failed(APIError)
    }

    let id: String
    /// The hash of the browser's cookie.
    let browser: TokenHash
    let realm: RealmPath
    /// The query of the URL with which the flow started.
    ///
    /// It is used for the link to another attempt.
    let query: String
    let destination: ReturnAddress?
    let expiresAt: Date
    /// The number of the current page.
    ///
    /// Each answer contains the number of its page.
    var page = 1
    var state: State
}

/// The result of a successful flow.
struct LoginFlowEnd: Codable, Sendable {
    let user: UserKey
    let tree: String
    /// The token of the session; nil without a session.
    let token: Secret?
}

/// A request to start a login flow.
struct LoginFlowStart: Sendable {
    enum Kind: Sendable {
        case journey(JourneyStart)
        case email(token: String)
    }

    var kind: Kind
    var realm: RealmPath
    var query: String
    /// The requested URL to go to after the login.
    var goto: String?
}

extension ServerTransaction {
    /// Starts a login flow and returns its id.
    ///
    /// Errors of the journey are stored in the flow.
    /// - Throws: ``APIError/foreignReturn`` when the URL to return to is not permitted.
    mutating func begin(
        _ start: LoginFlowStart, browser: TokenHash, realms: Set<RealmPath>
    ) throws -> String {
        var destination: ReturnAddress?
        if let goto = start.goto {
            destination = ReturnAddress(goto, in: start.realm, realms: realms, self)
            guard destination != nil else { throw APIError.foreignReturn }
        }
        let state: LoginFlow.State
        switch start.kind {
        case .email(let token):
            state = .invited(token: Secret(token.utf8))
            if destination == nil { destination = try destinationOfSuspended(browser, start.realm) }
        case .journey(let journey):
            state = loginState(try begin(journey))
        }
        let flow = LoginFlow(
            id: RandomID.token(), browser: browser, realm: start.realm, query: start.query, destination: destination,
            expiresAt: time.flowEnd, state: state)
        flows.insert(flow, for: flow.id, group: flow.browser.text, until: flow.expiresAt)
        return flow.id
    }

    /// Returns the current state of a browser's login flow.
    ///
    /// If the flow was waiting and the wait is over, it first continues the journey.
    mutating func flow(_ id: String, of browser: TokenHash) throws -> LoginFlow? {
        guard var flow = try flows[id], flow.browser == browser else { return nil }
        if case .open(let step, let due?) = flow.state, now >= due {
            try move(&flow, from: step, callbacks: nil)
        }
        return flow
    }

    /// Processes the answer to a page.
    ///
    /// An answer to a page that is not the current one is ignored, because the user has pressed the button twice or gone back.
    mutating func answer(
        _ id: String, page: Int, of browser: TokenHash, form: Parameters, userAgent: String?
    ) throws {
        guard var flow = try flows[id], flow.browser == browser, flow.page == page else { return }
        switch flow.state {
        case .open(let step, _):
            let answers = StepAnswers(step, browser: browser, userAgent: userAgent)
            try move(&flow, from: step, callbacks: answers.callbacks(form))
        case .invited(let token):
            let realm = flow.realm
            flow.page += 1
            flow.state = loginState(try resume(token.text, in: realm))
            flows.insert(flow, for: flow.id, group: flow.browser.text, until: flow.expiresAt)
        case .done, .failed: break
        }
    }

    private mutating func move(_ flow: inout LoginFlow, from step: JourneyStep, callbacks: JSONValue?) throws {
        let request = JourneyContinuation(
            realm: flow.realm, authID: step.authId, callbacks: callbacks, noSession: false)
        flow.state = loginState(try proceed(request))
        // While the journey waits, the page stays the same, so that its buttons remain valid.
        let goesOnWaiting =
            if case .open(let next, _) = flow.state { callbacks == nil && next.isSamePage(as: step) } else { false }
        if !goesOnWaiting { flow.page += 1 }
        flows.insert(flow, for: flow.id, group: flow.browser.text, until: flow.expiresAt)
    }

    private func loginState(_ result: JourneyResult) -> LoginFlow.State {
        switch result {
        case .success(.step(let step)):
            return .open(step, due: step.waitMilliseconds.map { now.addingTimeInterval(Double(max($0, 250)) / 1000) })
        case .success(.loggedIn(let user, let tree, let token)):
            let token = token.flatMap { $0.isEmpty ? nil : Secret($0.utf8) }
            return .done(LoginFlowEnd(user: user, tree: tree, token: token))
        case .failure(let refusal): return .failed(refusal)
        }
    }

    /// Returns the destination of the flow that waits for the email.
    ///
    /// The link in the email does not contain it, so it is taken from the waiting flow of the same browser.
    private func destinationOfSuspended(_ browser: TokenHash, _ realm: RealmPath) throws -> ReturnAddress? {
        try flows.group(browser.text).filter { flow in
            guard flow.realm == realm, case .open(let step, _) = flow.state else { return false }
            return step.callback("SuspendedTextOutputCallback") != nil
        }.max { $0.expiresAt < $1.expiresAt }?.destination
    }

    /// Returns the CSRF token of a form.
    ///
    /// It is bound to the browser's cookie, the login flow and the page.
    func csrf(of flow: String, page: Int, browser: TokenHash) -> String {
        proof("flow \(flow) \(page) \(browser.text)")
    }
}

extension RequestTime {
    /// The expiry of a login flow.
    ///
    /// It covers the wait for an email and a complete journey after it. A user that returns to the page in the two hours after
    /// that sees that the login has timed out, with a link to try again.
    fileprivate var flowEnd: Date {
        let seconds = max(1, configuration.journeyTimeout) + max(1, configuration.suspensionTimeout) + 7200
        return now.addingTimeInterval(Double(seconds))
    }
}

extension APIError {
    static let foreignReturn = APIError(
        .badRequest, "The return address belongs neither to this server nor to a client that is registered in the realm.")
    /// The error for a form that was created for a different browser.
    static let foreignForm = APIError(
        .forbidden, "The form was not made for this browser. Cookies must be allowed to sign in here.")

    var isTimeout: Bool { detail?["errorCode"] == .string("110") }
}

extension JourneyStep {
    /// Returns true when both steps look the same to the user, except for the remaining wait time.
    func isSamePage(as other: JourneyStep) -> Bool {
        (stage, header, description) == (other.stage, other.header, other.description)
            && callbacks.map(\.withoutWait) == other.callbacks.map(\.withoutWait)
    }
}

extension JourneyCallback {
    fileprivate var withoutWait: JourneyCallback {
        guard type == "PollingWaitCallback" else { return self }
        var same = self
        same.output.removeAll { $0.name == "waitTime" }
        return same
    }
}
