import Foundation
import HTTPTypes
import SignetCore

/// The login flow of a browser through a journey.
///
/// The handle of the journey stays on the server. The browser gets only the id of the flow, which is valid together with the
/// browser's cookie (docs/reference/server.md explains the reason). A page can therefore be loaded again, and an answer that is sent twice
/// counts once.
///
/// Each flow has a cookie of its own (``LoginCookie``), so flows in several tabs do not affect each other. The server chooses the
/// cookie's value, and chooses another one when a flow starts, when an answer is accepted and when the login ends. An attacker that
/// planted its own cookie in the browser of a user therefore loses the flow with the user's first answer.
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
    /// The hash of the flow's cookie.
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
    /// The identifier of the browser in the flow's device profile (``DeviceCookie``); nil when no profile was asked for.
    var device: TokenHash?
    /// The last accepted answer, to recognize a repetition of it; nil when it may not be repeated.
    var accepted: AcceptedAnswer?
    /// True when the current page asks again what the user has just answered; nil for false.
    var isRepeated: Bool?
    /// The user's inputs, for pages that come back; nil for nothing.
    var kept: KeptInputs?
    /// The number of the current page.
    ///
    /// Each answer contains the number of its page.
    var page = 1
    var state: State
}

extension ServerTransaction {
    /// Starts a login flow.
    ///
    /// Errors of the journey are stored in the flow.
    /// - Parameters:
    ///   - start: The request.
    ///   - realms: The realms of the server.
    /// - Returns: The cookie of the flow, and the names of the browser's cookies whose flows have ended.
    /// - Throws: ``APIError/foreignReturn`` when the URL to return to is not permitted; an error with status 429 when too many
    ///   flows of the address are unfinished.
    mutating func begin(
        _ start: LoginFlowStart, realms: Set<RealmPath>
    ) throws -> (cookie: LoginCookie, ended: Set<String>) {
        var destination: ReturnAddress?
        if let goto = start.goto {
            destination = ReturnAddress(goto, in: start.realm, realms: realms, self)
            guard destination != nil else { throw APIError.foreignReturn }
        }
        if let address = start.address { try flowLimiter.take(address) }
        let (others, ended) = try limitFlows(start.cookies)
        let state: LoginFlow.State
        switch start.kind {
        case .email(let token):
            state = .invited(token: Secret(token.utf8))
            if destination == nil { destination = destinationOfSuspended(others, start.realm) }
        case .journey(let journey):
            let result = try begin(journey)
            state = loginState(result)
        }
        var flow = LoginFlow(
            id: RandomID.token(), browser: TokenHash(""), realm: start.realm, query: start.query, destination: destination,
            expiresAt: time.end(of: state, isAnswered: false), address: start.address, state: state)
        if let failed = start.repeated, let old = others.first(where: { $0.id == failed }), case .failed = old.state {
            flow.kept = old.kept
        }
        // A flow that fails at its start continues to count, because a client could start any number of them.
        if case .done = state { try release(&flow) }
        return (renew(&flow), ended)
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
        if case .open(let step, let stored?) = flow.state {
            // Polls that changed nothing else are not stored.
            let due = AuthID(step.authId, key: authIDKey).flatMap { pollWaits?[$0.otk]?.dueAt } ?? stored
            if now >= due { try move(&flow, from: step, callbacks: nil) } else { flow.state = .open(step, due: due) }
        }
        return flow
    }

