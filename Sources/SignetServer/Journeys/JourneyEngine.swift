import Foundation
import SignetCore

/// A request to start a journey.
struct JourneyStart: Sendable {
    var realm: RealmPath
    /// The name of the journey; nil for the default journey.
    var tree: String?
    /// The names of journeys, of which the first that the realm offers is started instead of ``tree``.
    var choices: [String] = []
    var indexType: String
    var noSession: Bool
    var userAgent: String?
    /// True when the journey runs even if the session shows that the user has already completed it.
    var isForced = false
    /// The session tokens that the request contains.
    var sessionTokens: [String] = []
    /// The token of the session to upgrade (`sessionUpgradeSSOTokenId`).
    var upgradeToken: String?
    /// The URLs to go to after the journey.
    var destinations = RequestedDestinations()
}

/// A request to continue a journey.
struct JourneyContinuation: Sendable {
    var realm: RealmPath
    var authID: String
    /// The member `callbacks` as the client sent it.
    var callbacks: JSONValue?
    var noSession: Bool
    /// True for the form of a login page, which the server itself has turned into callbacks.
    var isFromPage = false
    /// The token of the session to upgrade (`sessionUpgradeSSOTokenId`).
    var upgradeToken: String?
    /// The URLs to go to after the journey.
    var destinations = RequestedDestinations()
}

/// The reply of a journey, or the refusal with which it ended.
///
/// A refusal is a value, because its consequences are changes to commit: a counted wrong password, a handle that is used up.
typealias JourneyResult = Result<JourneyReply, APIError>

extension JourneyResult {
    /// True when the journey goes on with a step.
    var isStep: Bool {
        if case .success(.step) = self { true } else { false }
    }
}

/// The reply of a journey that was not refused.
enum JourneyReply: Sendable {
    case step(JourneyStep)
    /// The user is logged in. The token is nil when the client requested no session. An empty token also means that there isn't a
    /// session.
    ///
    /// The URL to go to is nil for AM's console.
    case loggedIn(UserKey, tree: String, token: String?, successURL: String?)
}

extension ServerTransaction {
    mutating func begin(_ start: JourneyStart) throws -> JourneyResult {
        let name = start.choices.first { trees[$0]?.isOffered(in: start.realm) ?? false } ?? start.tree
        guard let tree = trees[name ?? time.configuration.defaultJourney], tree.isOffered(in: start.realm) else {
            return .failure(.noSuchJourney)
        }
        let presented = try session(start.upgradeToken.map { [$0] } ?? start.sessionTokens, in: start.realm)
        guard presented != nil || start.upgradeToken == nil else { return .failure(.noSessionToUpgrade) }
        let destinations = adding(start.destinations, to: nil, in: start.realm)
        if let presented, !start.isForced, name.map(presented.session.trees.contains) ?? true {
            return .success(
                .loggedIn(
                    presented.session.user, tree: tree.name, token: start.noSession ? nil : presented.token,
                    successURL: destinations?.success))
        }
        var journey = JourneyState(
            id: RandomID.token(), realm: start.realm, tree: tree.name, indexType: start.indexType,
            expiresAt: time.journeyEnd,
            userAgent: start.userAgent, noSession: start.noSession, currentNode: NodePath(tree: tree.name, nodeID: tree.entry))
        journey.presentedToken = presented.map { Secret($0.token.utf8) }
        if start.upgradeToken != nil { journey.isUpgrade = true }
        journey.destinations = destinations
        return try run(journey, answers: nil)
    }

    /// Continues a journey.
    ///
    /// Each handle is valid for one answer, so of two concurrent requests with the same handle only one succeeds. An answer whose
    /// callbacks are not those of the step changes nothing, and the handle stays valid.
    /// - Returns: The reply, or an error when the handle is not valid or the login fails.
    mutating func proceed(_ request: JourneyContinuation) throws -> JourneyResult {
        guard let authID = AuthID(request.authID, key: authIDKey) else { return .failure(.invalidAuthID) }
        guard authID.realm == request.realm.description else { return .failure(.foreignJourney) }
        guard now.timeIntervalSince1970 < Double(authID.exp),
            let journey = try journeys[authID.sessionId],
            ConstantTime.areEqual(journey.oneTimeKey, authID.otk)
        else {
            // The signature of the handle was verified, so the name in it comes from this server and is safe in a metric.
            count(.login(journey: authID.authIndexValue, .timeout))
            recordTimeout(authID, in: request.realm)
            return .failure(.journeyTimedOut)
        }
        let answers: Answers
        do throws(APIError) {
            answers =
                request.isFromPage
                ? Answers(journey.asked, filledIn: request.callbacks)
                : Answers(journey.asked, try ReturnedCallbacks(journey.asked, request.callbacks))
        } catch {
            return .failure(error)
        }
        var taken = journey
        let isPoll = journey.isPolled && pollWaits?.hasRoom(for: journey.oneTimeKey) == true
        if isPoll, let wait = pollWaits?[journey.oneTimeKey] { taken.memory = .waiting(wait) }
        if let token = request.upgradeToken {
            guard try session([token], in: request.realm) != nil else { return .failure(.noSessionToUpgrade) }
            taken.presentedToken = Secret(token.utf8)
            taken.isUpgrade = true
        }
        // A poll that shows the same step again writes nothing.
        if !isPoll { try journeys.remove(journey.id) }
        taken.noSession = taken.noSession || request.noSession
        taken.destinations = adding(request.destinations, to: taken.destinations, in: request.realm)
        let result = try run(taken, answers: answers, polled: isPoll ? PolledStep(journey: journey, authID: request.authID) : nil)
        if isPoll, !result.isStep { try journeys.remove(journey.id) }
        return result
    }

