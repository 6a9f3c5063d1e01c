/// A node that compares the collected password with the user's password, with an outcome for a locked account.
struct IdentityStoreDecisionNode: Node {
    static let type = NodeType(
        "IdentityStoreDecisionNode", "Identity Store Decision",
        "Compares the collected name and password with the users, and removes the password from the journey. `LOCKED` is the outcome of a locked account with the correct password, and of one that too many wrong passwords have locked.",
        ignoring: ["minimumPasswordLength", "mixedCaseForPasswordChangeMessages", "useUniversalIdForUsername"]
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.approved, .denied, .locked] }
    var ignoredOutcomes: [NodeOutcome] { [.cancelled, .expired] }
    /// The password is removed, so another visit compares none.
    var repeatedOutcomes: [NodeOutcome] { [.denied] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        try journey.passwordOutcome(&tx)
    }
}
