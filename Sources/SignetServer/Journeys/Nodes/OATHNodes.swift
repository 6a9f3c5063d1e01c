import SignetCore

/// Asks for a one-time code and checks it: that of the device being registered, if there is one, otherwise of the user's.
struct OATHTokenVerifierNode: NodeKind {
    var prompt = "Enter verification code"

    var name: String { "OathTokenVerifierNode" }
    var outcomes: Set<NodeOutcome> { [.success, .failure, .notRegistered] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let user = journey.user, var device = journey.pendingOATH ?? desk.devices.oathDevice(of: user) else {
            return .leave(.notRegistered)
        }
        guard let answers = visit.answers else { return .ask(Page(callbacks: [.name(prompt: prompt)])) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        guard device.verifier.verify(code, at: visit.moment.now) == .accepted else { return .leave(.failure) }
        if journey.pendingOATH == nil {
            desk.devices.save(device, for: user)
        } else {
            journey.pendingOATH = device
        }
        return .leave(.success)
    }
}

/// Lets a journey come by `attempts` times, and rejects it at the last one.
struct RetryLimitDecisionNode: NodeKind {
    var attempts: Int

    var name: String { "RetryLimitDecisionNode" }
    var outcomes: Set<NodeOutcome> { [.retry, .reject] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        journey.failures[visit.nodeID, default: 0] += 1
        return .leave(journey.failures[visit.nodeID, default: 0] < attempts ? .retry : .reject)
    }
}
