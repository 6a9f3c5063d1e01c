/// A node that removes properties of the session that the journey creates.
struct RemoveSessionPropertiesNode: Node {
    static let type = NodeType(
        "RemoveSessionPropertiesNode", "Remove Session Properties",
        "Removes properties that Set Session Properties or a script has set in this journey."
    ) { Self(names: $0.optionalStrings("propertyNames") ?? []) }

    var names: [String] = []

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        for name in names { journey.session.properties[name] = nil }
        return .transition(.outcome)
    }
}
