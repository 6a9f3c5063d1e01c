import SignetCore

/// A node that checks if the user has an attribute.
struct AttributePresentDecisionNode: Node {
    static let type = NodeType(
        "AttributePresentDecisionNode", "Attribute Present Decision",
        "Checks if the user has a value for an attribute, or a password for `password`."
    ) { decoder in
        Self(attribute: decoder.string("presentAttribute", Self().attribute), identityAttribute: decoder.identityAttribute())
    }

    var attribute = "password"
    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let user = try tx.directory.user(of: journey, by: identityAttribute) else {
            tx.explain("there is no such user")
            return .transition(.isFalse)
        }
        let isPresent =
            try attribute == "password" ? tx.directory.hasPassword(user) : tx.directory[user]?.attribute(attribute) != nil
        tx.explain("the user has \(isPresent ? "a" : "no") value for `\(attribute)`")
        return .transition(isPresent ? .isTrue : .isFalse)
    }
}
