import SignetCore

/// A node that compares an attribute of the user with a value.
struct AttributeValueDecisionNode: Node {
    static let type = NodeType(
        "AttributeValueDecisionNode", "Attribute Value Decision",
        "Checks if the user has a value for an attribute, or with `EQUALS` this one. A list equals each of its elements."
    ) { decoder in
        let compares = decoder.choice("comparisonOperation", "PRESENT", ["PRESENT": false, "EQUALS": true]) ?? false
        let attribute = decoder.requiredString("comparisonAttribute", kind: "the name of an attribute")
        let value = decoder.optionalString("comparisonValue")
        if compares, value == nil, decoder.problems.isEmpty {
            decoder.report(
                .missingSetting, at: decoder.position, "`comparisonValue` is missing: `EQUALS` compares the attribute with it")
        }
        return Self(attribute: attribute, value: compares ? value : nil, identityAttribute: decoder.identityAttribute())
    }

    var attribute: String
    /// The value to compare with; nil to accept any.
    var value: String?
    var identityAttribute = UserAttributes.userName

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let user = try tx.directory.user(of: journey, by: identityAttribute)
        guard let found = try user.flatMap({ try tx.directory[$0]?.attribute(attribute) }) else {
            tx.explain("the user has no value for `\(attribute)`")
            return .transition(.isFalse)
        }
        guard let value else { return .transition(.isTrue) }
        let isEqual = (found.array ?? [found]).contains { ($0.string ?? JSON.text(of: $0)) == value }
        return .transition(isEqual ? .isTrue : .isFalse)
    }
}
