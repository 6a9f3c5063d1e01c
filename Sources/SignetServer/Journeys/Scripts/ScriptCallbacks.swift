import SignetCore

/// The callbacks that a script can show.
enum ScriptCallbacks {
    /// The names of the classes.
    static let types: Set = [
        "NameCallback", "PasswordCallback", "TextInputCallback", "TextOutputCallback", "SuspendedTextOutputCallback",
        "ScriptTextOutputCallback", "ChoiceCallback", "ConfirmationCallback", "HiddenValueCallback", "MetadataCallback",
        "PollingWaitCallback",
    ]

    /// Creates a callback with the arguments of its class in Java.
    /// - Parameters:
    ///   - type: The name of the class, without its package.
    ///   - arguments: The arguments.
    /// - Returns: The callback; nil when this server does not have the class.
    static func callback(_ type: String, _ arguments: [ScriptValue]) -> JourneyCallback? {
        func text(_ index: Int) -> String { arguments.indices.contains(index) ? arguments[index].text : "" }
        func number(_ index: Int) -> Int { arguments.indices.contains(index) ? Int(exactly: arguments[index].number) ?? 0 : 0 }
        switch type {
        case "NameCallback": return .name(prompt: text(0))
        case "PasswordCallback": return .password(prompt: text(0))
        case "TextInputCallback":
            return .any(type, ["prompt": .string(text(0)), "defaultText": .string(text(1))], ["": .string("")])
        case "TextOutputCallback", "SuspendedTextOutputCallback": return .text(text(1), type: number(0), in: type)
        case "ScriptTextOutputCallback": return .text(text(0), type: 4)
        case "ChoiceCallback":
            return .any(
                type,
                [
                    "prompt": .string(text(0)), "choices": .texts(texts(arguments, 1)),
                    "defaultChoice": .integer(Int64(number(2))),
                ], ["": .integer(Int64(number(2)))])
        case "ConfirmationCallback": return confirmation(arguments)
        case "HiddenValueCallback": return .hidden(id: text(0), value: text(1))
        case "MetadataCallback": return .any(type, ["data": arguments.first?.json ?? .object([:])])
        case "PollingWaitCallback": return .wait(milliseconds: max(0, number(0)), message: text(1))
        default: return nil
        }
    }

    private static func texts(_ arguments: [ScriptValue], _ index: Int) -> [String] {
        guard arguments.indices.contains(index), case .list(let list) = arguments[index] else { return [] }
        return list.elements.map(\.text)
    }

    /// Creates a ConfirmationCallback from its arguments: a prompt that may be absent, the type of the message, a list of options or
    /// the number of a set of options, and the default.
    private static func confirmation(_ arguments: [ScriptValue]) -> JourneyCallback {
        var rest = arguments[...]
        if case .string? = rest.first { rest.removeFirst() }
        let type = rest.popFirst().flatMap { Int(exactly: $0.number) } ?? 0
        let options = rest.popFirst() ?? .number(0)
        let index = rest.last.flatMap { Int(exactly: $0.number) } ?? 0
        if case .list(let list) = options { return .confirmation(list.elements.map(\.text), default: index, type: type) }
        let sets: [Double: [String]] = [0: ["Yes", "No"], 1: ["Yes", "No", "Cancel"], 2: ["OK", "Cancel"]]
        return .confirmation(sets[options.number] ?? ["OK"], default: index, type: type)
    }

    /// Returns the value that AM's second script engine gives a script for an answered callback.
    static func value(_ callback: JourneyCallback, _ answers: Answers, at index: Int) -> ScriptValue {
        switch callback.type {
        case "ChoiceCallback": .list(ScriptList([.number(Double(answers.number(index) ?? 0))]))
        case "ConfirmationCallback": .number(Double(answers.number(index) ?? 0))
        default: .string(answers.text(index))
        }
    }
}
