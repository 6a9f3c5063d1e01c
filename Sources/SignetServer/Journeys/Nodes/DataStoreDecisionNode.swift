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
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .transition(.isFalse) }
        switch try tx.check(password, of: user) {
        case .right:
            journey.identified = try tx.identified(user)
            return .transition(.isTrue)
        case .wrong: return .transition(.isFalse)
        case .refused(let refusal): return .refuse(refusal)
        }
    }
}
