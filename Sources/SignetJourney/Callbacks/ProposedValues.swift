package import SignetCore

extension JourneyStep {
    /// Returns the step with the server's proposals filled in as input values.
    ///
    /// A user interface shows these values. An input that the user doesn't change therefore sends the value that was shown, and a
    /// text that the user clears is sent empty (protocol/journey.md section 2.6).
    func proposing() -> JourneyStep {
        var step = self
        step.callbacks = callbacks.map { $0.proposing() }
        return step
    }
}

extension JourneyCallback {
    /// Returns the callback with the server's proposal filled in as its main input.
    package func proposing() -> JourneyCallback {
        var callback = self
        if let value = proposal { callback.set(value) }
        return callback
    }

    /// The initial value of the main input; nil when the input keeps the value that the server filled in.
    fileprivate var proposal: JSONValue? {
        switch type {
        // Servers fill in 0 while no choice is selected, even when they propose another choice.
        case ChoiceCallback.type: ChoiceCallback(self)?.defaultChoice.map { .integer(Int64($0)) }
        case TextInputCallback.type where isEmpty: optionalText("defaultText").map { .string($0) }
        case StringAttributeInputCallback.type where isEmpty: optionalText("value").map { .string($0) }
        case NumberAttributeInputCallback.type where isEmpty: output("value").flatMap { $0.double == nil ? nil : $0 }
        case BooleanAttributeInputCallback.type where isEmpty: .bool(bool("value"))
        default: nil
        }
    }

    /// True when the main input has no value.
    private var isEmpty: Bool {
        switch value() {
        case nil, .null?, .string("")?: true
        default: false
        }
    }
}
