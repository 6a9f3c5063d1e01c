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
    static func information(_ message: String) -> JourneyCallback {
        JourneyCallback(type: "TextOutputCallback", output: [.text("message", message), .text("messageType", "0")])
    }

    static func hidden(id: String, value: String) -> JourneyCallback {
        JourneyCallback(type: "HiddenValueCallback", output: [.text("value", value), .text("id", id)], input: [.text("", id)])
    }

    static func wait(milliseconds: Int, message: String) -> JourneyCallback {
        JourneyCallback(
            type: "PollingWaitCallback", output: [.text("waitTime", String(milliseconds)), .text("message", message)])
    }

    /// One button; 100 means that nothing was pressed.
    static func confirmation(_ option: String) -> JourneyCallback {
        JourneyCallback(
            type: "ConfirmationCallback",
            output: [
                .text("prompt", ""), Field(name: "messageType", value: .integer(0)),
                Field(name: "options", value: .array([.string(option)])), Field(name: "optionType", value: .integer(-1)),
                Field(name: "defaultOption", value: .integer(0)),
            ], input: [Field(name: "", value: .integer(100))])
    }

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

/// What a client filled in: the callbacks as they were sent, with the client's values in place of the server's.
struct Answers: Sendable {
    private let inputs: [[JSONValue]]

    /// Takes the values by the names of the inputs, from wherever the client put them. What the client left out stays as it
    /// was sent: every SDK drops some callback or other (protocol/journey.md section 2.1).
    init(_ sent: [JourneyCallback], filledIn: JSONValue?) {
        let fields = (filledIn?.array ?? []).flatMap { $0["input"]?.array ?? [] }
        let values = Dictionary(
            fields.compactMap { field in field["name"]?.string.map { ($0, field["value"] ?? .null) } }, uniquingKeysWith: { $1 })
        inputs = sent.map { callback in (callback.input ?? []).map { values[$0.name] ?? $0.value } }
    }

    /// The text in the only input of the callback at `index`; a number is taken as its digits.
    func text(_ index: Int) -> String {
        guard inputs.indices.contains(index), let value = inputs[index].first else { return "" }
        return value.string ?? value.wholeNumber.map { String($0) } ?? ""
    }
}
