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
    var outcomes: [NodeOutcome] { choices.map { NodeOutcome($0) } }
    var asking: NodeInteraction { .once }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
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
    /// What the answer is kept as, 0 for yes; nil when it is not.
    var attribute: String?

    var name: String { "MessageNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var asking: NodeInteraction { .once }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers = visit.answers, let pressed = answers.number(1), (0...1).contains(pressed) else {
            return .ask(
                Page(callbacks: [.text(message, type: messageType), .confirmation([yes, no], default: 1, type: messageType)]))
        }
        if let attribute { journey.attributes[attribute] = .integer(Int64(pressed)) }
        return .leave(pressed == 0 ? .isTrue : .isFalse)
    }
}

/// Lets the client wait, so often as it comes too early, but not more than it should.
struct PollingWaitNode: NodeKind {
    var seconds: Double
    var message = "Waiting ..."
    /// The text of a button that ends the wait; nil for none.
    var exit: String?
    /// How often the client may come too early; nil for as often as it likes.
    var patience: Int?

    var name: String { "PollingWaitNode" }
    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) + (patience == nil ? [] : [.spam]) }
    var asking: NodeInteraction { .alone }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let answers = visit.answers, case .waiting(var wait) = journey.memory else {
            return ask(PollingWait(milliseconds: Int(seconds * 1000), from: now, patience: patience ?? .max), &journey)
        }
        if exit != nil, answers.number(1) == 0 { return .leave(.exited) }
        switch wait.poll(at: now) {
        case .due: return .leave(.done)
        case .early: return ask(wait, &journey)
        case .spam: return .leave(.spam)
        }
    }

    private func ask(_ wait: PollingWait, _ journey: inout JourneyState) -> NodeResult {
        journey.memory = .waiting(wait)
        let buttons = exit.map { [JourneyCallback.confirmation($0)] } ?? []
        return .ask(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)] + buttons))
    }
}

/// Sends the person a letter with a link, and goes on when somebody comes with it.
struct EmailSuspendNode: NodeKind {
    var message = "An email has been sent to your inbox."

    var name: String { "EmailSuspendNode" }
    var outcomes: [NodeOutcome] { [.outcome] }
    var asking: NodeInteraction { .alone }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let page = Page(callbacks: [.text(message, type: 0, in: "SuspendedTextOutputCallback")])
        switch journey.memory {
        case .resumed: return .leave(.outcome)
        case .suspended: return .ask(page)
        default:
            let token = RandomID.token()
            // Whether there is such a person is not told; a person there is not gets no letter.
            if let user = journey.user, tx.directory.contains(user) {
                let realm = journey.realm.description.percentEncoded()
                tx.send("\(visit.moment.baseURL)/XUI/?realm=\(realm)&suspendedId=\(token)", to: user, at: visit.moment.now)
            }
            return .suspend(page, token: token)
        }
    }
}

/// Asks some of the questions that the person knows the answers to; all must be right.
struct KBAVerifyNode: NodeKind {
    var count = 1

    var name: String { "KbaVerifyNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var asking: NodeInteraction { .once }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user else { return .leave(.isFalse) }
        let asked = asked(of: user, journey)
        let questions = asked ?? Array(tx.directory.questions(of: user).shuffled().prefix(count))
        guard questions.count == count else { return .leave(.isFalse) }
        // What was answered to somebody else's questions is no answer to these.
        guard asked != nil, let answers = visit.answers else {
            journey.memory = .questioned(questions, of: user)
            return .ask(Page(callbacks: questions.map { .password(prompt: $0) }))
        }
        if let refusal = tx.guess(of: user, visit.moment) { return .refuse(refusal) }
        // Each is looked at, right or wrong: the time must not tell which was wrong.
        let isRight = questions.indices.map { index in
            tx.directory.accepts(Secret(answers.text(index).utf8), to: questions[index], of: user)
        }
        return .leave(isRight.contains(false) ? .isFalse : .isTrue)
    }

    /// Those that this person was asked, as long as they are: nobody gets others by leaving something else on the page open. Nil when
    /// nobody was asked, or somebody else: the name is perhaps on the same page, and can be corrected.
    private func asked(of user: UserKey, _ journey: JourneyState) -> [String]? {
        guard case .questioned(let questions, let owner) = journey.memory, owner == user else { return nil }
        return questions
    }
}

/// Whether the person has answers to enough questions.
struct KBADecisionNode: NodeKind {
    var count = 1

    var name: String { "KbaDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .leave(journey.user.map { tx.directory.questions(of: $0).count >= count } == true ? .isTrue : .isFalse)
    }
}

/// Whether the person has accepted the terms, in this version of them.
struct TermsDecisionNode: NodeKind {
    var version = TermsCollector().version

    var name: String { "TermsAndConditionsDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .leave(journey.user.flatMap { tx.directory[$0]?.acceptedTerms } == version ? .isTrue : .isFalse)
    }
}
