import SignetCore

/// The callbacks that this server's nodes use (protocol/journey.md section 2.6). Inputs get their names in ``numbered(_:)``.
extension JourneyCallback {
    static func name(prompt: String) -> JourneyCallback {
        JourneyCallback(type: "NameCallback", output: [.text("prompt", prompt)], input: [.text("", "")])
    }

    static func password(prompt: String) -> JourneyCallback {
        JourneyCallback(type: "PasswordCallback", output: [.text("prompt", prompt)], input: [.text("", "")])
    }

    /// An informative text: message type `0`.
    static func information(_ message: String) -> JourneyCallback { .text(message, type: 0) }

    static func hidden(id: String, value: String) -> JourneyCallback {
        JourneyCallback(type: "HiddenValueCallback", output: [.text("value", value), .text("id", id)], input: [.text("", id)])
    }

    static func wait(milliseconds: Int, message: String) -> JourneyCallback {
        JourneyCallback(
            type: "PollingWaitCallback", output: [.text("waitTime", String(milliseconds)), .text("message", message)])
    }

    /// One button; 100 means that nothing was pressed.
    static func confirmation(_ option: String) -> JourneyCallback { .confirmation([option], default: 0) }

    /// Names the inputs after the position among all callbacks of the step, and numbers the callbacks from 0.
    static func numbered(_ callbacks: [JourneyCallback]) -> [JourneyCallback] {
        callbacks.enumerated().map { index, callback in
            var callback = callback
            callback._id = index
            callback.input = callback.input?.map { Field(name: "IDToken\(index + 1)\($0.name)", value: $0.value) }
            return callback
        }
    }
}

extension JourneyCallback.Field {
    fileprivate static func text(_ name: String, _ value: String) -> JourneyCallback.Field {
        JourneyCallback.Field(name: name, value: .string(value))
    }
}

extension JourneyCallback {
    /// A callback of any type. Inputs are named by what follows the `IDToken1` of their name: nothing, for most.
    static func any(
        _ type: String, _ output: KeyValuePairs<String, JSONValue>, _ input: KeyValuePairs<String, JSONValue>? = nil
    ) -> JourneyCallback {
        JourneyCallback(
            type: type, output: output.map { Field(name: $0.key, value: $0.value) },
            input: input.map { $0.map { Field(name: $0.key, value: $0.value) } })
    }

    /// A text to show: `0` informs, `1` warns, `2` tells of an error, and `4` is a script for browsers.
    static func text(_ message: String, type: Int, in callback: String = "TextOutputCallback") -> JourneyCallback {
        .any(callback, ["message": .string(message), "messageType": .string(String(type))])
    }

    /// Several buttons; 100 means that nothing was pressed.
    static func confirmation(_ options: [String], default standard: Int, type: Int = 0) -> JourneyCallback {
        .any(
            "ConfirmationCallback",
            [
                "prompt": .string(""), "messageType": .integer(Int64(type)), "options": .texts(options),
                "optionType": .integer(-1), "defaultOption": .integer(Int64(standard)),
            ], ["": .integer(100)])
    }
}

extension JourneyCallback {
    /// Whether what is typed is a secret.
    var asksUnseen: Bool {
        ["PasswordCallback", "ValidatedCreatePasswordCallback"].contains(type) || output("echoOn") == .bool(false)
    }

    /// The callback with what was chosen or written at `index` of the answers, to be shown again. What is good for one time is not
    /// kept: what was typed unseen, codes, and buttons, which would stay pressed.
    func keeping(_ answers: Answers, at index: Int) -> JourneyCallback {
        let text = answers.text(index)
        switch type {
        case "ChoiceCallback":
            guard let number = answers.number(index), output("choices")?.array?.indices.contains(number) == true else {
                return self
            }
            return keeping(.integer(Int64(number)), in: "defaultChoice")
        case "TextInputCallback" where !asksUnseen && !text.isEmpty: return keeping(.string(text), in: "defaultText")
        default: return self
        }
    }

    /// - Parameter name: the output that is the answer as long as nobody gives another.
    private func keeping(_ value: JSONValue, in name: String) -> JourneyCallback {
        var callback = self
        callback.answer(value)
        callback.output = output.map { $0.name == name ? Field(name: name, value: value) : $0 }
        return callback
    }
}

extension JSONValue {
    /// An array of strings.
    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

/// What a client filled in: the callbacks as they were sent, with the client's values in place of the server's.
struct Answers: Sendable {
    private let inputs: [[JourneyCallback.Field]]

    /// Takes the values by the names of the inputs, from wherever the client put them. What the client left out stays as it
    /// was sent: every SDK drops some callback or other (protocol/journey.md section 2.1).
    init(_ sent: [JourneyCallback], filledIn: JSONValue?) {
        let fields = (filledIn?.array ?? []).flatMap { $0["input"]?.array ?? [] }
        let values = Dictionary(
            fields.compactMap { field in field["name"]?.string.map { ($0, field["value"] ?? .null) } }, uniquingKeysWith: { $1 })
        inputs = sent.map { callback in
            (callback.input ?? []).map { JourneyCallback.Field(name: $0.name, value: values[$0.name] ?? $0.value) }
        }
    }

    private init(inputs: ArraySlice<[JourneyCallback.Field]>) {
        self.inputs = Array(inputs)
    }

    /// Whether there was nothing to answer.
    var isEmpty: Bool { inputs.isEmpty }

    /// The answers to the callbacks from the one at `offset` on, `count` of them or all.
    func part(from offset: Int, count: Int = .max) -> Answers {
        Answers(inputs: inputs.dropFirst(offset).prefix(count))
    }

    /// An input of the callback at `index`: the first one, or that whose name ends in `suffix`.
    func value(_ index: Int, _ suffix: String = "") -> JSONValue? {
        guard inputs.indices.contains(index) else { return nil }
        guard !suffix.isEmpty else { return inputs[index].first?.value }
        return inputs[index].first { $0.name.hasSuffix(suffix) }?.value
    }

    /// The text in an input; a number is taken as its digits.
    func text(_ index: Int, _ suffix: String = "") -> String {
        guard let value = value(index, suffix) else { return "" }
        return value.string ?? value.wholeNumber.map { String($0) } ?? ""
    }

    /// The whole number in an input, also when it is spelled as text, as one SDK does.
    func number(_ index: Int) -> Int? { value(index)?.wholeNumber.flatMap { Int(exactly: $0) } }

    /// The truth value in an input, also when it is spelled as text.
    func truth(_ index: Int, _ suffix: String = "") -> Bool {
        let value = value(index, suffix)
        return value?.bool ?? (value?.string?.lowercased() == "true")
    }
}
