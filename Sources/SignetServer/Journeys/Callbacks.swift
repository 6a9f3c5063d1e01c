import SignetCore

/// The callbacks that the nodes of this server use (protocol/journey.md section 2.6). ``numbered(_:)`` names their inputs.
extension JourneyCallback {
    static func name(prompt: String) -> JourneyCallback {
        JourneyCallback(type: "NameCallback", output: [.text("prompt", prompt)], input: [.text("", "")])
    }

    static func password(prompt: String) -> JourneyCallback {
        JourneyCallback(type: "PasswordCallback", output: [.text("prompt", prompt)], input: [.text("", "")])
    }

    /// Creates a text for information: message type `0`.
    static func information(_ message: String) -> JourneyCallback { .text(message, type: 0) }

    static func hidden(id: String, value: String) -> JourneyCallback {
        JourneyCallback(type: "HiddenValueCallback", output: [.text("value", value), .text("id", id)], input: [.text("", id)])
    }

    static func wait(milliseconds: Int, message: String) -> JourneyCallback {
        JourneyCallback(
            type: "PollingWaitCallback", output: [.text("waitTime", String(milliseconds)), .text("message", message)])
    }

    /// Creates a callback with one button.
    ///
    /// The input 100 means that the user did not press it.
    static func confirmation(_ option: String) -> JourneyCallback { .confirmation([option], default: 0) }

    /// Returns the callbacks numbered from 0, with their inputs named after the position of the callback in the step.
    static func numbered(_ callbacks: [JourneyCallback]) -> [JourneyCallback] {
        callbacks.enumerated().map { index, callback in
            var callback = callback
            callback._id = index
            callback.input = callback.input?.map { Field(name: "IDToken\(index + 1)\($0.name)", value: $0.value) }
            return callback
        }
    }

