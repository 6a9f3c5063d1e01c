import SignetCore

/// A node that shows a message that the user accepts or declines.
struct MessageNode: Node {
    static let type = NodeType(
        "MessageNode", "Message", "Shows a message that the user accepts, `true`, or declines, `false`."
    ) { decoder in
        Self(
            message: decoder.localizedText("message", "Go on?"),
            messageType: decoder.choice("messageType", "INFORMATION", ["INFORMATION": 0, "WARNING": 1, "ERROR": 2]) ?? 0,
            yes: decoder.localizedText("messageYes", "Yes"), no: decoder.localizedText("messageNo", "No"),
            attribute: decoder.optionalString("stateField"))
    }

    var message: LocalizedText
    /// The message type: 0 for information, 1 for a warning, 2 for an error.
    var messageType = 0
    var yes: LocalizedText = "Yes"
    var no: LocalizedText = "No"
    /// The attribute in which the answer is stored, 0 for yes; nil to not store it.
    var attribute: String?

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        guard let answers, let pressed = answers.number(1), (0...1).contains(pressed) else {
            return .prompt(
                Page(callbacks: [
                    .text(tx.text(message), type: messageType),
                    .confirmation([tx.text(yes), tx.text(no)], default: 1, type: messageType),
                ]))
        }
        if let attribute { journey.attributes[attribute] = .integer(Int64(pressed)) }
        return .transition(pressed == 0 ? .isTrue : .isFalse)
    }
}
