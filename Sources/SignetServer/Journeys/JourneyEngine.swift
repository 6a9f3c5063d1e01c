import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request to begin a journey.
struct JourneyStart: Sendable {
    var realm: RealmPath
    /// Nil for the standard journey.
    var tree: String?
    var indexType: String
    var noSession: Bool
    var userAgent: String?
}

/// A request to go on.
struct JourneyContinuation: Sendable {
    var realm: RealmPath
    var authID: String
    /// The member `callbacks` as it came.
    var callbacks: JSONValue?
    var noSession: Bool
}

/// What a journey answers when it does not refuse.
enum JourneyReply: Sendable {
    case step(JourneyStep)
    /// The end: who logged in, with a session token unless none was wanted.
    case loggedIn(UserKey, tree: String, token: String?)
}

extension DeskState {
    mutating func begin(_ start: JourneyStart, _ moment: Moment) throws(Refusal) -> JourneyReply {
        guard let tree = trees[start.tree ?? JourneyTree.standard] else { throw .noSuchJourney }
        let journey = JourneyState(
            id: RandomID.token(), realm: start.realm, tree: tree.name, indexType: start.indexType,
            expiresAt: moment.now.addingTimeInterval(Double(max(1, moment.configuration.journeyTimeout))),
            userAgent: start.userAgent, noSession: start.noSession, nodeID: tree.entry)
        return try walk(journey, answers: nil, moment)
    }

    /// Goes on with a journey. A handle is good for one answer: of two that come at once, one is taken.
    mutating func proceed(_ request: JourneyContinuation, _ moment: Moment) throws(Refusal) -> JourneyReply {
        let authID = try AuthID(request.authID, key: authIDKey)
        guard authID.realm == request.realm.description else { throw .foreignJourney }
        guard moment.now.timeIntervalSince1970 < Double(authID.exp),
            let journey = journeys.value(for: authID.sessionId, at: moment.now),
            ConstantTime.areEqual(journey.oneTimeKey, authID.otk)
        else { throw .journeyTimedOut }
        var taken = journey
        _ = journeys.remove(journey.id, at: moment.now)
        taken.noSession = taken.noSession || request.noSession
        return try walk(taken, answers: Answers(journey.asked, filledIn: request.callbacks), moment)
    }

    /// The most nodes that are passed without asking anything: a tree that runs in a circle ends here.
    private static var longestWalk: Int { 100 }

    private mutating func walk(_ journey: JourneyState, answers: Answers?, _ moment: Moment) throws(Refusal) -> JourneyReply {
        var journey = journey
        var answers = answers
        for _ in 0..<Self.longestWalk {
            guard let node = trees[journey.tree]?.nodes[journey.nodeID] else { break }
            let visit = NodeVisit(nodeID: journey.nodeID, answers: answers, moment: moment)
            switch node.kind.process(visit, &journey, &self) {
            case .ask(let page): return try ask(page, &journey, moment)
            case .fail(let reason): throw .loginFailure(because: reason, tree: journey.tree)
            case .leave(let outcome):
                journey.memory = .nothing
                answers = nil
                switch node.outcomes[outcome] {
                case .node(let next): journey.nodeID = next
                case .success: return try finish(journey)
                case .failure, nil: throw .loginFailure(because: "\(node.kind.name): \(outcome.rawValue)", tree: journey.tree)
                }
            }
        }
        throw .loginFailure(because: "the tree leads nowhere", tree: journey.tree)
    }

    private mutating func ask(_ page: Page, _ journey: inout JourneyState, _ moment: Moment) throws(Refusal) -> JourneyReply {
        journey.asked = JourneyCallback.numbered(page.callbacks)
        journey.oneTimeKey = RandomID.token()
        guard let authID = try? AuthID(journey, at: moment.now).signed(with: authIDKey) else { throw .unwritable }
        journeys.insert(journey, for: journey.id, until: journey.expiresAt, at: moment.now)
        return .step(
            JourneyStep(
                authId: authID, callbacks: journey.asked, stage: page.stage, header: page.header, description: page.description))
    }

    private func finish(_ journey: JourneyState) throws(Refusal) -> JourneyReply {
        guard let user = journey.user, directory.contains(user) else {
            throw .loginFailure(because: "there is no such user", tree: journey.tree)
        }
        return .loggedIn(user, tree: journey.tree, token: journey.noSession ? nil : RandomID.token())
    }
}
