import SignetCore

/// A node that finds the user with the value of a collected attribute.
struct IdentifyExistingUserNode: Node {
    static let type = NodeType(
        "IdentifyExistingUserNode", "Identify Existing User",
        "Finds the user whose `identityAttribute` has the collected value, without regard to case: `true` when exactly one user has it. The journey continues with that user without a proof of identity: ask for a password, or send an email. At most 10,000 users are searched.",
        ignoring: ["identifier"]
    ) { Self(attribute: $0.string("identityAttribute", "mail")) }

    var attribute = "mail"

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let value = journey.value(attribute)?.string,
            let user = try tx.directory.user(with: attribute, value, in: journey.realm)
        else {
            tx.explain("no user has the collected value of `\(attribute)`, or several have it")
            return .transition(.isFalse)
        }
        journey.username = user.name
        return .transition(.isTrue)
    }
}
