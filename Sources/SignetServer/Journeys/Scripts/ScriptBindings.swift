import Foundation
import HTTPTypes
import SignetCore

/// The objects of the server that a script sees, for one run.
final class ScriptBindings {
    /// The state of the journey, which the script can change.
    var journey: JourneyState
    /// The result that the script has chosen with `action`.
    private(set) var decision: ScriptDecision?
    /// The callbacks of `callbacksBuilder`.
    private(set) var built: [JourneyCallback] = []
    private let tx: ServerTransaction
    private let answers: Answers?
    /// The callbacks that the client has answered.
    private let sent: [JourneyCallback]
    private let session: SSOSession?
    /// The maps of the state that the script can change, by their names in the state.
    var views: [String: View] = [:]

    /// Creates the objects.
    /// - Parameters:
    ///   - journey: The state of the journey.
    ///   - answers: The client's answers; nil when the journey reaches the node.
    ///   - tx: The state of the server, which a script does not change.
    /// - Throws: The error of a row that cannot be read, or of the store.
    init(_ journey: JourneyState, _ answers: Answers?, _ tx: ServerTransaction) throws {
        (self.journey, self.answers, self.tx) = (journey, answers, tx)
        sent = answers.map { Array(journey.asked.dropFirst($0.offset).prefix($0.count)) } ?? []
        var reader = tx
        session = try journey.presentedToken.flatMap { try reader.session([$0.text], in: journey.realm)?.session }
    }

    // MARK: Names

    private static var hosts: [String: ScriptHost] {
        [
            "nodeState": .state(isShared: false), "sharedState": .state(isShared: true), "transientState": .state(isShared: true),
            "requestHeaders": .headers,
            "requestCookies": .cookies, "callbacks": .callbacks,
            "callbacksBuilder": .callbacksBuilder, "action": .action, "logger": .logger, "idRepository": .users,
        ]
    }
    private static let functions: Set = [
        "JavaImporter", "parseInt", "parseFloat", "isNaN", "String", "Number", "Boolean", "JSON", "Math", "Object", "Array",
        "Date", "RegExp", "encodeURIComponent", "decodeURIComponent",
    ]
    private static let packages: Set = ["org", "com", "javax", "java"]

    /// The names that a script can use without declaring them.
    static let globalNames: Set<String> = Set(hosts.keys).union(functions).union(packages).union([
        "outcome", "realm", "requestParameters", "existingSession", "NaN", "scriptName",
    ])

    /// Returns the value of a name.
    func global(_ name: String) -> ScriptValue {
        if let host = Self.hosts[name] { return .host(host) }
        if Self.functions.contains(name) { return .host(.global(name)) }
        if Self.packages.contains(name) { return .host(.java(name)) }
        switch name {
        case "realm": return .string(journey.realm.description)
        case "requestParameters": return ScriptValue(requestParameters, isMap: true)
        case "existingSession":
            guard let session else { return .undefined }
            let object = ScriptObject()
            object["UserToken"] = .string(session.user.name)
            for (name, value) in session.properties.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
            return .object(object)
        case "NaN": return .number(.nan)
        case "scriptName": return .string(journey.currentNode.nodeID)
        default: return .null
        }
    }

    // MARK: Members

    /// Returns a member of an object.
    func member(_ name: String, of host: ScriptHost, line: Int) throws(ScriptError) -> ScriptValue {
        switch host {
        case .java(let path):
            if let constant = ScriptConstants.value(name, of: path) { return .number(constant) }
            return .host(.java("\(path).\(name)"))
        case .importer(let classes):
            guard let path = classes[name] else { throw .unsupported("`\(name)`, which JavaImporter did not import", line: line) }
            return .host(.java(path))
        case .headers, .cookies, .state: return try method("get", of: host, [.string(name)], line: line)
        case .callbacks where name == "length": return .number(Double(sent.count))
        default: throw .unsupported("`.\(name)` of \(host.title)", line: line)
        }
    }

