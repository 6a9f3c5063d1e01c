/// A node that checks the state of the push message.
struct PushResultVerifierNode: Node {
    static let type = NodeType(
        "PushResultVerifierNode", "Push Result Verifier Node", "Checks the state of the push message."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.approved, .denied, .expired, .waiting] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let now = tx.now
        guard let id = journey.pushMessageID, let push = try tx.pushes.entry(id) else { return .transition(.expired) }
        switch push.state {
        case .waiting where now < push.deadline: return .transition(.waiting)
        case .waiting: return .transition(.expired)
        case .approved: return .transition(.approved)
        case .denied: return .transition(.denied)
        }
    }
}
