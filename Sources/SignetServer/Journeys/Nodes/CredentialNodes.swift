import SignetCore

/// Compares the collected password with the user's, and forgets it.
struct DataStoreDecisionNode: NodeKind {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: Set<NodeOutcome> { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .leave(.isFalse) }
        return .leave(desk.directory.accepts(password, of: user) ? .isTrue : .isFalse)
    }
}
