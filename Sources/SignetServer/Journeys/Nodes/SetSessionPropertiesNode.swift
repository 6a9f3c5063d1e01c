import YAMLText

/// A node that sets properties and time limits of the session that the journey creates.
struct SetSessionPropertiesNode: Node {
    static let type = NodeType(
        "SetSessionPropertiesNode", "Set Session Properties",
        "Sets properties of the session that the journey creates, which `getSessionInfo` returns, and its time limits in minutes."
    ) { decoder in
        let properties = decoder.pairs("properties").map { ($0.key, $0.value.text ?? "") }
        let minutes = 1...1_000_000
        return Self(
            options: SessionOptions(
                properties: Dictionary(properties, uniquingKeysWith: { _, last in last }),
                idleTime: decoder.optionalInteger("maxIdleTime", in: minutes, default: "the server's").map { $0 * 60 },
                maximumTime: decoder.optionalInteger("maxSessionTime", in: minutes, default: "the server's").map { $0 * 60 }))
    }

    var options: SessionOptions

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.session.properties.merge(options.properties) { $1 }
        journey.session.idleTime = options.idleTime ?? journey.session.idleTime
        journey.session.maximumTime = options.maximumTime ?? journey.session.maximumTime
        return .transition(.outcome)
    }
}
