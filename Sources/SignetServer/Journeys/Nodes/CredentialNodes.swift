import SignetCore

/// A node that compares the collected password with the user's password, and then removes it from the journey.
struct DataStoreDecisionNode: Node {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .transition(.isFalse) }
        return switch tx.judge(password, of: user, visit.moment) {
        case .right: .transition(.isTrue)
        case .wrong: .transition(.isFalse)
        case .refused(let refusal): .refuse(refusal)
        }
    }
}

/// A node that locks or unlocks the user's account.
struct AccountLockoutNode: Node {
    var locks = true

    var name: String { "AccountLockoutNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        if let user = journey.user {
            tx.directory.setLocked(locks, user)
            if !locks { tx.lockouts.clear(user, at: visit.moment.now) }
        }
        return .transition(.outcome)
    }
}

/// A node that permits a limited number of retries. After that its outcome is ``NodeOutcome/reject``.
struct RetryLimitDecisionNode: Node {
    var limit: Int

    var name: String { "RetryLimitDecisionNode" }
    var outcomes: [NodeOutcome] { [.retry, .reject] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let before = journey.failures[journey.place, default: 0]
        guard before < limit else { return .transition(.reject) }
        journey.failures[journey.place] = before + 1
        return .transition(.retry)
    }
}

/// A node that runs another journey inside of the current one.
struct InnerTreeEvaluatorNode: Node {
    var tree: String

    var name: String { "InnerTreeEvaluatorNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .runInnerTree(tree)
    }
}
