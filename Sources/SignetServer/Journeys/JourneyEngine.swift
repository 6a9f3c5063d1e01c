import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request to start a journey.
struct JourneyStart: Sendable {
    var realm: RealmPath
    /// The name of the journey; nil for the default journey.
    var tree: String?
    var indexType: String
    var noSession: Bool
    var userAgent: String?
    /// True when the journey runs even if the session shows that the user has already completed it.
    var isForced = false
    /// The session tokens that the request contains.
    var sessionTokens: [String] = []
}

/// A request to continue a journey.
struct JourneyContinuation: Sendable {
    var realm: RealmPath
    var authID: String
    /// The member `callbacks` as the client sent it.
    var callbacks: JSONValue?
    var noSession: Bool
}

/// The reply of a journey that did not throw an error.
enum JourneyReply: Sendable {
    case step(JourneyStep)
    /// The user is logged in. The token is nil when the client requested no session. An empty token also means that there isn't a
    /// session.
    case loggedIn(UserKey, tree: String, token: String?)
}

extension ServerTransaction {
    mutating func begin(_ start: JourneyStart, _ moment: RequestTime) throws(APIError) -> JourneyReply {
        guard let tree = trees[start.tree ?? moment.configuration.defaultJourney], tree.isOffered(in: start.realm) else {
            throw .noSuchJourney
        }
        let shown = session(start.sessionTokens, in: start.realm, at: moment.now)
        if let shown, !start.isForced, start.tree.map(shown.session.trees.contains) ?? true {
            return .loggedIn(shown.session.user, tree: tree.name, token: start.noSession ? nil : shown.token)
        }
        var journey = JourneyState(
            id: RandomID.token(), realm: start.realm, tree: tree.name, indexType: start.indexType,
            expiresAt: moment.journeyEnd,
            userAgent: start.userAgent, noSession: start.noSession, place: NodePath(tree: tree.name, nodeID: tree.entry))
        journey.shownToken = shown.map { Secret($0.token.utf8) }
        return try run(journey, answers: nil, moment)
    }

    /// Continues a journey. Each handle is valid for one answer, so of two concurrent requests with the same handle only one
    /// succeeds.
    /// - Throws: ``APIError`` when the handle is not valid or the login fails.
    mutating func proceed(_ request: JourneyContinuation, _ moment: RequestTime) throws(APIError) -> JourneyReply {
        let authID = try AuthID(request.authID, key: authIDKey)
        guard authID.realm == request.realm.description else { throw .foreignJourney }
        guard moment.now.timeIntervalSince1970 < Double(authID.exp),
            let journey = journeys.value(for: authID.sessionId, at: moment.now),
            ConstantTime.areEqual(journey.oneTimeKey, authID.otk)
        else {
            // The signature of the handle was verified, so the name in it comes from this server and is safe in a metric.
            note(.login(journey: authID.authIndexValue, .timeout))
            throw .journeyTimedOut
        }
        var taken = journey
        _ = journeys.remove(journey.id, at: moment.now)
        taken.noSession = taken.noSession || request.noSession
        return try run(taken, answers: Answers(journey.asked, filledIn: request.callbacks), moment)
    }

    /// Continues a suspended journey. A link is valid once.
    /// - Throws: ``APIError`` when the token is not valid or the login fails.
    mutating func resume(_ token: String, in realm: RealmPath, _ moment: RequestTime) throws(APIError) -> JourneyReply {
        let key = TokenHash(token)
        guard suspensions.value(for: key, at: moment.now)?.realm == realm,
            var journey = suspensions.remove(key, at: moment.now)
        else { throw .suspensionNotFound }
        _ = journeys.remove(journey.id, at: moment.now)
        journey.expiresAt = moment.journeyEnd
        journey.memory = .resumed
        return try run(journey, answers: nil, moment)
    }

    /// The maximum number of nodes that run in one request. It stops a tree that contains a loop.
    private static var maxTransitions: Int { 100 }

    /// The maximum nesting depth of journeys. It stops a journey that contains itself.
    private static var maxInnerTrees: Int { 16 }

    /// Runs the journey until the next step, and counts its outcome when it ends.
    private mutating func run(_ journey: JourneyState, answers: Answers?, _ moment: RequestTime) throws(APIError) -> JourneyReply
    {
        do throws(APIError) {
            let reply = try pass(journey, answers: answers, moment)
            if case .loggedIn = reply { note(.login(journey: journey.tree, .success)) }
            return reply
        } catch {
            note(.login(journey: journey.tree, LoginOutcome(error)))
            throw error
        }
    }

