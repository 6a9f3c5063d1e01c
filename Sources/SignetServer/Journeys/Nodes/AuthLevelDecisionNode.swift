/// A node that compares the authentication level of the journey.
struct AuthLevelDecisionNode: Node {
    static let type = NodeType(
        "AuthLevelDecisionNode", "Auth Level Decision",
        "Checks if the authentication level of the journey, which Modify Auth Level changes, is at least this number."
    ) { Self(minimum: $0.integer("authLevelRequirement", 0, in: -1_000_000...1_000_000)) }

    var minimum = 0

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        tx.explain("the authentication level is \(journey.authLevel)")
        return .transition(journey.authLevel >= Int64(minimum) ? .isTrue : .isFalse)
    }
}