    /// Processes the answer to a page.
    ///
    /// An answer to a page that is not the current one is ignored, because the user has pressed the button twice or gone back.
    /// - Parameter answer: The answer.
    /// - Returns: The new cookie of the flow; nil when it remains the same.
    /// - Throws: ``APIError/foreignForm`` when the flow belongs to another browser.
    mutating func answer(_ answer: LoginAnswer) throws -> LoginCookie? {
        guard var flow = try flows[answer.flow] else { return nil }
        let fields = answer.form.fields().flatMap { [JSONValue.string($0.name), .string($0.value)] }
        let proof = mac("answer \(flow.id) " + JSON.text(of: .array(fields)))
        guard answer.browsers.contains(flow.browser) else {
            guard let accepted = flow.accepted, answer.browsers.contains(accepted.browser), now < accepted.end,
                answer.address == accepted.address, ConstantTime.areEqual(accepted.proof, proof)
            else { throw APIError.foreignForm }
            return renew(&flow)
        }
        guard flow.page == answer.page else { return nil }
        if case .open(let step, .some) = flow.state, answer.form.given(LoginFlow.resendInput) != nil {
            try resendPush(of: step)
            return nil
        }
        var isRepeatable = !flow.state.isOutOfBand
        switch flow.state {
        case .open(let step, _):
            if step.callback("DeviceProfileCallback") != nil { flow.device = try device(of: flow, step, answer.devices) }
            var kept = flow.kept ?? KeptInputs()
            kept.keep(answer.form, for: step, codes: try codeFields(of: step))
            flow.kept = kept.isEmpty ? nil : kept
            let answers = StepAnswers(step, device: flow.device, userAgent: answer.userAgent)
            try move(&flow, from: step, callbacks: answers.callbacks(answer.form))
        case .invited(let token):
            flow.page += 1
            let result = try resume(token.text, in: flow.realm)
            try enter(loginState(result), &flow)
        case .done, .failed: return nil
        }
        isRepeatable = isRepeatable && !flow.state.isOutOfBand
        let end = now.addingTimeInterval(RequestTime.repetitionTime)
        flow.accepted =
            isRepeatable ? AcceptedAnswer(browser: flow.browser, address: answer.address, proof: proof, end: end) : nil
        return renew(&flow)
    }

    /// Ends a flow whose journey cannot go on.
    ///
    /// A flow that has ended in the meantime, for example in another tab, stays as it is.
    /// - Returns: The flow; nil when it doesn't exist any more.
    mutating func fail(_ id: String, with error: APIError) throws -> LoginFlow? {
        guard var flow = try flows[id], case .open = flow.state else { return try flows[id] }
        try enter(.failed(error), &flow)
        flow.page += 1
        save(flow)
        return flow
    }

    /// Takes the session token out of a flow that is done, so that it is given to the browser once.
    /// - Parameter flow: The flow, as ``flow(_:of:)`` returned it.
    /// - Returns: The new cookie of the flow, and the value of the browser's ``DeviceCookie`` if it changes.
    mutating func collect(_ flow: LoginFlow) -> (cookie: LoginCookie, device: String?) {
        var (flow, device) = (flow, nil as String?)
        if case .done(var end) = flow.state {
            (end.token, end.isCollected, end.cookies) = (nil, true, nil)
            flow.state = .done(end)
            device = newDevice(of: flow, end.user)
        }
        return (renew(&flow), device)
    }

    /// Stores that the browser has got the session of a flow in the response to the last form.
    /// - Parameters:
    ///   - flow: The flow.
    ///   - session: The session, if its token may be needed again.
    ///   - cookie: The new value of the flow's cookie.
    /// - Returns: The cookie of the flow.
    mutating func close(_ flow: LoginFlow, session: TokenHash?, cookie: String) -> LoginCookie {
        var flow = flow
        if case .done(var end) = flow.state {
            (end.token, end.isCollected, end.session) = (nil, true, session)
            flow.state = .done(end)
        }
        flow.browser = TokenHash(cookie)
        save(flow)
        return LoginCookie(flow: flow.id, value: cookie, expiresAt: flow.expiresAt)
    }

    /// Gives a flow another cookie, and stores the flow.
    private mutating func renew(_ flow: inout LoginFlow) -> LoginCookie {
        let value = RandomID.token()
        flow.browser = TokenHash(value)
        save(flow)
        return LoginCookie(flow: flow.id, value: value, expiresAt: flow.expiresAt)
    }

