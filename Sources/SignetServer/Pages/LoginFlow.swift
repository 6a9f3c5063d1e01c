import HTTPTypes
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A browser's way through a journey.
///
/// The journey's handle stays here, and the browser gets the number of a walk that only its own cookie opens (docs/server.md says
/// why). So a page can be asked for again, and an answer that comes twice counts once.
struct LoginFlow: Codable, Sendable {
    enum State: Codable, Sendable {
        /// Somebody came with the link in a letter. It is good once, and programs look at links as well: a person has to press a
        /// button.
        case invited(token: Secret)
        case open(JourneyStep, due: Date?)
        case done(LoginFlowEnd)
        case failed(APIError)
    }

    let id: String
    /// The browser's cookie.
    let browser: TokenHash
    let realm: RealmPath
    /// The query of the address that it began with: what leads to another try.
    let query: String
    let destination: ReturnAddress?
    let expiresAt: Date
    /// Counts the pages: an answer names the one that it is to.
    var page = 1
    var state: State
}

/// How a walk ended well.
struct LoginFlowEnd: Codable, Sendable {
    let user: UserKey
    let tree: String
    /// The session; nil when there is none.
    let token: Secret?
}

/// What a browser wants to begin.
struct LoginFlowStart: Sendable {
    enum Kind: Sendable {
        case journey(JourneyStart)
        case letter(token: String)
    }

    var kind: Kind
    var realm: RealmPath
    var query: String
    /// Where to go afterwards, as it was asked for.
    var goto: String?
}

extension ServerTransaction {
    /// Begins a walk, and returns its id. What goes wrong on the way belongs to the walk.
    /// - Throws: ``APIError/foreignReturn``.
    mutating func begin(
        _ start: LoginFlowStart, browser: TokenHash, realms: Set<RealmPath>, _ moment: RequestTime
    ) throws(APIError) -> String {
        var destination: ReturnAddress?
        if let goto = start.goto {
            destination = ReturnAddress(goto, in: start.realm, realms: realms, self, moment)
            guard destination != nil else { throw .foreignReturn }
        }
        let state: LoginFlow.State
        switch start.kind {
        case .letter(let token):
            state = .invited(token: Secret(token.utf8))
            if destination == nil { destination = destinationOfSuspended(browser, start.realm, moment) }
        case .journey(let journey):
            state = advance(moment) { (server) throws(APIError) in try server.begin(journey, moment) }
        }
        let walk = LoginFlow(
            id: RandomID.token(), browser: browser, realm: start.realm, query: start.query, destination: destination,
            expiresAt: moment.walkEnd, state: state)
        walks.insert(walk, for: walk.id, group: walk.browser.text, until: walk.expiresAt)
        return walk.id
    }

    /// A browser's walk as it is now. A wait that is over has been gone on with.
    mutating func walk(_ id: String, of browser: TokenHash, _ moment: RequestTime) -> LoginFlow? {
        guard var walk = walks.value(for: id, at: moment.now), walk.browser == browser else { return nil }
        if case .open(let step, let due?) = walk.state, moment.now >= due {
            move(&walk, from: step, callbacks: nil, moment)
        }
        return walk
    }

    /// Takes the answer to a page. An answer to a page that is not the present one changes nothing: the person pressed twice, or
    /// went back.
    mutating func answer(
        _ id: String, page: Int, of browser: TokenHash, form: Parameters, userAgent: String?, _ moment: RequestTime
    ) {
        guard var walk = walks.value(for: id, at: moment.now), walk.browser == browser, walk.page == page else { return }
        switch walk.state {
        case .open(let step, _):
            let answers = StepAnswers(step, browser: browser, userAgent: userAgent)
            move(&walk, from: step, callbacks: answers.callbacks(form), moment)
        case .invited(let token):
            let realm = walk.realm
            walk.page += 1
            walk.state = advance(moment) { (server) throws(APIError) in try server.resume(token.text, in: realm, moment) }
            walks.insert(walk, for: walk.id, group: walk.browser.text, until: walk.expiresAt)
        case .done, .failed: break
        }
    }

    private mutating func move(_ walk: inout LoginFlow, from step: JourneyStep, callbacks: JSONValue?, _ moment: RequestTime) {
        let request = JourneyContinuation(
            realm: walk.realm, authID: step.authId, callbacks: callbacks, noSession: false)
        walk.state = advance(moment) { (server) throws(APIError) in try server.proceed(request, moment) }
        // Who waits goes on seeing the same page; a button on it is still good.
        let goesOnWaiting =
            if case .open(let next, _) = walk.state { callbacks == nil && next.isSamePage(as: step) } else { false }
        if !goesOnWaiting { walk.page += 1 }
        walks.insert(walk, for: walk.id, group: walk.browser.text, until: walk.expiresAt)
    }

    private mutating func advance(
        _ moment: RequestTime, _ body: (inout ServerTransaction) throws(APIError) -> JourneyReply
    ) -> LoginFlow.State {
        do throws(APIError) {
            switch try body(&self) {
            case .step(let step):
                return .open(
                    step, due: step.waitMilliseconds.map { moment.now.addingTimeInterval(Double(max($0, 250)) / 1000) })
            case .loggedIn(let user, let tree, let token):
                let token = token.flatMap { $0.isEmpty ? nil : Secret($0.utf8) }
                return .done(LoginFlowEnd(user: user, tree: tree, token: token))
            }
        } catch {
            return .failed(error)
        }
    }

    /// The link in a letter does not say where the person wanted to go: the walk of the same browser that waits for it does.
    private func destinationOfSuspended(_ browser: TokenHash, _ realm: RealmPath, _ moment: RequestTime) -> ReturnAddress? {
        walks.group(browser.text, at: moment.now).filter { walk in
            guard walk.realm == realm, case .open(let step, _) = walk.state else { return false }
            return step.callback("SuspendedTextOutputCallback") != nil
        }.max { $0.expiresAt < $1.expiresAt }?.destination
    }

    /// What a form of a walk carries: bound to the browser's cookie, the walk and the page.
    func csrf(of walk: String, page: Int, browser: TokenHash) -> String {
        proof("walk \(walk) \(page) \(browser.text)")
    }
}

extension RequestTime {
    /// A walk may have to wait for a letter, and then walk all of a journey. Who comes back to the page later than that learns for
    /// another two hours that time is up, and can try again from where they came.
    fileprivate var walkEnd: Date {
        let seconds = max(1, configuration.journeyTimeout) + max(1, configuration.suspensionTimeout) + 7200
        return now.addingTimeInterval(Double(seconds))
    }
}

extension APIError {
    static let foreignReturn = APIError(
        .badRequest, "The address to return to is none of this server's, and no client of the realm has registered it.")
    /// The form is not one that this browser was given.
    static let foreignForm = APIError(
        .forbidden, "The form was not made for this browser. Cookies must be allowed to sign in here.")

    var isTimeout: Bool { detail?["errorCode"] == .string("110") }
}

extension JourneyStep {
    /// Whether a person sees the same in both, up to how long to wait.
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
