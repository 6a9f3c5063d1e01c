import Foundation
import HTTPTypes
import SignetCore

/// The login flow of a browser through a journey.
///
/// The handle of the journey stays on the server. The browser gets only the id of the flow, which is valid together with the
/// browser's cookie (docs/reference/server.md explains the reason). A page can therefore be loaded again, and an answer that is sent twice
/// counts once.
///
/// The server chooses the cookie's value, and chooses another one when a flow starts, when an answer is accepted and when the
/// login ends. An attacker that planted its own cookie in the browser of a user therefore loses the flow with the user's first
/// answer.
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
    var browser: TokenHash
    let realm: RealmPath
    /// The query of the URL with which the flow started.
    ///
    /// It is used for the link to another attempt.
    let query: String
    let destination: ReturnAddress?
    var expiresAt: Date
    /// The network address that started the flow, while the flow counts for ``LoginFlowLimiter``.
    var address: String?
    /// The identifier of the browser in a device profile, which stays the same when the cookie changes; nil for ``browser``.
    var device: TokenHash?
    /// The last accepted answer, to recognize a repetition of it.
    var accepted: AcceptedAnswer?
    /// The number of the current page.
    ///
    /// Each answer contains the number of its page.
    var page = 1
    var state: State
}

/// The answer that moved a login flow to its current page.
///
/// A browser that sends a form twice may discard the response to the first one, with the new cookie. It proves with the old cookie
/// and the same answer that it is the browser of the user.
struct AcceptedAnswer: Codable, Sendable {
    /// The hash of the cookie with which the answer was sent.
    let browser: TokenHash
    /// A MAC of the form.
    let proof: String
    /// The time until which the answer may be repeated.
    let end: Date
}

/// The result of a successful flow.
struct LoginFlowEnd: Codable, Sendable {
    let user: UserKey
    let tree: String
    /// The token of the session, until the browser has got it; nil without a session.
    var token: Secret?
    /// True when the browser has got the token.
    var isCollected: Bool?
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
    /// The network address of the browser; nil for a client in this process.
    var address: String?
    /// The cookies of the browser.
    ///
    /// The flows that they belong to continue with the new cookie.
    var cookies: [TokenHash]
}

extension ServerTransaction {
    /// Starts a login flow.
    ///
    /// Errors of the journey are stored in the flow.
    /// - Parameters:
    ///   - start: The request.
    ///   - realms: The realms of the server.
    /// - Returns: The id of the flow, and the new value of the browser's cookie.
    /// - Throws: ``APIError/foreignReturn`` when the URL to return to is not permitted; an error with status 429 when too many
    ///   flows of the address are unfinished.
    mutating func begin(_ start: LoginFlowStart, realms: Set<RealmPath>) throws -> (id: String, cookie: String) {
        var destination: ReturnAddress?
        if let goto = start.goto {
            destination = ReturnAddress(goto, in: start.realm, realms: realms, self)
            guard destination != nil else { throw APIError.foreignReturn }
        }
        if let address = start.address { try flowLimiter.take(address) }
        let (browser, cookie, device) = try renew(start.cookies)
        let state: LoginFlow.State
        switch start.kind {
        case .email(let token):
            state = .invited(token: Secret(token.utf8))
            if destination == nil { destination = try destinationOfSuspended(browser, start.realm) }
        case .journey(let journey):
            state = loginState(try begin(journey))
        }
        var flow = LoginFlow(
            id: RandomID.token(), browser: browser, realm: start.realm, query: start.query, destination: destination,
            expiresAt: time.unansweredEnd, address: start.address,
            device: device ?? browser, state: state)
        try finishIfDone(&flow)
        save(flow)
        return (flow.id, cookie)
    }

