/// A node that permits a limited number of retries.
///
/// After that its outcome is ``NodeOutcome/reject``.
struct RetryLimitDecisionNode: Node {
    static let type = NodeType(
        "RetryLimitDecisionNode", "Retry Limit Decision",
        "Permits a limited number of retries: `Retry`, and after the last one `Reject`.",
        ignoring: ["incrementUserAttributeOnFailure"]
    ) { Self(limit: $0.integer("retryLimit", 3, in: 1...1_000_000)) }

    var limit: Int

    var outcomes: [NodeOutcome] { [.retry, .reject] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let before = journey.failures[journey.currentNode, default: 0]
        guard before < limit else {
            tx.explain("all \(limit) retries are used")
            return .transition(.reject)
        }
        journey.failures[journey.currentNode] = before + 1
        tx.explain("retry \(before + 1) of \(limit)")
        return .transition(.retry)
    }
}