    /// Ends flows of a browser that has more than ``LoginFlow/maxPerBrowser``.
    ///
    /// Those that expire last remain.
    /// - Parameter cookies: The cookies of the browser's flows.
    /// - Returns: The remaining flows, and the names of the cookies that belong to none of them.
    /// - Throws: `StoreError` when the state cannot be read.
    private mutating func limitFlows(
        _ cookies: [LoginCookie.Received]
    ) throws -> (others: [LoginFlow], ended: Set<String>) {
        let known = try Set(cookies.map(\.hash)).flatMap { try flows.group($0.text) }.sorted { $0.expiresAt > $1.expiresAt }
        for var flow in known.dropFirst(LoginFlow.maxPerBrowser) {
            try release(&flow)
            flows.discard(flow.id)
        }
        let others = Array(known.prefix(LoginFlow.maxPerBrowser))
        let present = Set(others.map(\.browser))
        let kept = Set(cookies.filter { present.contains($0.hash) }.map(\.name))
        return (others, Set(cookies.map(\.name)).subtracting(kept))
    }

    private mutating func save(_ flow: LoginFlow) {
        flows.insert(flow, for: flow.id, group: flow.browser.text, until: flow.expiresAt)
    }

    /// Ends the counting of a flow that has ended.
    private mutating func release(_ flow: inout LoginFlow) throws {
        guard let address = flow.address else { return }
        flow.address = nil
        try flowLimiter.giveBack(address)
    }

    /// Changes the state of a flow and the time for which it is stored.
    private mutating func enter(_ state: LoginFlow.State, _ flow: inout LoginFlow) throws {
        flow.state = state
        flow.expiresAt = time.end(of: state, isAnswered: true)
        switch state {
        case .done:
            flow.kept = nil
            try release(&flow)
        case .failed: try release(&flow)
        case .invited, .open: break
        }
    }

    private mutating func move(_ flow: inout LoginFlow, from step: JourneyStep, callbacks: JSONValue?) throws {
        let request = JourneyContinuation(
            realm: flow.realm, authID: step.authId, callbacks: callbacks, noSession: false, isFromPage: true)
        let node = try callbacks == nil ? nil : nodePath(of: step)
        let result = try proceed(request)
        try enter(loginState(result), &flow)
        // While the journey waits, the page stays the same, so that its buttons remain valid.
        let goesOnWaiting =
            if case .open(let next, _) = flow.state { callbacks == nil && next.isSamePage(as: step) } else { false }
        if !goesOnWaiting {
            flow.page += 1
            flow.isRepeated = nil
            if let node, try isAskedAgain(step, by: node, flow.state) { flow.isRepeated = true }
        }
        if goesOnWaiting, case .open(let next, _) = flow.state, next.authId == step.authId { return }
        save(flow)
    }

    /// Returns true when the node of a step that the user has answered asks the same again.
    ///
    /// Other nodes, and a later visit of an inner journey, may ask the same without a mistake of the user.
    private func isAskedAgain(_ step: JourneyStep, by node: [NodePath], _ state: LoginFlow.State) throws -> Bool {
        guard case .open(let next, _) = state, next.asksSame(as: step) else { return false }
        return try nodePath(of: next) == node
    }

    /// Returns the node that asks in a step, after the outer nodes that wait for its journey; nil when the step is over.
    private func nodePath(of step: JourneyStep) throws -> [NodePath]? {
        try AuthID(step.authId, key: authIDKey).flatMap { try journeys[$0.sessionId] }.map { $0.outer + [$0.currentNode] }
    }

