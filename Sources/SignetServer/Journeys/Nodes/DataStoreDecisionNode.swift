/// A node that compares the collected password with the user's password, and then removes it from the journey.
struct DataStoreDecisionNode: Node {
    static let type = NodeType(
        "DataStoreDecisionNode", "Data Store Decision",
        "Compares the collected name and password with the users, and removes the password from the journey."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    /// The password is removed, so another visit compares none.
    var repeatedOutcomes: [NodeOutcome] { [.isFalse] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        switch try journey.checkPassword(&tx) {
        case .right: .transition(.isTrue)
        case .wrong: .transition(.isFalse)
        case .refused(let refusal): .refuse(refusal)
        }
    }
}
