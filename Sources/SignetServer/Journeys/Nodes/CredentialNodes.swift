import SignetCore

/// Compares the collected password with the user's, and forgets it.
struct DataStoreDecisionNode: NodeKind {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: Set<NodeOutcome> { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .leave(.isFalse) }
        guard desk.directory.accepts(password, of: user) else { return .leave(.isFalse) }
        // Here, and not only at the end: the nodes after this one register devices and send messages.
        return desk.directory[user]?.isLocked == true ? .refuse(.lockedOut) : .leave(.isTrue)
    }
}
