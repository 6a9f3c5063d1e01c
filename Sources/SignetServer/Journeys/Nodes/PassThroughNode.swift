/// A node that makes the journey end with an empty token.
///
/// The user is identified but gets no session.
struct PassThroughNode: Node {
    static let type = NodeType(
        "PassThroughNode", "Pass Through",
        "Lets the journey end with an empty `tokenId` and without a session. AM has no such node."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.passesThrough = true
        return .transition(.outcome)
    }
}
