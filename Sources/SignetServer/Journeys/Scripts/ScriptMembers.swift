import SignetCore

/// The members and methods of the values of a script.
extension ScriptInterpreter {
    /// Returns a member of a value.
    func member(_ name: String, of owner: ScriptValue, line: Int) throws(ScriptError) -> ScriptValue {
        switch owner {
        case .undefined, .null: throw .failed("`\(name)` of \(owner.text) is used in line \(line)")
        case .string(let text): return name == "length" ? .number(Double(text.count)) : .undefined
        case .list(let list):
            if name == "index", let index = list.index { return .number(Double(index)) }
            return name == "length" ? .number(Double(list.elements.count)) : .undefined
        case .object(let object):
            if let value = object[name] { return value }
            return object.isMap && Self.mapMethods.contains(name) ? .host(.global("Map.\(name)")) : .undefined
        case .pattern(let expression): return Self.member(name, of: expression)
        case .host(let host): return try bindings.member(name, of: host, line: line)
        case .bool, .number, .function: return .undefined
        }
    }

    /// The methods of a map that scripts look for before they call them.
    private static let mapMethods: Set = ["get", "put", "remove", "containsKey", "keySet", "isEmpty", "size"]

    private static func member(_ name: String, of expression: ScriptRegExp) -> ScriptValue {
        switch name {
        case "source": .string(expression.pattern.source)
        case "flags": .string(expression.pattern.flagText)
        case "global": .bool(expression.pattern.flags.isGlobal)
        case "ignoreCase": .bool(expression.pattern.flags.ignoresCase)
        case "multiline": .bool(expression.pattern.flags.isMultiline)
        case "lastIndex": .number(Double(expression.lastIndex))
        default: .undefined
        }
    }

    /// Returns an element of a list, a character of a text, or a member of an object.
    func element(_ key: ScriptValue, of owner: ScriptValue, line: Int) throws(ScriptError) -> ScriptValue {
        switch owner {
        case .list(let list):
            if case .string(let name) = key, Double(name) == nil { return try member(name, of: owner, line: line) }
            return Int(exactly: key.number).flatMap { list.elements.indices.contains($0) ? list.elements[$0] : nil } ?? .undefined
        case .string(let text):
            if case .string(let name) = key, Double(name) == nil { return try member(name, of: owner, line: line) }
            try charge(text.utf8.count)
            let characters = Array(text)
            return Int(exactly: key.number).flatMap { characters.indices.contains($0) ? .string(String(characters[$0])) : nil }
                ?? .undefined
        default: return try member(key.text, of: owner, line: line)
        }
    }

    /// Calls a method of a value.
    func method(
        _ name: String, of owner: ScriptValue, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch (owner, name) {
        case (.undefined, _), (.null, _): throw .failed("`\(name)()` of \(owner.text) is called in line \(line)")
        case (.host(let host), _): return try bindings.method(name, of: host, arguments, line: line)
        case (.number(let number), "toString") where !first.isNothing:
            guard let text = ScriptNumber.text(number, radix: first.number) else {
                throw .unsupported("`toString()` of a number with this base or a fraction", line: line)
            }
            return .string(text)
        case (.number(let number), "toFixed"):
            guard let text = ScriptNumber.text(number, places: first.isNothing ? 0 : first.number) else {
                throw .failed("`toFixed()` is called with such a number of places in line \(line)")
            }
            return .string(text)
        // The methods of AM's JSON values, on all values.
        case (_, "toString"), (_, "asString"): return .string(Self.shownText(owner))
        case (_, "asInteger"), (_, "asLong"), (_, "asDouble"), (_, "valueOf"), (_, "intValue"):
            return name == "valueOf" ? owner : .number(owner.number)
        case (_, "asBoolean"): return .bool(owner.isTrue)
        case (_, "asList"), (_, "asMap"), (_, "getObject"): return owner
        case (_, "isNull"): return .bool(owner.isNothing)
        case (_, "isNotNull"),
            (_, "isDefined") where arguments.isEmpty:
            return .bool(!owner.isNothing)
        case (_, "isString"): return .bool(owner.typeName == "string")
        case (_, "isNumber"): return .bool(owner.typeName == "number")
        case (_, "isBoolean"): return .bool(owner.typeName == "boolean")
        case (_, "equals"): return .bool(owner.isEqual(to: first))
        case (.pattern(let expression), _): return try method(name, of: expression, arguments, line: line)
        case (.string(let text), _):
            if case .pattern(let expression) = first {
                return try method(name, of: text, with: expression, arguments, line: line)
            }
            if name.hasPrefix("replace"), arguments.count > 1, case .function = arguments[1] {
                let pattern = ScriptPattern(literal: first.text, isGlobal: name == "replaceAll")
                return try method(name, of: text, with: ScriptRegExp(pattern), arguments, line: line)
            }
            return try method(name, of: text, arguments, line: line)
        case (.list(let list), _): return try method(name, of: list, arguments, line: line)
        case (.object(let object), _): return try method(name, of: object, arguments, line: line)
        default: throw .unsupported("`\(name)()` of a \(owner.typeName)", line: line)
        }
    }

    /// The text of a value as AM shows it: lists and objects as JSON.
    static func shownText(_ value: ScriptValue) -> String {
        switch value {
        case .list, .object: value.json.map { JSON.text(of: $0) } ?? value.text
        default: value.text
        }
    }

