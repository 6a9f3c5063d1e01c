import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Lets a person choose; each choice is an outcome of its own name.
struct ChoiceCollectorNode: NodeKind {
    var prompt: String
    var choices: [String]
    var standard = 0

    var name: String { "ChoiceCollectorNode" }
    var outcomes: Set<NodeOutcome> { Set(choices.map { NodeOutcome($0) }) }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let answers = visit.answers, let index = answers.number(0), choices.indices.contains(index) else {
            let standard = JSONValue.integer(Int64(standard))
            return .ask(
                Page(callbacks: [
                    .any(
                        "ChoiceCallback", ["prompt": .string(prompt), "choices": .texts(choices), "defaultChoice": standard],
                        ["": standard])
                ]))
        }
        return .leave(NodeOutcome(choices[index]))
    }
}

/// Tells a person something and lets them agree or not.
struct MessageNode: NodeKind {
    var message: String
    /// 0 informs, 1 warns, 2 tells of an error.
    var messageType = 0
    var yes = "Yes"
    var no = "No"

    var name: String { "MessageNode" }
    var outcomes: Set<NodeOutcome> { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let answers = visit.answers, let pressed = answers.number(1), (0...1).contains(pressed) else {
            return .ask(
                Page(callbacks: [.text(message, type: messageType), .confirmation([yes, no], default: 1, type: messageType)]))
        }
        return .leave(pressed == 0 ? .isTrue : .isFalse)
    }
}

/// Lets the client wait, so often as it comes too early, but not more than it should.
struct PollingWaitNode: NodeKind {
    var seconds: Double
    var message = "Waiting ..."
    /// The text of a button that ends the wait; nil for none.
    var exit: String?

    var name: String { "PollingWaitNode" }
    var outcomes: Set<NodeOutcome> { [.done, .exited] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let now = visit.moment.now
        guard let answers = visit.answers, case .waiting(var wait) = journey.memory else {
            return ask(PollingWait(milliseconds: Int(seconds * 1000), from: now), &journey)
        }
        if exit != nil, answers.number(1) == 0 { return .leave(.exited) }
        switch wait.poll(at: now) {
        case .due: return .leave(.done)
        case .early: return ask(wait, &journey)
        case .spam: return .fail("polled too early too often")
        }
    }

    private func ask(_ wait: PollingWait, _ journey: inout JourneyState) -> NodeAction {
        journey.memory = .waiting(wait)
        let buttons = exit.map { [JourneyCallback.confirmation($0)] } ?? []
        return .ask(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)] + buttons))
    }
}

/// Sends the person a letter with a link, and goes on when somebody comes with it.
struct EmailSuspendNode: NodeKind {
    var message = "An email has been sent to your inbox."

    var name: String { "EmailSuspendNode" }
    var outcomes: Set<NodeOutcome> { [.outcome] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        let page = Page(callbacks: [.text(message, type: 0, in: "SuspendedTextOutputCallback")])
        switch journey.memory {
        case .resumed: return .leave(.outcome)
        case .suspended: return .ask(page)
        default:
            let token = RandomID.token()
            // Whether there is such a person is not told; a person there is not gets no letter.
            if let user = journey.user, desk.directory.contains(user) {
                let realm = journey.realm.description.percentEncoded()
                desk.outbox.send("\(visit.moment.baseURL)/XUI/?realm=\(realm)&suspendedId=\(token)", to: user)
            }
            return .suspend(page, token: token)
        }
    }
}

/// Asks one of the questions that the person knows the answer to.
struct SecurityQuestionNode: NodeKind {
    var name: String { "KbaDecisionNode" }
    var outcomes: Set<NodeOutcome> { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let user = journey.user else { return .leave(.isFalse) }
        guard let answers = visit.answers, case .questioned(let question) = journey.memory else {
            guard let question = desk.directory.questions(of: user).randomElement() else { return .leave(.isFalse) }
            journey.memory = .questioned(question)
            return .ask(Page(callbacks: [.password(prompt: question)]))
        }
        let isRight = desk.directory.accepts(Secret(answers.text(0).utf8), to: question, of: user)
        return .leave(isRight ? .isTrue : .isFalse)
    }
}

/// Makes a user of what was collected.
struct CreateUserNode: NodeKind {
    /// Which claim an attribute is told as.
    static let claims = ["mail": "email", "givenName": "given_name", "sn": "family_name"]

    var name: String { "CreateObjectNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        defer { journey.password = nil }
        guard let user = journey.user, !user.name.isEmpty, let password = journey.password else { return .leave(.failure) }
        let claims = journey.attributes.compactMap { name, value in Self.claims[name].map { ($0, value) } }
        // Somebody else may have taken the name since it was looked at.
        guard
            desk.directory.add(user, password: password, claims: Dictionary(claims, uniquingKeysWith: { _, last in last }))
        else { return .refuse(.policyFailure("userName", [.unique])) }
        desk.directory.keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        return .leave(.success)
    }
}

/// Keeps what was collected of somebody who is a user already: the answers to questions, and the device's profile.
struct KeepCollectedNode: NodeKind {
    var name: String { "PatchObjectNode" }
    var outcomes: Set<NodeOutcome> { [.outcome] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let user = journey.user else { return .leave(.outcome) }
        desk.directory.keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        if let profile = journey.attributes.removeValue(forKey: "deviceProfile"), let details = profile.object {
            let identifier = details["identifier"]?.string ?? ""
            let known = desk.devices.others(.profile, of: user).first { $0.details["identifier"]?.string == identifier }
            let name = details["metadata"]?["platform"]?["deviceName"]?.string
            desk.devices.save(
                OtherDevice(
                    kind: .profile, resourceID: known?.resourceID ?? RandomID.uuid(), name: known?.name ?? name ?? identifier,
                    registeredAt: known?.registeredAt ?? visit.moment.now, lastUsedAt: visit.moment.now, details: details),
                for: user)
        }
        return .leave(.outcome)
    }
}

/// Lets a journey end with an empty token: who walked it is known, and has no session.
struct PassThroughNode: NodeKind {
    var name: String { "PassThroughNode" }
    var outcomes: Set<NodeOutcome> { [.success] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        journey.passesThrough = true
        return .leave(.success)
    }
}

/// Ends a login with words of its own.
struct RefusalNode: NodeKind {
    var refusal: Refusal

    var name: String { "FailureUrlNode" }
    var outcomes: Set<NodeOutcome> { [] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        .refuse(refusal)
    }
}
