import SignetCore

/// A node that asks some of the user's security questions.
///
/// All answers must be correct.
struct KBAVerifyNode: Node {
    static let type = NodeType(
        "KbaVerifyNode", "KBA Verification",
        "Asks some of the user's security questions: `true` when all answers are correct. Case, and space around an answer, don't matter. A blank answer is never correct."
    ) { Self(count: $0.integer("minimumAnswersToVerify", 1, in: 1...10)) }

    var count = 1

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user else { return .transition(.isFalse) }
        let asked = asked(of: user, journey)
        let questions = try asked ?? Array(tx.directory.questions(of: user).shuffled().prefix(count))
        guard questions.count == count else {
            tx.explain("the user has \(questions.count) security answers, and \(count) are asked for")
            return .transition(.isFalse)
        }
        // Answers are used only if the questions were asked of this user.
        guard asked != nil, let answers else {
            journey.memory = .questioned(questions, of: user)
            return .prompt(Page(callbacks: questions.map { .password(prompt: $0) }))
        }
        let result = try tx.check(journey.attempts(.securityAnswer, of: user)) { tx in
            // Every answer is compared, even after a wrong one, so that the response time does not reveal which answer was wrong.
            let areRight = try questions.indices.map { index in
                try tx.directory.accepts(Secret(answers.text(index).utf8), to: questions[index], of: user)
            }
            return !areRight.contains(false)
        }
        switch result {
        case .right: return .transition(.isTrue)
        case .wrong:
            tx.explain("an answer is wrong")
            return .transition(.isFalse)
        case .refused(let refusal): return .refuse(refusal)
        }
    }

    /// Returns the questions that the journey has asked this user.
    ///
    /// They remain the same while the node is visited again, so that a user cannot get other questions by leaving a different
    /// part of the page unanswered. The result is nil if the journey has asked none, or has asked a different user. The latter
    /// happens when the name is on the same page and the user corrects it.
    private func asked(of user: UserKey, _ journey: JourneyState) -> [String]? {
        guard case .questioned(let questions, let owner) = journey.memory, owner == user else { return nil }
        return questions
    }
}
