import SignetCore

/// A node that lets the user choose.
///
/// Each choice is the name of an outcome.
struct ChoiceCollectorNode: Node {
    static let type = NodeType(
        "ChoiceCollectorNode", "Choice Collector", "Lets the user choose. Each choice is an outcome of the same name.",
        outcomes: "each of the `choices`"
    ) { decoder in
        let choices = decoder.optionalStrings("choices") ?? []
        if Set(choices).count != choices.count { decoder.report(.duplicate, in: "choices", "a choice is listed twice") }
        if choices.isEmpty, decoder.problems.isEmpty {
            decoder.report(
                .missingSetting, at: decoder.position, "`choices` is missing: it must be a list of strings, `[email, push]`")
        }
        let prompt = decoder.localizedText("prompt", "Choose")
        let defaultChoice = decoder.optionalString("defaultChoice", kind: "one of the choices", default: "the first")
        if let defaultChoice, !choices.contains(defaultChoice) {
            decoder.report(
                .unknownName, in: "defaultChoice",
                "there is no choice `\(defaultChoice.shortened)`" + choices.suggestion(for: defaultChoice))
        }
        return Self(
            prompt: prompt, choices: choices, defaultIndex: defaultChoice.flatMap { choices.firstIndex(of: $0) } ?? 0)
    }

    var prompt: LocalizedText
    var choices: [String]
    var defaultIndex = 0

    var outcomes: [NodeOutcome] { choices.map { NodeOutcome($0) } }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers, let index = answers.number(0), choices.indices.contains(index) else {
            let defaultChoice = JSONValue.integer(Int64(defaultIndex))
            return .prompt(
                Page(callbacks: [
                    .any(
                        "ChoiceCallback",
                        ["prompt": .string(tx.text(prompt)), "choices": .texts(choices), "defaultChoice": defaultChoice],
                        ["": defaultChoice])
                ]))
        }
        return .transition(NodeOutcome(choices[index]))
    }
}