    /// Returns callbacks of a step as the node has made them, so that they can be shown again.
    /// - Parameters:
    ///   - numbered: The numbered callbacks of the step.
    ///   - offset: The index of the first callback to return.
    ///   - count: The maximum number of callbacks to return.
    /// - Returns: The callbacks, whose inputs have the names without the position in the step.
    static func unnumbered(_ numbered: [JourneyCallback], from offset: Int, count: Int) -> [JourneyCallback] {
        numbered.enumerated().dropFirst(offset).prefix(count).map { index, callback in
            var callback = callback
            let prefix = "IDToken\(index + 1)"
            callback.input = callback.input?.map { field in
                Field(name: String(field.name.trimmingPrefix(prefix)), value: field.value)
            }
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
    /// Creates a callback of any type.
    /// - Parameters:
    ///   - type: The type of the callback.
    ///   - output: The outputs.
    ///   - input: The inputs. The name of each is the suffix that follows `IDToken1`; for most inputs it is empty.
    /// - Returns: The callback with its outputs and inputs in the given order.
    static func any(
        _ type: String, _ output: KeyValuePairs<String, JSONValue>, _ input: KeyValuePairs<String, JSONValue>? = nil
    ) -> JourneyCallback {
        JourneyCallback(
            type: type, output: output.map { Field(name: $0.key, value: $0.value) },
            input: input.map { $0.map { Field(name: $0.key, value: $0.value) } })
    }

    /// Creates a text to show.
    ///
    /// The message type is `0` for information, `1` for a warning, `2` for an error and `4` for a browser script.
    static func text(_ message: String, type: Int, in callback: String = "TextOutputCallback") -> JourneyCallback {
        .any(callback, ["message": .string(message), "messageType": .string(String(type))])
    }

    /// Creates a callback with several buttons.
    ///
    /// The input 100 means that the user did not press any of them.
    static func confirmation(_ options: [String], default index: Int, type: Int = 0) -> JourneyCallback {
        .any(
            "ConfirmationCallback",
            [
                "prompt": .string(""), "messageType": .integer(Int64(type)), "options": .texts(options),
                "optionType": .integer(-1), "defaultOption": .integer(Int64(index)),
            ], ["": .integer(100)])
    }
}

extension JourneyCallback {
    /// True when the user's input is hidden because it is a secret.
    var asksUnseen: Bool {
        ["PasswordCallback", "ValidatedCreatePasswordCallback"].contains(type) || output("echoOn") == .bool(false)
    }

    /// Returns the callback with the user's answer as its default, so that it can be shown again.
    ///
    /// It keeps choices and visible text. It does not keep hidden input, one-time codes or buttons, because a kept button would
    /// remain pressed.
    /// - Parameters:
    ///   - answers: The answers.
    ///   - index: The position of the callback among the answers.
    /// - Returns: A changed copy, or the callback itself when it keeps nothing.
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

    /// Returns the callback with a value as its answer.
    /// - Parameters:
    ///   - value: The answer.
    ///   - name: The output that contains the default answer.
    /// - Returns: A copy with the value in its input and in the named output.
    private func keeping(_ value: JSONValue, in name: String) -> JourneyCallback {
        var callback = self
        callback.answer(value)
        callback.output = output.map { $0.name == name ? Field(name: name, value: value) : $0 }
        return callback
    }
}

extension JSONValue {
    /// Creates an array of strings.
    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

/// The inputs of a step: the callbacks as the server sent them, with the client's values.
struct Answers: Sendable {
    private let inputs: [[JourneyCallback.Field]]
    /// The index of the first callback in the step.
    private(set) var offset = 0

    /// Reads the client's values by the names of the inputs, in whichever callback the client put them.
    ///
    /// An input that the client left out keeps the value that the server sent, because every SDK omits some callbacks
    /// (protocol/journey.md section 2.1).
    /// - Parameters:
    ///   - sent: The callbacks that the server sent.
    ///   - filledIn: The callbacks that the client returned.
    init(_ sent: [JourneyCallback], filledIn: JSONValue?) {
        let fields = (filledIn?.array ?? []).flatMap { $0["input"]?.array ?? [] }
        let values = Self.values(fields)
        inputs = sent.map { callback in
            (callback.input ?? []).map { JourneyCallback.Field(name: $0.name, value: values[$0.name] ?? $0.value) }
        }
    }

    /// Reads the client's values out of the callbacks that it returned.
    ///
    /// The only input of a callback may have any name, as in AM. Other inputs are found by their names, and an input that the
    /// client left out keeps the value that the server sent.
    /// - Parameters:
    ///   - sent: The callbacks that the server sent.
    ///   - returned: The callbacks that the client returned.
    init(_ sent: [JourneyCallback], _ returned: ReturnedCallbacks) {
        inputs = zip(sent, returned.callbacks).map { callback, returned in
            let (asked, fields) = (callback.input ?? [], returned?["input"]?.array ?? [])
            var values = Self.values(fields)
            if asked.count == 1, fields.count == 1 { values = [asked[0].name: fields[0]["value"] ?? .null] }
            return asked.map { JourneyCallback.Field(name: $0.name, value: values[$0.name] ?? $0.value) }
        }
    }

    /// Returns the values of input fields by name; the last one counts.
    private static func values(_ fields: [JSONValue]) -> [String: JSONValue] {
        let named = fields.compactMap { field in field["name"]?.string.map { ($0, field["value"] ?? .null) } }
        return Dictionary(named, uniquingKeysWith: { $1 })
    }

    private init(inputs: ArraySlice<[JourneyCallback.Field]>, offset: Int) {
        self.inputs = Array(inputs)
        self.offset = offset
    }

    /// True when the step has no callbacks.
    var isEmpty: Bool { inputs.isEmpty }
    /// The number of callbacks.
    var count: Int { inputs.count }

    /// Returns the answers to a range of callbacks.
    /// - Parameters:
    ///   - offset: The index of the first callback.
    ///   - count: The maximum number of callbacks; by default all that follow.
    /// - Returns: At most `count` answers; empty when `offset` is behind the last callback.
    func part(from offset: Int, count: Int = .max) -> Answers {
        Answers(inputs: inputs.dropFirst(offset).prefix(count), offset: self.offset + offset)
    }

    /// Returns the answers to each of the nodes of a page, and at the end those to the callbacks that follow.
    /// - Parameter counts: The numbers of callbacks of the nodes.
    /// - Returns: The answers by node, and then the others.
    func parts(counts: [Int]) -> [Answers] {
        var offset = 0
        var parts = counts.map { count in
            defer { offset += count }
            return part(from: offset, count: count)
        }
        parts.append(part(from: offset))
        return parts
    }

    /// Returns an input of the callback at `index`: the first one, or with a `suffix` the input whose name ends in it.
    func value(_ index: Int, _ suffix: String = "") -> JSONValue? {
        guard inputs.indices.contains(index) else { return nil }
        guard !suffix.isEmpty else { return inputs[index].first?.value }
        return inputs[index].first { $0.name.hasSuffix(suffix) }?.value
    }

    /// Returns the text of an input.
    ///
    /// An integer is converted to its decimal digits.
    func text(_ index: Int, _ suffix: String = "") -> String {
        guard let value = value(index, suffix) else { return "" }
        return value.string ?? value.lenientInteger.map { String($0) } ?? ""
    }

    /// Returns the integer in an input.
    ///
    /// It also accepts a number in a string, which one SDK sends.
    func number(_ index: Int) -> Int? { value(index)?.lenientInteger.flatMap { Int(exactly: $0) } }

    /// Returns the Boolean value of an input.
    ///
    /// It also accepts `true` in a string.
    func bool(_ index: Int, _ suffix: String = "") -> Bool {
        let value = value(index, suffix)
        return value?.bool ?? (value?.string?.lowercased() == "true")
    }
}
