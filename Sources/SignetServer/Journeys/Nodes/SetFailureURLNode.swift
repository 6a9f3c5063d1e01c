/// A node that sets the URL to which the client goes after a failed login.
struct SetFailureURLNode: Node {
    static let type = NodeType(
        "SetFailureUrlNode", "Failure URL",
        "Sets the URL in `failureUrl` of a failed login, unless the request names one."
    ) { Self(url: $0.requiredString("failureUrl", kind: "a URL")) }

    var url: String

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        var destinations = journey.destinations ?? JourneyDestinations()
        destinations.journeyFailure = url.isEmpty ? nil : url
        journey.destinations = destinations
        return .transition(.outcome)
    }
}
