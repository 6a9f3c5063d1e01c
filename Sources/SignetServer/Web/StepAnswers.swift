import SignetCore

/// Converts a submitted form into the callbacks that a client would send.
struct StepAnswers: Sendable {
    let step: JourneyStep
    /// The identifier of the browser in a device profile; nil when the step asks for no profile.
    let device: TokenHash?
    let userAgent: String?

    init(_ step: JourneyStep, device: TokenHash?, userAgent: String?) {
        self.step = step
        self.device = device
        self.userAgent = userAgent
    }

    /// Returns the callbacks with the values of the form.
    ///
    /// Only inputs of the step are used, and inputs that the form omits keep the values that the server sent.
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
            // Browsers do not send checkboxes that are not selected.
            return isPlain ? .bool(form.given(input.name) != nil) : nil
        case "DeviceProfileCallback": return isPlain ? .string(JSON.text(of: profile)) : nil
        default: return form.given(input.name).map { .string($0) }
        }
    }

    /// The device profile of the browser.
    ///
    /// It contains only data that the browser sends with every request.
    private var profile: JSONValue {
        var metadata: [String: JSONValue] = ["platform": .object(["deviceName": .string("Browser")])]
        metadata["browser"] = userAgent.map { .object(["userAgent": .string($0)]) }
        return .object(["identifier": .string(device?.text ?? ""), "metadata": .object(metadata)])
    }
}
