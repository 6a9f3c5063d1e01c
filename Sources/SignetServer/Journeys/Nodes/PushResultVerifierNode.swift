import Foundation

/// A node that checks the state of the push message.
struct PushResultVerifierNode: Node {
    static let type = NodeType(
        "PushResultVerifierNode", "Push Result Verifier Node", "Checks the state of the push message."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.approved, .denied, .expired, .waiting] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let now = tx.now
        guard let id = journey.pushMessageID, let push = try tx.pushes.entry(id) else {
            tx.explain("the journey has no push message")
            return .transition(.expired)
        }
        tx.explain(push.explanation(at: now))
        switch push.state {
        case .waiting where now < push.deadline: return .transition(.waiting)
        case .waiting: return .transition(.expired)
        case .approved: return .transition(.approved)
        case .denied: return .transition(.denied)
        }
    }
}

extension PushMessageRecord {
    /// The state of the message in words, for the trace of a login.
    fileprivate func explanation(at now: Date) -> String {
        switch state {
        case .waiting: now < deadline ? "the device has not answered yet" : "the device has not answered in time"
        case .approved: "the user has approved on the device"
        case .denied: "the user has denied on the device, or has chosen wrong numbers"
        }
    }
}
