/// A node that checks if the user's account is neither locked by an administrator nor after wrong passwords.
struct AccountActiveDecisionNode: Node {
    static let type = NodeType(
        "AccountActiveDecisionNode", "Account Active Decision",
        "Checks if the user exists, and if the account is locked neither by a lock nor after wrong passwords."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = journey.user, let record = try tx.directory[user] else {
            tx.explain("there is no such user")
            return .transition(.isFalse)
        }
        let isLocked = try record.isLocked || tx.lockouts.isLocked(user)
        if isLocked { tx.explain("the account is locked") }
        return .transition(isLocked ? .isFalse : .isTrue)
    }
}
