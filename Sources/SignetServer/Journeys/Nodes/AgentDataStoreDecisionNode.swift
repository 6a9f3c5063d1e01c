/// A node that compares the collected password with that of an agent, and then removes it from the journey.
///
/// This server has no agents of their own: an agent is a user.
struct AgentDataStoreDecisionNode: Node {
    static let type = NodeType(
        "AgentDataStoreDecisionNode", "Agent Data Store Decision",
        "Compares the collected name and password with the users, as Data Store Decision does. An agent of AM is a user here."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    /// The password is removed, so another visit compares none.
    var repeatedOutcomes: [NodeOutcome] { [.isFalse] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        try DataStoreDecisionNode().process(answers, &journey, &tx)
    }
}