    /// Continues a suspended journey.
    ///
    /// A link is valid once.
    /// - Returns: The reply, or an error when the token is not valid or the login fails.
    mutating func resume(_ token: String, in realm: RealmPath) throws -> JourneyResult {
        let key = TokenHash(token)
        guard try suspensions[key]?.realm == realm,
            var journey = try suspensions.remove(key)
        else { return .failure(.suspensionNotFound) }
        try journeys.remove(journey.id)
        try pacing.answeredEmail(by: journey.user, at: journey.emailAddress)
        journey.expiresAt = time.journeyEnd
        journey.memory = .resumed
        return try run(journey, answers: nil)
    }

    /// The maximum number of nodes that run in one request.
    ///
    /// It stops a tree that contains a loop.
    private static var maxTransitions: Int { 100 }

    /// The maximum nesting depth of journeys.
    ///
    /// It stops a journey that contains itself.
    private static var maxInnerTrees: Int { 16 }

    /// Runs the journey until the next step, and counts its outcome when it ends.
    private mutating func run(
        _ journey: JourneyState, answers: Answers?, polled: PolledStep? = nil
    ) throws -> JourneyResult {
        let earlierMessageID = journey.pushMessageID
        var journey = journey
        let result = try pass(&journey, answers: answers, polled: polled).mapError {
            $0.leading(to: journey.destinations?.failure)
        }
        try withdrawPush(earlierMessageID, of: journey, after: result)
        switch result {
        case .success(.loggedIn): count(.login(journey: journey.tree, .success))
        case .success(.step): break
        case .failure(let refusal): count(.login(journey: journey.tree, LoginOutcome(refusal)))
        }
        record(journey, result)
        return result
    }

    /// Withdraws the push message for which the journey has waited, when the journey has ended or has sent another message, so that
    /// the user's devices close it.
    ///
    /// A message that was sent in the request that ends the journey stays, because the journey never waited for it.
    /// - Parameters:
    ///   - messageID: The message that the journey had sent before the request.
    ///   - journey: The journey after the request.
    ///   - result: The result of the request.
    /// - Throws: `StoreError` when the message cannot be read.
    private mutating func withdrawPush(_ messageID: String?, of journey: JourneyState, after result: JourneyResult) throws {
        if case .success(.step) = result, journey.pushMessageID == messageID { return }
        guard let messageID, let mechanismUID = try pushes.withdraw(messageID) else { return }
        effects.append(.wake(mechanismUID))
    }

    private mutating func pass(
        _ journey: inout JourneyState, answers: Answers?, polled: PolledStep?
    ) throws -> JourneyResult {
        // A new password also ends the journeys that began with the old one, before a node of theirs changes anything.
        if let identified = journey.identified, identified.user == journey.user,
            try identified != self.identified(identified.user)
        {
            return .failure(.loginFailure(because: "the user has a new password since", tree: journey.tree))
        }
        var answers = answers
        for _ in 0..<Self.maxTransitions {
            guard let node = trees[journey.currentNode.tree]?.nodes[journey.currentNode.nodeID] else {
                let reason = "the journey \(journey.currentNode.tree) has no node \(journey.currentNode.nodeID)"
                return .failure(.loginFailure(because: reason, tree: journey.tree))
            }
            let visit = trace.begin(journey)
            let action = try node.node.process(answers, &journey, &self)
            trace.end(visit, node.node, action, journey, at: now)
            switch action {
            case .prompt(let page): return .success(ask(page, &journey, polled: polled))
            case .suspend(let page, let token): return .success(suspend(page, token, &journey))
            case .refuse(let refusal): return .failure(refusal)
            case .fail(let reason): return .failure(loginFailure(because: reason, journey))
            case .runInnerTree(let name):
                guard let inner = trees[name], journey.outer.count < Self.maxInnerTrees else {
                    return .failure(.loginFailure(because: "there is no way into the journey \(name)", tree: journey.tree))
                }
                journey.outer.append(journey.currentNode)
                journey.currentNode = NodePath(tree: name, nodeID: inner.entry)
            case .transition(let outcome):
                switch target(of: outcome, &journey) {
                case .node(let next): journey.currentNode.nodeID = next
                case .success: return try finish(journey)
                case .failure:
                    let reason = "\(node.node.type.name): \(outcome.rawValue)"
                    return .failure(loginFailure(because: reason, journey))
                }
            }
            journey.memory = .nothing
            answers = nil
        }
        let reason = "\(Self.maxTransitions) nodes ran without asking the user: the journey contains a loop"
        return .failure(.loginFailure(because: reason, tree: journey.tree))
    }

