import SignetCore

/// Compares the collected password with the user's, and forgets it.
struct DataStoreDecisionNode: NodeKind {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .leave(.isFalse) }
        return .leave(desk.directory.accepts(password, of: user) ? .isTrue : .isFalse)
    }
}

/// Locks the person out, or lets them in again.
struct AccountLockoutNode: NodeKind {
    var locks = true

    var name: String { "AccountLockoutNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        if let user = journey.user { desk.directory.setLocked(locks, user) }
        return .leave(.outcome)
    }
}

/// Lets a journey come by `attempts` times, and rejects it at the last one.
struct RetryLimitDecisionNode: NodeKind {
    var attempts: Int

    var name: String { "RetryLimitDecisionNode" }
    var outcomes: [NodeOutcome] { [.retry, .reject] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        journey.failures[journey.place, default: 0] += 1
        return .leave(journey.failures[journey.place, default: 0] < attempts ? .retry : .reject)
    }
}

/// Walks another journey in this one's place.
struct InnerTreeEvaluatorNode: NodeKind {
    var tree: String

    var name: String { "InnerTreeEvaluatorNode" }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction { .enter(tree) }
}