    /// Returns the current state of a browser's login flow.
    ///
    /// If the flow was waiting and the wait is over, it first continues the journey.
    /// - Parameters:
    ///   - id: The id of the flow.
    ///   - browsers: The hashes of the browser's cookies.
    /// - Returns: The flow; nil when it doesn't exist or belongs to another browser.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func flow(_ id: String, of browsers: [TokenHash]) throws -> LoginFlow? {
        guard var flow = try flows[id], browsers.contains(flow.browser) else { return nil }
        if case .open(let step, let due?) = flow.state, now >= due {
            try move(&flow, from: step, callbacks: nil)
        }
        return flow
    }

    /// Processes the answer to a page.
    ///
    /// An answer to a page that is not the current one is ignored, because the user has pressed the button twice or gone back.
    /// - Parameters:
    ///   - id: The id of the flow.
    ///   - page: The number of the page.
    ///   - browsers: The hashes of the browser's cookies.
    ///   - form: The submitted form.
    ///   - userAgent: The browser's `User-Agent`.
    /// - Returns: The new value of the browser's cookie; nil when it remains the same.
    /// - Throws: ``APIError/foreignForm`` when the flow belongs to another browser.
    mutating func answer(
        _ id: String, page: Int, of browsers: [TokenHash], form: Parameters, userAgent: String?
    ) throws -> String? {
        guard var flow = try flows[id] else { return nil }
        let proof = proof(
            "answer \(id) " + JSON.text(of: .array(form.fields().flatMap { [.string($0.name), .string($0.value)] })))
        guard browsers.contains(flow.browser) else {
            guard let accepted = flow.accepted, browsers.contains(accepted.browser), now < accepted.end,
                ConstantTime.areEqual(accepted.proof, proof)
            else { throw APIError.foreignForm }
            return try renew([flow.browser]).cookie
        }
        guard flow.page == page else { return nil }
        let old = flow.browser
        flow.accepted = AcceptedAnswer(browser: old, proof: proof, end: now.addingTimeInterval(RequestTime.repetitionTime))
        flow.expiresAt = time.flowEnd
        switch flow.state {
        case .open(let step, _):
            let answers = StepAnswers(step, browser: flow.device ?? old, userAgent: userAgent)
            try move(&flow, from: step, callbacks: answers.callbacks(form))
        case .invited(let token):
            let realm = flow.realm
            flow.page += 1
            flow.state = loginState(try resume(token.text, in: realm))
            try finishIfDone(&flow)
            save(flow)
        case .done, .failed: return nil
        }
        return try renew([old]).cookie
    }

    /// Takes the session token out of a flow that is done, so that it is given to the browser once.
    /// - Parameter flow: The flow, as ``flow(_:of:)`` returned it.
    /// - Returns: The new value of the browser's cookie.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func collect(_ flow: LoginFlow) throws -> String {
        if case .done(var end) = flow.state {
            var flow = flow
            (end.token, end.isCollected) = (nil, true)
            flow.state = .done(end)
            save(flow)
        }
        return try renew([flow.browser]).cookie
    }

    /// Gives a browser another cookie, and its flows with it.
    ///
    /// At most ``LoginFlow/maxPerBrowser`` flows are kept, those that expire last.
    /// - Parameter cookies: The hashes of the browser's cookies.
    /// - Returns: The new cookie with its hash, and the identifier of the browser in device profiles if it is known.
    /// - Throws: `StoreError` when the state cannot be read.
    private mutating func renew(_ cookies: [TokenHash]) throws -> (browser: TokenHash, cookie: String, device: TokenHash?) {
        let cookie = RandomID.token()
        let browser = TokenHash(cookie)
        let known = try Set(cookies).flatMap { try flows.group($0.text) }.sorted { $0.expiresAt > $1.expiresAt }
        for (index, var flow) in known.enumerated() {
            if index < LoginFlow.maxPerBrowser {
                flow.browser = browser
                save(flow)
            } else {
                flows.discard(flow.id)
            }
        }
        return (browser, cookie, known.first.map { $0.device ?? $0.browser })
    }

    private mutating func save(_ flow: LoginFlow) {
        flows.insert(flow, for: flow.id, group: flow.browser.text, until: flow.expiresAt)
    }

    /// Ends the counting of a flow in which the user has logged in.
    private mutating func finishIfDone(_ flow: inout LoginFlow) throws {
        guard case .done = flow.state, let address = flow.address else { return }
        flow.address = nil
        try flowLimiter.giveBack(address)
    }

    private mutating func move(_ flow: inout LoginFlow, from step: JourneyStep, callbacks: JSONValue?) throws {
        let request = JourneyContinuation(
            realm: flow.realm, authID: step.authId, callbacks: callbacks, noSession: false)
        flow.state = loginState(try proceed(request))
        // While the journey waits, the page stays the same, so that its buttons remain valid.
        let goesOnWaiting =
            if case .open(let next, _) = flow.state { callbacks == nil && next.isSamePage(as: step) } else { false }
        if !goesOnWaiting { flow.page += 1 }
        try finishIfDone(&flow)
        save(flow)
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
    /// It is bound to the login flow and the page. The flow is bound to the browser's cookie.
    func csrf(of flow: String, page: Int) -> String { proof("flow \(flow) \(page)") }
}

extension LoginFlow {
    /// The maximum number of flows of one browser.
    static let maxPerBrowser = 16
}

extension RequestTime {
    /// The time in seconds for which an accepted answer may be repeated.
    fileprivate static var repetitionTime: Double { 10 }

    /// The expiry of a login flow before the first answer: ten minutes.
    fileprivate var unansweredEnd: Date { now.addingTimeInterval(600) }

    /// The expiry of a login flow after the first answer.
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
