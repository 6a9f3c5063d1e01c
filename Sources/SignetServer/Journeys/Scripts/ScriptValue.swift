import SignetCore

/// A value of a running script.
///
/// Lists and objects are references, as in JavaScript. A value belongs to one run.
enum ScriptValue {
    case undefined
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case list(ScriptList)
    case object(ScriptObject)
    case function(ScriptClosure)
    case pattern(ScriptRegExp)
    /// An object of the server, such as `nodeState`.
    case host(ScriptHost)
}

/// A list of a running script.
final class ScriptList {
    var elements: [ScriptValue]
    /// The position of a match of a regular expression, when the list is one.
    var index: Int?

    init(_ elements: [ScriptValue]) { self.elements = elements }
}

/// An object of a running script, with its members in the order of their creation.
final class ScriptObject {
    private(set) var names: [String] = []
    private var members: [String: ScriptValue] = [:]
    /// True for a map of Java, whose methods are members too.
    let isMap: Bool

    init(isMap: Bool = false) { self.isMap = isMap }

    /// Replaces all members by those of another object.
    func replaceMembers(with other: ScriptObject) { (names, members) = (other.names, other.members) }

    subscript(name: String) -> ScriptValue? {
        get { members[name] }
        set {
            if newValue == nil { names.removeAll { $0 == name } } else if members[name] == nil { names.append(name) }
            members[name] = newValue
        }
    }
}

/// A function of a running script, with the variables that it sees.
final class ScriptClosure {
    let function: ScriptFunction
    let scope: ScriptScope

    init(_ function: ScriptFunction, _ scope: ScriptScope) { (self.function, self.scope) = (function, scope) }
}

/// The variables of a function call.
final class ScriptScope {
    private var values: [String: ScriptValue] = [:]
    private let outer: ScriptScope?

    init(outer: ScriptScope? = nil) { self.outer = outer }

    /// Returns a variable; nil when no function around declares it.
    func find(_ name: String) -> ScriptValue? { values[name] ?? outer?.find(name) }

    /// Declares a variable.
    func declare(_ name: String, _ value: ScriptValue) { values[name] = value }

    /// Removes all variables.
    func clear() { values = [:] }

    /// Changes a variable, which is global when no function around declares it.
    func assign(_ name: String, _ value: ScriptValue) {
        guard values[name] == nil, let outer else {
            values[name] = value
            return
        }
        outer.assign(name, value)
    }
}

extension ScriptValue {
    /// Creates a value from JSON.
    /// - Parameters:
    ///   - json: The JSON; nil for null.
    ///   - isMap: True when its objects are maps of Java.
    init(_ json: JSONValue?, isMap: Bool = false) {
        switch json {
        case nil, .null?: self = .null
        case .bool(let value)?: self = .bool(value)
        case .integer(let value)?: self = .number(Double(value))
        case .number(let value)?: self = .number(value)
        case .string(let value)?: self = .string(value)
        case .array(let values)?: self = .list(ScriptList(values.map { ScriptValue($0, isMap: isMap) }))
        case .object(let members)?:
            let object = ScriptObject(isMap: isMap)
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { object[name] = ScriptValue(value, isMap: isMap) }
            self = .object(object)
        }
    }

    /// Creates a list of texts.
    init(texts: [String]) { self = .list(ScriptList(texts.map { .string($0) })) }

    /// The value as JSON; nil for a function, an object of the server, a value that contains itself, and one of more than 1 MiB.
    var json: JSONValue? {
        var budget = 1024 * 1024
        return json(&budget, depth: 0)
    }

    /// Returns the value as JSON, and subtracts its size from the budget; nil when the budget is used up.
    private func json(_ budget: inout Int, depth: Int) -> JSONValue? {
        budget -= 16
        guard depth <= 32, budget > 0 else { return nil }
        switch self {
        case .undefined, .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let value): return Int64(exactly: value).map { .integer($0) } ?? .number(value)
        case .string(let value):
            budget -= value.utf8.count
            return .string(value)
        case .list(let list):
            var values: [JSONValue] = []
            for element in list.elements {
                guard let value = element.json(&budget, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .object(let object):
            var members: [String: JSONValue] = [:]
            for name in object.names {
                budget -= name.utf8.count
                guard let value = object[name]?.json(&budget, depth: depth + 1) else { return nil }
                members[name] = value
            }
            return .object(members)
        case .function, .pattern, .host: return nil
        }
    }

    /// True for `null` and `undefined`.
    var isNothing: Bool {
        switch self {
        case .undefined, .null: true
        default: false
        }
    }

    /// True when a condition holds for the value.
    var isTrue: Bool {
        switch self {
        case .undefined, .null: false
        case .bool(let value): value
        case .number(let value): value != 0 && !value.isNaN
        case .string(let text): !text.isEmpty
        case .list, .object, .function, .pattern, .host: true
        }
    }

    /// The value as a number; NaN when it has no number.
    var number: Double {
        switch self {
        case .null: 0
        case .bool(let value): value ? 1 : 0
        case .number(let value): value
        case .string(let text): text.trimming(" \t\n").isEmpty ? 0 : Double(text.trimming(" \t\n")) ?? .nan
        case .undefined, .list, .object, .function, .pattern, .host: .nan
        }
    }

    /// The value as a text.
    var text: String {
        switch self {
        case .undefined: "undefined"
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value):
            value.isNaN
                ? "NaN"
                : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let text): text
        case .list:
            listText
        case .pattern(let expression): "/\(expression.pattern.source)/\(expression.pattern.flagText)"
        case .object, .function, .host: "[object Object]"
        }
    }

    /// The elements of a list as texts with commas, to a limited length.
    private var listText: String {
        var text = ""
        append(to: &text, depth: 0)
        return text
    }

    private func append(to text: inout String, depth: Int) {
        guard case .list(let list) = self else {
            text += self.text
            return
        }
        guard depth < 8 else { return }
        for (index, element) in list.elements.enumerated() {
            guard text.utf8.count <= ScriptInterpreter.maxTextSize else { return }
            if index > 0 { text += "," }
            if !element.isNothing { element.append(to: &text, depth: depth + 1) }
        }
    }

    /// The name of the type that `typeof` returns.
    var typeName: String {
        switch self {
        case .undefined: "undefined"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .function: "function"
        case .null, .list, .object, .pattern, .host: "object"
        }
    }

    /// Compares two values as `===` does.
    func isIdentical(to other: ScriptValue) -> Bool {
        switch (self, other) {
        case (.undefined, .undefined), (.null, .null): true
        case (.bool(let one), .bool(let two)): one == two
        case (.number(let one), .number(let two)): one == two
        case (.string(let one), .string(let two)): one == two
        case (.list(let one), .list(let two)): one === two
        case (.object(let one), .object(let two)): one === two
        case (.function(let one), .function(let two)): one === two
        case (.pattern(let one), .pattern(let two)): one === two
        default: false
        }
    }

    /// Compares two values as `==` does.
    func isEqual(to other: ScriptValue) -> Bool {
        switch (self, other) {
        case (.undefined, .null), (.null, .undefined): true
        case (.undefined, _), (.null, _), (_, .undefined), (_, .null): isIdentical(to: other)
        case (.bool, .bool), (.number, .number), (.string, .string): isIdentical(to: other)
        case (.bool, .number), (.bool, .string), (.number, .bool), (.number, .string), (.string, .bool), (.string, .number):
            number == other.number
        case (.list, .string), (.string, .list): text == other.text
        default: isIdentical(to: other)
        }
    }
}
