import SignetCore

/// Reads what a browser filled in, and writes it as the callbacks that a client would send back.
struct StepAnswers: Sendable {
    let step: JourneyStep
    /// What the device is known by, where one has to say so.
    let browser: TokenHash
    let userAgent: String?

    init(_ step: JourneyStep, browser: TokenHash, userAgent: String?) {
        self.step = step
        self.browser = browser
        self.userAgent = userAgent
    }

    /// Only inputs that the step has are taken; those that the form leaves out stay as the server sent them.
    func callbacks(_ form: Parameters) -> JSONValue {
        .array(
            step.callbacks.compactMap { callback in
                guard let inputs = callback.input, !inputs.isEmpty else { return nil }
                let plain = callback.inputIndex("")
                let fields = inputs.enumerated().compactMap { index, input -> JSONValue? in
                    value(of: input, isPlain: index == plain, in: callback, form).map {
                        .object(["name": .string(input.name), "value": $0])
                    }
                }
                return .object(["type": .string(callback.type), "input": .array(fields)])
            })
    }

    private func value(
        of input: JourneyCallback.Field, isPlain: Bool, in callback: JourneyCallback, _ form: Parameters
    ) -> JSONValue? {
        if input.name.hasSuffix("validateOnly") { return .bool(false) }
        switch callback.type {
        case "BooleanAttributeInputCallback", "TermsAndConditionsCallback", "ConsentMappingCallback":
            // What is not ticked is not sent.
            return isPlain ? .bool(form.given(input.name) != nil) : nil
        case "DeviceProfileCallback": return isPlain ? .string(JSON.text(of: profile)) : nil
        default: return form.given(input.name).map { .string($0) }
        }
    }

    /// What a browser tells about itself without being asked.
    private var profile: JSONValue {
        var metadata: [String: JSONValue] = ["platform": .object(["deviceName": .string("Browser")])]
        metadata["browser"] = userAgent.map { .object(["userAgent": .string($0)]) }
        return .object(["identifier": .string(browser.text), "metadata": .object(metadata)])
    }
}
