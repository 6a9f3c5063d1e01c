import SignetCore

extension JourneyStep {
    /// The step with what the server proposes in the inputs, as a person is shown it: what is sent without having been touched is what
    /// was shown, and a text that was emptied is empty (protocol/journey.md section 2.6).
    func proposing() -> JourneyStep {
        var step = self
        for (index, callback) in callbacks.enumerated() {
            if let value = callback.proposal { step.callbacks[index].set(value) }
        }
        return step
    }
}

extension JourneyCallback {
    /// What goes into the plain input before anybody enters anything; nil for what the server has put there itself.
    fileprivate var proposal: JSONValue? {
        switch type {
        // Servers write 0 where nothing is chosen, whatever they propose.
        case ChoiceCallback.type: ChoiceCallback(self)?.defaultChoice.map { .integer(Int64($0)) }
        case TextInputCallback.type where isEmpty: optionalText("defaultText").map { .string($0) }
        case StringAttributeInputCallback.type where isEmpty: optionalText("value").map { .string($0) }
        case NumberAttributeInputCallback.type where isEmpty: output("value").flatMap { $0.double == nil ? nil : $0 }
        case BooleanAttributeInputCallback.type where isEmpty: .bool(truth("value"))
        default: nil
        }
    }

    /// Whether nothing is in the plain input.
    private var isEmpty: Bool {
        switch value() {
        case nil, .null?, .string("")?: true
        default: false
        }
    }
}
