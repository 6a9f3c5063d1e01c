/// A node that checks if the user has answers to enough security questions.
struct KBADecisionNode: Node {
    static let type = NodeType(
        "KbaDecisionNode", "KBA Decision", "Checks if the user has answers to enough security questions."
    ) { Self(count: $0.integer("minimumAnswersToDefine", 1, in: 1...10)) }

    var count = 1

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        .transition(try journey.user.map { try tx.directory.questions(of: $0).count >= count } == true ? .isTrue : .isFalse)
    }
}