    /// Creates an object.
    func create(_ type: ScriptValue, _ arguments: [ScriptValue], line: Int) throws(ScriptError) -> ScriptValue {
        switch type {
        case .host(.java(let path)):
            let name = path.split(separator: ".").last.map(String.init) ?? path
            if let callback = ScriptCallbacks.callback(name, arguments) { return .host(.callback(callback)) }
            switch name {
            case "ArrayList", "HashSet", "LinkedList": return .list(ScriptList([]))
            case "HashMap", "LinkedHashMap": return .object(ScriptObject(isMap: true))
            default: throw .unsupported("`new \(path)()`", line: line)
            }
        case .host(.global("JavaImporter")): return try call(.global("JavaImporter"), arguments, line: line)
        case .host(.global("Date")) where arguments.isEmpty: return .host(.date(milliseconds))
        case .host(.global("RegExp")): return try pattern(arguments, line: line)
        case .host(.global("Object")): return .object(ScriptObject())
        case .host(.global("Array")) where arguments.isEmpty: return .list(ScriptList([]))
        default: throw .unsupported("`new` with this class", line: line)
        }
    }

    private var milliseconds: Double { (tx.now.timeIntervalSince1970 * 1000).rounded(.down) }

    /// Calls a function of JavaScript.
    func call(_ host: ScriptHost, _ arguments: [ScriptValue], line: Int) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        guard case .global(let name) = host else { throw .failed("a value that is not a function is called in line \(line)") }
        switch name {
        case "JavaImporter":
            var classes: [String: String] = [:]
            for case .host(.java(let path)) in arguments {
                if let name = path.split(separator: ".").last { classes[String(name)] = path }
            }
            return .host(.importer(classes))
        case "parseInt":
            let radix = arguments.count > 1 ? ScriptNumber.integer32(arguments[1].number) : 0
            return .number(ScriptNumber.integer(first.text, radix: Int(radix)))
        case "parseFloat": return .number(ScriptNumber.decimal(first.text))
        case "RegExp": return try pattern(arguments, line: line)
        case "encodeURIComponent": return try ScriptInterpreter.bounded(Self.encoded(first.text))
        case "decodeURIComponent":
            guard let text = first.text.removingPercentEncoding else { throw .failed("a text is not encoded in line \(line)") }
            return .string(text)
        case "isNaN": return .bool(first.number.isNaN)
        case "String": return .string(arguments.isEmpty ? "" : ScriptInterpreter.shownText(first))
        case "Number": return .number(arguments.isEmpty ? 0 : first.number)
        case "Boolean": return .bool(first.isTrue)
        default: throw .unsupported("`\(name)()`", line: line)
        }
    }

    /// Creates a regular expression from its text and flags, or from another one.
    private func pattern(_ arguments: [ScriptValue], line: Int) throws(ScriptError) -> ScriptValue {
        let flags = arguments.count > 1 && !arguments[1].isNothing ? arguments[1].text : nil
        if case .pattern(let other)? = arguments.first {
            return .pattern(
                ScriptRegExp(try ScriptPattern(other.pattern.source, flags: flags ?? other.pattern.flagText, line: line)))
        }
        return .pattern(ScriptRegExp(try ScriptPattern(arguments.first?.text ?? "(?:)", flags: flags ?? "", line: line)))
    }

    /// Returns a text with the percent-encoding of JavaScript, which encodes more than a URL requires and less than a form does.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let isKept = scalar.isWordCharacter || "-.!~*'()".unicodeScalars.contains(scalar)
            result += isKept ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }

    /// The query parameters, each with its values, in a map that a script can change for itself.
    private var requestParameters: JSONValue {
        .object((tx.request?.parameters ?? [:]).mapValues { .texts([$0]) })
    }

    /// The headers of the request for a script that shows them, without those that log a client in.
    private var shownHeaders: [String: JSONValue] {
        let hidden: Set = ["authorization", "cookie", "iplanetdirectorypro", "x-openam-username", "x-openam-password"]
        return (tx.request?.headers ?? [:]).reduce(into: [:]) { headers, field in
            guard !hidden.contains(field.name.canonicalName) else { return }
            headers[field.name.rawName] = .array((headers[field.name.rawName]?.array ?? []) + [.string(field.value)])
        }
    }

    /// True when a user has the name of the state.
    var isKnownUser: Bool {
        get throws(ScriptError) {
            guard let user = journey.user else { return false }
            do {
                return try tx.directory[user] != nil
            } catch {
                throw .failed("the user cannot be read")
            }
        }
    }

    // MARK: Methods

    /// Calls a method of an object.
    func method(
        _ name: String, of host: ScriptHost, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch host {
        case .state(let isShared): return try stateMethod(name, isShared: isShared, arguments, line: line)
        case .headers where name == "toString": return try ScriptInterpreter.bounded(JSON.text(of: .object(shownHeaders)))
        case .headers where name == "get": return list(tx.request?.values(first.text))
        case .cookies where name == "get": return ScriptValue(tx.request?.cookies[first.text].map { .string($0) })
        case .callbacks: return try callbacksMethod(name, first, line: line)
        case .answer(let index): return try answerMethod(name, index, line: line)
        case .callbacksBuilder:
            let type = name.prefix(1).uppercased() + name.dropFirst()
            guard let callback = ScriptCallbacks.callback(type, arguments) else {
                throw .unsupported("`callbacksBuilder.\(name)()`", line: line)
            }
            built.append(callback)
            return .undefined
        case .action: return try decisionMethod(name, ScriptDecision(), arguments, line: line)
        case .java(let path) where path.hasSuffix("Action"):
            return try decisionMethod(name, ScriptDecision(), arguments, line: line)
        case .decision(let decision): return try decisionMethod(name, decision, arguments, line: line)
        case .logger: return name.hasSuffix("Enabled") ? .bool(false) : .undefined
        case .users, .user: return try userMethod(name, host, arguments, line: line)
        case .iterator(let iterator):
            if name == "hasNext" { return .bool(iterator.hasNext) }
            guard name == "next", let next = iterator.next() else {
                throw .failed("a list has no further element in line \(line)")
            }
            return next
        case .date(let time) where name == "getTime": return .number(time)
        case .global(let owner): return try globalMethod("\(owner).\(name)", arguments, line: line)
        default: throw .unsupported("`\(name)()` of \(host.title)", line: line)
        }
    }

    private func list(_ values: [String]?) -> ScriptValue {
        values.flatMap { $0.isEmpty ? nil : ScriptValue(texts: $0) } ?? .null
    }

    private func globalMethod(_ name: String, _ arguments: [ScriptValue], line: Int) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch name {
        case "JSON.stringify": return .string(first.json.map { JSON.text(of: $0) } ?? "undefined")
        case "JSON.parse":
            guard let value = try? JSON.value(of: first.text.utf8) else { throw .failed("a text is not JSON in line \(line)") }
            return ScriptValue(value)
        case "Object.keys":
            guard case .object(let object) = first else { return .list(ScriptList([])) }
            return ScriptValue(texts: object.names)
        case "Array.isArray":
            guard case .list = first else { return .bool(false) }
            return .bool(true)
        case "Date.now": return .number(milliseconds)
        case "Math.floor": return .number(first.number.rounded(.down))
        case "Math.ceil": return .number(first.number.rounded(.up))
        case "Math.round": return .number(ScriptNumber.rounded(first.number))
        case "Math.trunc": return .number(first.number.rounded(.towardZero))
        case "Math.abs": return .number(first.number.magnitude)
        case "Math.max", "Math.min":
            let numbers = arguments.map(\.number)
            guard !numbers.contains(where: \.isNaN) else { return .number(.nan) }
            let result = name == "Math.max" ? numbers.max() ?? -.infinity : numbers.min() ?? .infinity
            return .number(result)
        case "Math.random": return .number(Double.random(in: 0..<1))
        case "String.valueOf": return .string(ScriptInterpreter.shownText(first))
        default: throw .unsupported("`\(name)()`", line: line)
        }
    }

    private func callbacksMethod(_ name: String, _ argument: ScriptValue, line: Int) throws(ScriptError) -> ScriptValue {
        switch name {
        case "isEmpty": return .bool(sent.isEmpty)
        case "size": return .number(Double(sent.count))
        case "get":
            guard let index = Int(exactly: argument.number), sent.indices.contains(index) else {
                throw .failed("there is no callback \(argument.text) in line \(line)")
            }
            return .host(.answer(index))
        default:
            // `getNameCallbacks` returns the answers of the callbacks of that type.
            guard name.hasPrefix("get"), name.hasSuffix("Callbacks"), let answers else {
                throw .unsupported("`callbacks.\(name)()`", line: line)
            }
            let type = name.dropFirst(3).dropLast()
            let indices = sent.indices.filter { sent[$0].type == type }
            return .list(ScriptList(indices.map { ScriptCallbacks.value(sent[$0], answers, at: $0) }))
        }
    }

    private func answerMethod(_ name: String, _ index: Int, line: Int) throws(ScriptError) -> ScriptValue {
        guard let answers else { return .null }
        switch name {
        case "getName", "getText", "getValue", "getPassword", "getData": return .string(answers.text(index))
        case "getSelectedIndexes": return .list(ScriptList([.number(Double(answers.number(index) ?? 0))]))
        case "getSelectedIndex": return .number(Double(answers.number(index) ?? 0))
        case "getPrompt": return ScriptValue(sent[index].output("prompt"))
        case "getMessage": return ScriptValue(sent[index].output("message"))
        case "getId": return ScriptValue(sent[index].output("id"))
        case "getChoices": return ScriptValue(sent[index].output("choices"))
        default: throw .unsupported("`\(name)()` of a callback", line: line)
        }
    }

    private func decisionMethod(
        _ name: String, _ decision: ScriptDecision, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch name {
        case "goTo":
            decision.outcome = first.text
            self.decision = decision
        case "send":
            for argument in arguments {
                if case .list(let list) = argument {
                    for case .host(.callback(let callback)) in list.elements { decision.callbacks.append(callback) }
                } else if case .host(.callback(let callback)) = argument {
                    decision.callbacks.append(callback)
                }
            }
            self.decision = decision
        case "build": break
        case "putSessionProperty":
            guard decision.sessionProperties.count < 100 else { throw .tooLarge }
            decision.sessionProperties[first.text] = arguments.count > 1 ? arguments[1].text : ""
        case "withHeader": decision.header = first.text
        case "withDescription": decision.description = first.text
        case "withStage": decision.stage = first.text
        case "withErrorMessage", "withLockoutMessage": break
        default: throw .unsupported("`\(name)()` of an action", line: line)
        }
        return .host(.decision(decision))
    }

    private func userMethod(
        _ name: String, _ host: ScriptHost, _ arguments: [ScriptValue], line: Int
    ) throws(ScriptError) -> ScriptValue {
        let first = arguments.first?.text ?? ""
        switch (host, name) {
        case (.users, "getIdentity"): return .host(.user(UserKey(realm: journey.realm, name: first)))
        case (.users, "getAttribute"):
            return try attribute(arguments.count > 1 ? arguments[1].text : "", of: UserKey(realm: journey.realm, name: first))
        case (.user(let user), "getAttributeValues"): return try attribute(first, of: user)
        case (.user(let user), "getName"): return .string(user.name)
        default: throw .unsupported("`\(name)()` of \(host.title)", line: line)
        }
    }

    private func attribute(_ name: String, of user: UserKey) throws(ScriptError) -> ScriptValue {
        let value: JSONValue?
        do {
            value = try tx.directory[user]?.attribute(name)
        } catch {
            throw .failed("the user cannot be read")
        }
        return .list(ScriptList((value.map { $0.array ?? [$0] } ?? []).map { ScriptValue($0) }))
    }
}

extension ScriptHost {
    /// The name of the object, for messages.
    fileprivate var title: String {
        switch self {
        case .state: "the state"
        case .headers: "requestHeaders"
        case .cookies: "requestCookies"
        case .callbacks: "callbacks"
        case .answer, .callback: "a callback"
        case .callbacksBuilder: "callbacksBuilder"
        case .action, .decision: "an action"
        case .logger: "logger"
        case .users: "idRepository"
        case .user: "an identity"
        case .global(let name): name
        case .java(let path): path
        case .importer: "JavaImporter"
        case .iterator: "an iterator"
        case .date: "a date"
        }
    }
}
