import SignetCore

/// A collector that asks for a string.
struct InputCollector: Collector {
    static let type = NodeType(
        "InputCollectorNode", "Input Collector",
        "Asks for a string and stores it as an attribute of the journey. In AM, a script shows this callback."
    ) { decoder in
        Self(
            attribute: decoder.string("attribute", "input"), prompt: decoder.localizedText("prompt", "Input"),
            defaultText: decoder.string("defaultText", ""))
    }

    var attribute: String
    var prompt: LocalizedText
    var defaultText = ""

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [.any("TextInputCallback", ["prompt": .string(tx.text(prompt)), "defaultText": .string(defaultText)], ["": .string("")])]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        journey.attributes[attribute] = .string(answers.text(0))
        return .accepted
    }
}
