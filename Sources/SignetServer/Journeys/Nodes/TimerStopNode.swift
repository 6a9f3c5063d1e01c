/// A node of AM that counts or measures, which has no effect here.
struct TimerStopNode: Node {
    static let type = NodeType(
        "TimerStopNode", "Timer Stop",
        "Continues. AM measures with it; this server has [metrics of its own](../guides/operations.md#metrics-and-traces).",
        ignoring: ["startTimeProperty", "metricKey"]
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .transition(.outcome)
    }
}
