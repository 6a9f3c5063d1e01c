import SignetCore

/// Compares the collected password with the user's, and forgets it.
struct DataStoreDecisionNode: NodeKind {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .leave(.isFalse) }
        return switch tx.judge(password, of: user, visit.moment) {
        case .right: .leave(.isTrue)
        case .wrong: .leave(.isFalse)
        case .refused(let refusal): .refuse(refusal)
        }
    }
}

/// Locks the person out, or lets them in again.
struct AccountLockoutNode: NodeKind {
    var locks = true

    var name: String { "AccountLockoutNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        if let user = journey.user {
            tx.directory.setLocked(locks, user)
            if !locks { tx.lockouts.clear(user, at: visit.moment.now) }
        }
        return .leave(.outcome)
    }
}

/// Lets a journey try again so many times, and rejects it when it comes once more.
struct RetryLimitDecisionNode: NodeKind {
    var limit: Int

    var name: String { "RetryLimitDecisionNode" }
    var outcomes: [NodeOutcome] { [.retry, .reject] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let before = journey.failures[journey.place, default: 0]
        guard before < limit else { return .leave(.reject) }
        journey.failures[journey.place] = before + 1
        return .leave(.retry)
    }
}

/// Walks another journey in this one's place.
struct InnerTreeEvaluatorNode: NodeKind {
    var tree: String

    var name: String { "InnerTreeEvaluatorNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult { .enter(tree) }
}