    private mutating func pass(_ journey: JourneyState, answers: Answers?, _ moment: RequestTime) throws(APIError) -> JourneyReply
    {
        var journey = journey
        var answers = answers
        for _ in 0..<Self.maxTransitions {
            guard let node = trees[journey.place.tree]?.nodes[journey.place.nodeID] else { break }
            let visit = NodeInput(answers: answers, moment: moment)
            switch node.node.process(visit, &journey, &self) {
            case .prompt(let page): return try ask(page, &journey, moment)
            case .suspend(let page, let token): return try suspend(page, token, &journey, moment)
            case .refuse(let refusal): throw refusal
            case .fail(let reason): throw .loginFailure(because: reason, tree: journey.tree)
            case .runInnerTree(let name):
                guard let inner = trees[name], journey.outer.count < Self.maxInnerTrees else {
                    throw .loginFailure(because: "there is no way into the journey \(name)", tree: journey.tree)
                }
                journey.outer.append(journey.place)
                journey.place = NodePath(tree: name, nodeID: inner.entry)
            case .transition(let outcome):
                switch trees.target(of: outcome, &journey) {
                case .node(let next): journey.place.nodeID = next
                case .success: return try finish(journey, moment)
                case .failure: throw .loginFailure(because: "\(node.node.type.name): \(outcome.rawValue)", tree: journey.tree)
                }
            }
            journey.memory = .nothing
            answers = nil
        }
        throw .loginFailure(because: "the tree leads nowhere", tree: journey.tree)
    }

    private mutating func ask(_ page: Page, _ journey: inout JourneyState, _ moment: RequestTime) throws(APIError) -> JourneyReply
    {
        journey.asked = JourneyCallback.numbered(page.callbacks)
        journey.oneTimeKey = RandomID.token()
        guard let authID = try? AuthID(journey, at: moment.now).signed(with: authIDKey) else { throw .unwritable }
        journeys.insert(journey, for: journey.id, until: journey.expiresAt)
        return .step(
            JourneyStep(
                authId: authID, callbacks: journey.asked, stage: page.stage, header: page.header, description: page.description))
    }

    private mutating func suspend(
        _ page: Page, _ token: String, _ journey: inout JourneyState, _ moment: RequestTime
    ) throws(APIError) -> JourneyReply {
        journey.memory = .suspended
        let reply = try ask(page, &journey, moment)
        let end = moment.now.addingTimeInterval(Double(max(1, moment.configuration.suspensionTimeout)))
        suspensions.insert(journey, for: TokenHash(token), until: end)
        return reply
    }

    private mutating func finish(_ journey: JourneyState, _ moment: RequestTime) throws(APIError) -> JourneyReply {
        guard let user = journey.user, directory.contains(user) else {
            throw .loginFailure(because: "there is no such user", tree: journey.tree)
        }
        guard directory[user]?.isLocked != true else { throw .lockedOut }
        guard !journey.noSession else { return .loggedIn(user, tree: journey.tree, token: nil) }
        guard !journey.passesThrough else { return .loggedIn(user, tree: journey.tree, token: "") }
        if let token = journey.shownToken?.text, sessions.use(token, in: journey.realm, at: moment.now)?.user == user {
            sessions.upgrade(token, tree: journey.tree, journey.session, at: moment.now)
            return .loggedIn(user, tree: journey.tree, token: token)
        }
        let token = sessions.open(user, tree: journey.tree, journey.session, moment)
        return .loggedIn(user, tree: journey.tree, token: token)
    }
}

extension [String: JourneyTree] {
    /// Returns the target of an outcome of the journey's current node. When an inner journey ends, its result becomes the outcome
    /// of the outer node that waits for it.
    fileprivate func target(of outcome: NodeOutcome, _ journey: inout JourneyState) -> NodeTarget {
        var outcome = outcome
        while true {
            let target = self[journey.place.tree]?.nodes[journey.place.nodeID]?.outcomes[outcome] ?? .failure
            if case .node = target { return target }
            guard let outer = journey.outer.popLast() else { return target }
            journey.place = outer
            outcome = target == .success ? .isTrue : .isFalse
        }
    }
}

extension RequestTime {
    /// The time at which a journey expires that continues now.
    var journeyEnd: Date { now.addingTimeInterval(Double(max(1, configuration.journeyTimeout))) }
}

extension ServerTransaction {
    /// Sends an email. It is stored for later inspection, and passed to the observers of the server's events.
    mutating func send(_ link: String, to user: UserKey, at now: Date) {
        outbox.keep(link, for: user, at: now)
        effects.append(.email(Email(user: user.name, realm: user.realm.description, link: link)))
    }
}

/// The store of the emails that were sent. The development server delivers no emails, so the links are looked up here when a
/// journey is tested.
struct SentEmails {
    /// The maximum number of emails that are kept for one user.
    static let size = 16

    /// The time in seconds for which emails are kept: 30 days.
    static let lifetime = 30 * 86_400.0

    struct Emails: Codable, Sendable {
        let user: UserKey
        var links: [String]
    }

    private var emails: Table<UserKey, Emails>

    init(_ transaction: RowCache) {
        emails = Table(.emails, transaction)
    }

    /// Returns a user's links, newest last.
    func links(of user: UserKey, at now: Date) -> [String] { emails.value(for: user, at: now)?.links ?? [] }

    /// Returns the links of the users whose last emails are the newest, at most `limit` users. The links of each user are ordered
    /// from oldest to newest.
    func newest(_ limit: Int, at now: Date) -> [(user: UserKey, link: String)] {
        emails.newest(limit, at: now).map(\.value).flatMap { emails in emails.links.map { (emails.user, $0) } }
    }

    mutating func keep(_ link: String, for user: UserKey, at now: Date) {
        let links = (links(of: user, at: now) + [link]).suffix(Self.size)
        emails.insert(Emails(user: user, links: Array(links)), for: user, until: now.addingTimeInterval(Self.lifetime))
    }
}
