/// A node that checks if the request has a cookie.
struct CookiePresenceDecisionNode: Node {
    static let type = NodeType(
        "CookiePresenceDecisionNode", "Cookie Presence Decision", "Checks if the request has a cookie of this name."
    ) { Self(name: $0.requiredString("cookieName", kind: "the name of a cookie")) }

    var name: String

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        .transition(tx.request?.cookies[name] == nil ? .isFalse : .isTrue)
    }
}
