/// A node that sets the URL to which the client goes after a successful login.
struct SetSuccessURLNode: Node {
    static let type = NodeType(
        "SetSuccessUrlNode", "Success URL",
        "Sets the URL in `successUrl` of the answer, unless the request names one."
    ) { Self(url: $0.requiredString("successUrl", kind: "a URL")) }

    var url: String

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        var destinations = journey.destinations ?? JourneyDestinations()
        destinations.journeySuccess = url.isEmpty ? nil : url
        journey.destinations = destinations
        return .transition(.outcome)
    }
}
