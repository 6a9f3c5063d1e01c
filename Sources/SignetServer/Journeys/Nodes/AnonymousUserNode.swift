/// A node that continues the journey as the anonymous user.
struct AnonymousUserNode: Node {
    static let type = NodeType(
        "AnonymousUserNode", "Anonymous User Mapping",
        "Continues the journey as a user without a login. The user must exist in the realm: the file needs a user of this name."
    ) { Self(name: $0.string("anonymousUserName", Self().name)) }

    var name = "anonymous"

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        journey.username = name
        return .transition(.outcome)
    }
}
