/// A node that compares the number of the user's logins.
struct LoginCountDecisionNode: Node {
    static let type = NodeType(
        "LoginCountDecisionNode", "Login Count Decision",
        "Compares the number of the user's logins, which Increment Login Count counts: `true` at the number `amount`, or with `EVERY` at each multiple of it."
    ) { decoder in
        Self(
            isRepeated: decoder.choice("interval", "AT", ["AT": false, "EVERY": true]) ?? false,
            amount: decoder.integer("amount", Self().amount, in: 1...1_000_000), identityAttribute: decoder.identityAttribute())
    }

    /// True for each multiple of the number.
    var isRepeated = false
    var amount = 25
    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let user = try tx.directory.user(of: journey, by: identityAttribute)
        let count = try user.flatMap { try tx.directory[$0]?.loginCount } ?? 0
        tx.explain("the number of the user's logins is \(count)")
        let isReached = isRepeated ? count > 0 && count.isMultiple(of: amount) : count == amount
        return .transition(isReached ? .isTrue : .isFalse)
    }
}
