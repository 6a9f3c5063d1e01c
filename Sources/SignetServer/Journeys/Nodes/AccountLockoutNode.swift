/// A node that locks or unlocks the user's account.
struct AccountLockoutNode: Node {
    static let type = NodeType(
        "AccountLockoutNode", "Account Lockout",
        "Locks or unlocks the user's account. Journeys of a locked user end with an error."
    ) { Self(locks: $0.choice("lockAction", "LOCK", ["LOCK": true, "UNLOCK": false]) ?? true) }

    var locks = true

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        if let user = journey.user {
            try tx.directory.setLocked(locks, user)
            if !locks { try tx.lockouts.clearAll(user) }
        }
        return .transition(.outcome)
    }
}
