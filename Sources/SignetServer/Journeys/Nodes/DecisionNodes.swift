import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node that lets the user choose. Each choice is the name of an outcome.
struct ChoiceCollectorNode: Node {
    var prompt: String
    var choices: [String]
    var standard = 0

    var name: String { "ChoiceCollectorNode" }
    var outcomes: [NodeOutcome] { choices.map { NodeOutcome($0) } }
    var interaction: Interaction { .embeddable }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers = visit.answers, let index = answers.number(0), choices.indices.contains(index) else {
            let standard = JSONValue.integer(Int64(standard))
            return .prompt(
                Page(callbacks: [
                    .any(
                        "ChoiceCallback", ["prompt": .string(prompt), "choices": .texts(choices), "defaultChoice": standard],
                        ["": standard])
                ]))
        }
        return .transition(NodeOutcome(choices[index]))
    }
}

/// A node that shows a message that the user accepts or declines.
struct MessageNode: Node {
    var message: String
    /// The message type: 0 for information, 1 for a warning, 2 for an error.
    var messageType = 0
    var yes = "Yes"
    var no = "No"
    /// The attribute in which the answer is stored, 0 for yes; nil to not store it.
    var attribute: String?

    var name: String { "MessageNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers = visit.answers, let pressed = answers.number(1), (0...1).contains(pressed) else {
            return .prompt(
                Page(callbacks: [.text(message, type: messageType), .confirmation([yes, no], default: 1, type: messageType)]))
        }
        if let attribute { journey.attributes[attribute] = .integer(Int64(pressed)) }
        return .transition(pressed == 0 ? .isTrue : .isFalse)
    }
}

/// A node that makes the client wait. It repeats the wait when the client polls too early, up to a limit.
struct PollingWaitNode: Node {
    var seconds: Double
    var message = "Waiting ..."
    /// The text of a button that ends the wait; nil for no button.
    var exit: String?
    /// The number of polls that may come too early; nil for no limit.
    var tolerance: Int?

    var name: String { "PollingWaitNode" }
    var outcomes: [NodeOutcome] { [.done] + (exit == nil ? [] : [.exited]) + (tolerance == nil ? [] : [.spam]) }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let now = visit.moment.now
        guard let answers = visit.answers, case .waiting(var wait) = journey.memory else {
            return ask(PollingWait(milliseconds: Int(seconds * 1000), from: now, tolerance: tolerance ?? .max), &journey)
        }
        if exit != nil, answers.number(1) == 0 { return .transition(.exited) }
        switch wait.poll(at: now) {
        case .due: return .transition(.done)
        case .early: return ask(wait, &journey)
        case .spam: return .transition(.spam)
        }
    }

    private func ask(_ wait: PollingWait, _ journey: inout JourneyState) -> NodeResult {
        journey.memory = .waiting(wait)
        let buttons = exit.map { [JourneyCallback.confirmation($0)] } ?? []
        return .prompt(Page(callbacks: [.wait(milliseconds: wait.milliseconds, message: message)] + buttons))
    }
}

/// A node that sends the user an email with a link, and continues when a client opens the link.
struct EmailSuspendNode: Node {
    var message = "An email has been sent to your inbox."

    var name: String { "EmailSuspendNode" }
    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let page = Page(callbacks: [.text(message, type: 0, in: "SuspendedTextOutputCallback")])
        switch journey.memory {
        case .resumed: return .transition(.outcome)
        case .suspended: return .prompt(page)
        default:
            let token = RandomID.token()
            // The page is the same for a user that does not exist, so that it does not reveal which users exist. An email is sent
            // only to an existing user.
            if let user = journey.user, tx.directory.contains(user) {
                let realm = journey.realm.description.percentEncoded()
                tx.send("\(visit.moment.baseURL)/XUI/?realm=\(realm)&suspendedId=\(token)", to: user, at: visit.moment.now)
            }
            return .suspend(page, token: token)
        }
    }
}

/// A node that asks some of the user's security questions. All answers must be correct.
struct KBAVerifyNode: Node {
    var count = 1

    var name: String { "KbaVerifyNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let user = journey.user else { return .transition(.isFalse) }
        let asked = asked(of: user, journey)
        let questions = asked ?? Array(tx.directory.questions(of: user).shuffled().prefix(count))
        guard questions.count == count else { return .transition(.isFalse) }
        // Answers are used only if the questions were asked of this user.
        guard asked != nil, let answers = visit.answers else {
            journey.memory = .questioned(questions, of: user)
            return .prompt(Page(callbacks: questions.map { .password(prompt: $0) }))
        }
        if let refusal = tx.guess(of: user, visit.moment) { return .refuse(refusal) }
        // Every answer is compared, even after a wrong one, so that the response time does not reveal which answer was wrong.
        let isRight = questions.indices.map { index in
            tx.directory.accepts(Secret(answers.text(index).utf8), to: questions[index], of: user)
        }
        return .transition(isRight.contains(false) ? .isFalse : .isTrue)
    }

    /// Returns the questions that the journey has asked this user. They remain the same while the node is visited again, so that
    /// a user cannot get other questions by leaving a different part of the page unanswered. The result is nil if the journey has
    /// asked none, or has asked a different user. The latter happens when the name is on the same page and the user corrects it.
    private func asked(of user: UserKey, _ journey: JourneyState) -> [String]? {
        guard case .questioned(let questions, let owner) = journey.memory, owner == user else { return nil }
        return questions
    }
}

/// A node that checks if the user has answers to enough security questions.
struct KBADecisionNode: Node {
    var count = 1

    var name: String { "KbaDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .transition(journey.user.map { tx.directory.questions(of: $0).count >= count } == true ? .isTrue : .isFalse)
    }
}

/// A node that checks if the user has accepted this version of the terms.
struct TermsDecisionNode: Node {
    var version = TermsCollector().version

    var name: String { "TermsAndConditionsDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .transition(journey.user.flatMap { tx.directory[$0]?.acceptedTerms } == version ? .isTrue : .isFalse)
    }
}