    /// Returns the state of a flow after a result of its journey.
    ///
    /// Pass the result as a variable: in `loginState(try proceed(…))` the call would see the transaction as it was before, without
    /// the cookies of the journey's nodes.
    private func loginState(_ result: JourneyResult) -> LoginFlow.State {
        switch result {
        case .success(.step(let step)):
            return .open(step, due: step.waitMilliseconds.map { now.addingTimeInterval(Double(max($0, 250)) / 1000) })
        case .success(.loggedIn(let user, let tree, let token, _)):
            let token = token.flatMap { $0.isEmpty ? nil : Secret($0.utf8) }
            var end = LoginFlowEnd(user: user, tree: tree, token: token)
            if token != nil, !responseCookies.isEmpty { end.cookies = responseCookies.map { Secret($0.utf8) } }
            return .done(end)
        case .failure(let refusal): return .failed(refusal)
        }
    }

    /// Returns the destination of the flow that waits for the email.
    ///
    /// The link in the email does not contain it, so it is taken from the waiting flow of the same browser.
    private func destinationOfSuspended(_ others: [LoginFlow], _ realm: RealmPath) -> ReturnAddress? {
        others.first { flow in
            guard flow.realm == realm, case .open(let step, _) = flow.state else { return false }
            return step.isSuspended
        }?.destination
    }

    /// Returns the CSRF token of a form.
    ///
    /// It is bound to the login flow and the page. The flow is bound to the browser's cookie.
    func csrf(of flow: String, page: Int) -> String { mac("flow \(flow) \(page)") }
}

extension LoginFlow {
    /// The maximum number of flows of one browser, without the one that it starts.
    static let maxPerBrowser = 16

    /// The name of the button that sends a push message again.
    static let resendInput = "resend"
    /// The parameter of an address that starts the login again: the id of the failed flow.
    static let repeatedParameter = "again"
}

extension LoginFlow {
    /// True when the current page shows what the user has typed: it asks again, or it is the first one of a repeated login.
    var isFilledIn: Bool { isRepeated == true || (page == 1 && kept != nil) }
}

extension LoginFlow.State {
    /// True when the journey waits for nothing but the user's answer to a page.
    var onlyAsks: Bool {
        if case .open = self { !isOutOfBand } else { false }
    }

    /// True when the journey waits for something outside the browser.
    fileprivate var isOutOfBand: Bool {
        switch self {
        case .invited: true
        case .open(let step, let due): due != nil || step.isSuspended
        case .done, .failed: false
        }
    }
}

extension RequestTime {
    /// The time in seconds for which an accepted answer may be repeated.
    fileprivate static var repetitionTime: Double { 10 }

    /// The time in seconds for which a login flow is stored after its journey has ended.
    ///
    /// A user that returns to the page in this time sees how the login ended, with a link to try again.
    private static var endedTime: Int { 300 }

    /// Returns the expiry of a login flow that enters a state now.
    ///
    /// A flow without an answer is stored for ten minutes, and one that waits for an email as long as the link is valid. A flow whose
    /// first page waits needs no answer, and is stored as long as its journey can go on.
    fileprivate func end(of state: LoginFlow.State, isAnswered: Bool) -> Date {
        var seconds = Self.endedTime
        switch state {
        case .invited: seconds = 600
        case .open(let step, _) where step.isSuspended: seconds += max(1, configuration.suspensionTimeout)
        case .open(_, let due): seconds = isAnswered || due != nil ? seconds + max(1, configuration.journeyTimeout) : 600
        case .done, .failed: break
        }
        return now.addingTimeInterval(Double(seconds))
    }
}

extension APIError {
    static let foreignReturn = APIError(
        .badRequest, "The return address belongs neither to this server nor to a client that is registered in the realm.")
    /// The error for a form that was created for a different browser.
    static let foreignForm = APIError(
        .forbidden, "This form has expired or belongs to another browser. Allow cookies for this site and start again.")

    var isTimeout: Bool { detail?["errorCode"] == .string("110") }
}

extension JourneyStep {
    /// True when the journey waits until the user opens the link in an email.
    fileprivate var isSuspended: Bool { callback("SuspendedTextOutputCallback") != nil }
}
