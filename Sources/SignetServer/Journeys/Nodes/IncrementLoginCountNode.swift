/// A node that counts the user's logins.
struct IncrementLoginCountNode: Node {
    static let type = NodeType(
        "IncrementLoginCountNode", "Increment Login Count",
        "Adds one to the number of the user's logins, which Login Count Decision compares."
    ) { Self(identityAttribute: $0.identityAttribute()) }

    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        if let user = try tx.directory.user(of: journey, by: identityAttribute) { try tx.directory.countLogin(of: user) }
        return .transition(.outcome)
    }
}