    /// Returns the error of a failed login, with a warning when the account will be locked soon.
    private func loginFailure(because reason: String, _ journey: JourneyState) -> APIError {
        .loginFailure(because: reason, tree: journey.tree, failuresLeft: failuresLeft)
    }

    private mutating func ask(
        _ page: Page, _ journey: inout JourneyState, polled step: PolledStep? = nil
    ) -> JourneyReply {
        journey.asked = JourneyCallback.numbered(page.callbacks)
        if let step, case .waiting(let wait) = journey.memory, journey.continuesWait(of: step.journey) {
            polled.append(PolledWait(key: journey.oneTimeKey, wait: wait, end: journey.expiresAt))
            return .step(
                JourneyStep(
                    authId: step.authID, callbacks: journey.asked, stage: page.stage, header: page.header,
                    description: page.description))
        }
        journey.oneTimeKey = RandomID.token()
        let authID = AuthID(journey, at: now).signed(with: authIDKey)
        journeys.insert(journey, for: journey.id, until: journey.expiresAt)
        return .step(
            JourneyStep(
                authId: authID, callbacks: journey.asked, stage: page.stage, header: page.header, description: page.description))
    }

    private mutating func suspend(
        _ page: Page, _ token: String, _ journey: inout JourneyState
    ) -> JourneyReply {
        journey.memory = .suspended
        let reply = ask(page, &journey)
        let end = now.addingTimeInterval(Double(max(1, time.configuration.suspensionTimeout)))
        suspensions.insert(journey, for: TokenHash(token), until: end)
        return reply
    }

    private static var unprovenAdministrator: String {
        "an administrator is identified by a password, by a link or a code of an email, or by a persistent cookie"
    }

    private mutating func finish(_ journey: JourneyState) throws -> JourneyResult {
        guard let user = journey.user, try directory.contains(user) else {
            return .failure(.loginFailure(because: "there is no such user", tree: journey.tree))
        }
        guard try directory[user]?.isLocked != true else { return .failure(.lockedOut) }
        let presentedToken = try journey.presentedToken.map(\.text).flatMap { token in
            try sessions.use(token, in: journey.realm)?.user == user ? token : nil
        }
        guard presentedToken != nil || journey.isUpgrade != true else { return .failure(.upgradeByOtherUser) }
        // A journey for tests can let in each user without a proof, and an administrator can change the configuration. A new
        // password that the journey has set counts as a proof too (PatchObjectNode).
        let isProven = presentedToken != nil || journey.identified?.user == user
        guard isProven || !directory.isAdministrator(user) else {
            return .failure(.loginFailure(because: Self.unprovenAdministrator, tree: journey.tree))
        }
        let token = try token(of: user, after: journey, presentedToken)
        try setPersistentCookies(of: journey, for: user)
        return .success(
            .loggedIn(user, tree: journey.tree, token: token, successURL: journey.destinations?.success))
    }

    /// Returns the token with which a journey ends, of the session with which it was started or of a new one.
    ///
    /// It is nil when the client requested no session, and empty when the journey opens none.
    private mutating func token(of user: UserKey, after journey: JourneyState, _ presentedToken: String?) throws -> String? {
        guard !journey.noSession else { return nil }
        guard !journey.passesThrough else { return "" }
        guard let presentedToken else { return try sessions.open(user, tree: journey.tree, journey.session) }
        try sessions.upgrade(presentedToken, tree: journey.tree, journey.session)
        return presentedToken
    }
}

extension ServerTransaction {
    /// Returns the target of an outcome of the journey's current node.
    ///
    /// When an inner journey ends, its result becomes the outcome of the outer node that waits for it.
    fileprivate mutating func target(of outcome: NodeOutcome, _ journey: inout JourneyState) -> NodeTarget {
        var outcome = outcome
        while true {
            let target = trees[journey.currentNode.tree]?.nodes[journey.currentNode.nodeID]?.outcomes[outcome] ?? .failure
            if case .node = target { return target }
            guard let outer = journey.outer.popLast() else { return target }
            journey.currentNode = outer
            outcome = target == .success ? .isTrue : .isFalse
            trace.returned(to: outer, trees[outer.tree]?.nodes[outer.nodeID]?.node.type.name, outcome, at: now)
        }
    }
}

extension RequestTime {
    /// The time at which a journey expires that continues now.
    var journeyEnd: Date { now.addingTimeInterval(Double(max(1, configuration.journeyTimeout))) }
}
