import SignetCore

/// The user's inputs on the pages of a login, to be filled in again when a page comes back.
///
/// It has no passwords, codes and answers to security questions.
struct KeptInputs: Codable, Sendable, Hashable {
    /// The value of one input.
    struct Input: Codable, Sendable, Hashable {
        let name: String
        /// The prompt of the callback: another page can have an input of the same name.
        let prompt: String
        let value: String
    }

    /// The maximum number of inputs, and the maximum length of a value in characters.
    private static let (maxInputs, maxLength) = (16, 256)

    private var inputs: [Input] = []

    /// Keeps the inputs of a form.
    ///
    /// An input of the same name and prompt is replaced.
    /// - Parameters:
    ///   - form: The form.
    ///   - step: The step that the form answers.
    ///   - codes: The fields of the step that ask for a code.
    mutating func keep(_ form: Parameters, for step: JourneyStep, codes: CodeFields) {
        for (index, callback) in step.callbacks.enumerated() {
            guard codes[index] == nil, let name = callback.keptInput else { continue }
            let value = form.given(name) ?? ""
            inputs.removeAll { $0.name == name && $0.prompt == callback.promptText }
            guard !value.isEmpty, value.count <= Self.maxLength else { continue }
            inputs.append(Input(name: name, prompt: callback.promptText, value: value))
        }
        inputs = Array(inputs.suffix(Self.maxInputs))
    }

    /// True when nothing is kept.
    var isEmpty: Bool { inputs.isEmpty }

    /// Returns the kept value of a callback; nil when it has none.
    func value(of callback: JourneyCallback) -> String? {
        guard let name = callback.keptInput else { return nil }
        return inputs.first { $0.name == name && $0.prompt == callback.promptText }?.value
    }
}

extension JourneyCallback {
    /// The prompt, or another text that names what is asked for.
    fileprivate var promptText: String { output("prompt")?.string ?? output("name")?.string ?? type }

    /// The name of the input whose value is filled in again; nil when the callback has none, or its value is a secret.
    fileprivate var keptInput: String? {
        switch type {
        case "NameCallback" where promptText.asksForOneTimeCode: nil
        case "TextInputCallback" where asksUnseen: nil
        case "NameCallback", "TextInputCallback", "ChoiceCallback", "ValidatedCreateUsernameCallback",
            "StringAttributeInputCallback", "NumberAttributeInputCallback", "BooleanAttributeInputCallback",
            "TermsAndConditionsCallback", "ConsentMappingCallback":
            inputIndex("").flatMap { input?[$0].name }
        case "KbaCreateCallback": inputIndex("question").flatMap { input?[$0].name }
        default: nil
        }
    }
}