    private func method(
        _ name: String, of text: String, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first?.text ?? ""
        try charge(text.utf8.count + first.utf8.count)
        switch name {
        case "length", "size": return .number(Double(text.count))
        case "isEmpty": return .bool(text.isEmpty)
        case "toLowerCase": return .string(text.lowercased())
        case "toUpperCase": return .string(text.uppercased())
        case "trim": return .string(String(text.trimming(" \t\r\n")))
        case "equalsIgnoreCase": return .bool(text.lowercased() == first.lowercased())
        case "includes", "contains": return .bool(first.isEmpty || text.contains(first))
        case "startsWith": return .bool(text.hasPrefix(first))
        case "endsWith": return .bool(text.hasSuffix(first))
        case "indexOf":
            return .number(
                Double(text.firstRange(of: first).map { text.distance(from: text.startIndex, to: $0.lowerBound) } ?? -1))
        case "charAt": return try element(arguments.first ?? .number(0), of: .string(text), line: line)
        case "concat": return try Self.bounded(text + arguments.map(\.text).joined())
        case "split":
            guard !first.isEmpty else { return ScriptValue(texts: text.map { String($0) }) }
            return ScriptValue(texts: text.split(separator: first, omittingEmptySubsequences: false).map(String.init))
        case "replace", "replaceAll":
            let new = arguments.count > 1 ? arguments[1].text : "undefined"
            // Each character may be replaced, so the result is limited before it exists.
            let isLarge = name == "replaceAll" && (text.utf8.count + 1) * new.utf8.count > 16 * Self.maxTextSize
            guard !isLarge else { throw .tooLarge }
            return try Self.bounded(text.replacing(first, with: new, maxReplacements: name == "replace" ? 1 : .max))
        case "substring", "slice", "substr": return .string(Self.part(of: text, name, arguments))
        default: throw .unsupported("`\(name)()` of a text", line: line)
        }
    }

    private static func part(of text: String, _ name: String, _ arguments: [ScriptValue]) -> String {
        let count = text.count
        func bound(_ index: Int, default value: Int) -> Int {
            guard arguments.indices.contains(index), !arguments[index].isNothing else { return value }
            let number = arguments[index].number
            let whole = number.isNaN ? 0 : Int(max(-1e9, min(1e9, number)))
            return max(0, min(count, whole < 0 && name != "substring" ? count + whole : whole))
        }
        var (start, end) = (bound(0, default: 0), 0)
        if name == "substr" {
            let length = arguments.count > 1 ? Int(max(0, min(1e9, arguments[1].number.isNaN ? 0 : arguments[1].number))) : count
            end = min(count, start + length)
        } else {
            end = bound(1, default: count)
        }
        if name == "substring", start > end { swap(&start, &end) }
        return start < end ? String(text.dropFirst(start).prefix(end - start)) : ""
    }

    private func method(
        _ name: String, of list: ScriptList, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        try charge(list.elements.count)
        switch name {
        case "size": return .number(Double(list.elements.count))
        case "isEmpty": return .bool(list.elements.isEmpty)
        case "get":
            guard let index = Int(exactly: first.number), list.elements.indices.contains(index) else {
                throw .failed("a list has no element \(first.text) in line \(line)")
            }
            return list.elements[index]
        case "toArray": return .list(list)
        case "iterator": return .host(.iterator(ScriptIterator(list)))
        case "push", "add":
            guard list.elements.count + arguments.count <= Self.maxListSize else { throw .tooLarge }
            list.elements += arguments
            return name == "push" ? .number(Double(list.elements.count)) : .bool(true)
        case "includes", "contains": return .bool(list.elements.contains { $0.isEqual(to: first) })
        case "indexOf": return .number(Double(list.elements.firstIndex { $0.isIdentical(to: first) } ?? -1))
        case "join":
            let separator = arguments.isEmpty ? "," : first.text
            var text = ""
            for (index, element) in list.elements.enumerated() {
                text += (index == 0 ? "" : separator) + element.text
                guard text.utf8.count <= Self.maxTextSize else { throw .tooLarge }
            }
            return .string(text)
        case "concat":
            var elements = list.elements
            for argument in arguments {
                if case .list(let other) = argument { elements += other.elements } else { elements.append(argument) }
            }
            guard elements.count <= Self.maxListSize else { throw .tooLarge }
            return .list(ScriptList(elements))
        case "map", "filter", "forEach", "some", "every", "find":
            guard case .function(let closure) = first else { throw .failed("`\(name)` needs a function in line \(line)") }
            return try visit(list, name, closure)
        default: throw .unsupported("`\(name)()` of a list", line: line)
        }
    }

    private func visit(_ list: ScriptList, _ name: String, _ closure: ScriptClosure) throws(ScriptError) -> ScriptValue {
        var results: [ScriptValue] = []
        for (index, element) in list.elements.enumerated() {
            let result = try call(closure, [element, .number(Double(index))])
            switch name {
            case "map": results.append(result)
            case "filter": if result.isTrue { results.append(element) }
            case "some": if result.isTrue { return .bool(true) }
            case "every": if !result.isTrue { return .bool(false) }
            case "find": if result.isTrue { return element }
            default: break
            }
        }
        switch name {
        case "map", "filter": return .list(ScriptList(results))
        case "some", "every": return .bool(name == "every")
        default: return .undefined
        }
    }

    private func method(
        _ name: String, of object: ScriptObject, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let key = arguments.first?.text ?? ""
        switch name {
        case "get": return object[key] ?? .null
        case "put":
            guard object.names.count < Self.maxListSize else { throw .tooLarge }
            object[key] = arguments.count > 1 ? arguments[1] : .null
            return .null
        case "remove":
            defer { object[key] = nil }
            return object[key] ?? .null
        case "containsKey", "hasOwnProperty", "isDefined": return .bool(object[key] != nil)
        case "keySet", "keys": return ScriptValue(texts: object.names)
        case "isEmpty": return .bool(object.names.isEmpty)
        case "size": return .number(Double(object.names.count))
        default: throw .unsupported("`\(name)()` of an object", line: line)
        }
    }
}
