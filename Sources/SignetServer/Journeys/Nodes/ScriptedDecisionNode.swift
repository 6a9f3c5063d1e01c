import HTTPTypes
import SignetCore
import YAMLText

/// A node that decides by a table in place of AM's scripts, or by a script in a part of AM's language.
///
/// With a table, the outcome is that of the first row whose conditions all hold. The node can first show callbacks of any type,
/// including those that only another system could verify, such as a reCAPTCHA.
struct ScriptedDecisionNode: Node {
    static let type = NodeType(
        "ScriptedDecisionNode", "Scripted Decision",
        "Shows `callbacks`, if it has any, and decides by a `table`: the first row that matches has the outcome. With a `script` in place of them, it runs that part of AM's scripts that this page describes.",
        outcomes: "those of the `table`, and the `default`; with a `script` those that it names in `outcomes`",
        ignoring: ["inputs", "outputs"]
    ) { decoder in
        let callbacks = decoder.elements("callbacks", kind: "a list of callbacks").map { decoder.callback($0) }
        let attribute = decoder.optionalString("attribute", kind: "the attribute that stores the answers, except passwords")
        let table = decoder.elements("table", kind: "a list of rows").map { decoder.row($0) }
        var node = Self(
            callbacks: callbacks, attribute: attribute, table: table,
            defaultOutcome: NodeOutcome(decoder.string("default", "outcome")))
        guard let source = decoder.optionalString("script", kind: "a script, as text") else { return node }
        for name in ["callbacks", "attribute", "table", "default"] where decoder.isGiven(name) {
            decoder.report(.conflict, in: name, "`\(name)` has no effect with a `script`: remove one of them")
        }
        node.script = JourneyScript(source)
        _ = decoder.value("outcomes", kind: "targets by outcome, or on a page a list of outcomes")
        node.scriptOutcomes = decoder.outcomeNames.map { NodeOutcome($0) }
        return node
    }

    struct Row: Sendable {
        var conditions: [Condition]
        var outcome: NodeOutcome
    }

    struct Condition: Sendable {
        var input: Input
        /// The patterns of which one must match.
        ///
        /// Nil matches a value that is absent.
        var patterns: [String?]
    }

    /// The values that a condition can test.
    enum Input: Sendable, Hashable {
        case username, realm, journey, userAgent
        /// The collected attribute with this name.
        case collected(String)
        /// A claim or an attribute of the user.
        case user(String)
        /// An answer to the callbacks of this node: the first input with this name suffix, or the first input if the name is
        /// empty.
        case answer(String)
        /// The number of the user's devices of a kind.
        case devices(DeviceKind)
    }

    var callbacks: [JourneyCallback] = []
    /// The attribute in which the answers are stored, except hidden input; nil to not store them.
    var attribute: String?
    var table: [Row] = []
    /// The outcome when no row matches.
    var defaultOutcome = NodeOutcome.outcome
    /// The script that decides in place of the table; nil for none.
    var script: JourneyScript?
    /// The outcomes that the file has for the script.
    var scriptOutcomes: [NodeOutcome] = []

    var outcomes: [NodeOutcome] {
        guard script == nil else { return scriptOutcomes }
        return (table.map(\.outcome) + [defaultOutcome]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
    var repeatedOutcomes: [NodeOutcome] { callbacks.isEmpty && script == nil ? outcomes : [] }
    /// A script that cannot run ends the login, which is as final as a page.
    var interaction: Interaction {
        if let script { return script.asks || script.problem != nil ? .embeddable : .none }
        return callbacks.isEmpty ? .none : .embeddable
    }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        if let script { return try run(script, answers, &journey, tx) }
        if !callbacks.isEmpty, answers == nil { return .prompt(Page(callbacks: callbacks)) }
        if let attribute, let answers {
            // Hidden input, such as a password, can be compared but is not stored.
            let values = callbacks.indices.filter { !callbacks[$0].asksUnseen }.compactMap { answers.value($0) }
            if !values.isEmpty { journey.attributes[attribute] = .array(values) }
        }
        let row = try table.first { row in
            try row.conditions.allSatisfy { try $0.holds(for: value($0.input, answers, journey, tx)) }
        }
        return .transition(row?.outcome ?? defaultOutcome)
    }

    private func run(
        _ script: JourneyScript, _ answers: Answers?, _ journey: inout JourneyState, _ tx: ServerTransaction
    ) throws -> NodeResult {
        let (name, tree) = (journey.currentNode.nodeID, journey.currentNode.tree)
        switch try script.run(answers, &journey, tx) {
        case .page(let page): return .prompt(page)
        case .outcome(let text):
            let outcome = NodeOutcome(text)
            guard scriptOutcomes.contains(outcome) else {
                let reason = "the script chooses the outcome `\(text.shortened)`, which the node does not have"
                return .refuse(.scriptFailed(node: name, because: reason, tree: tree))
            }
            return .transition(outcome)
        case .failed(let reason): return .refuse(.scriptFailed(node: name, because: reason, tree: tree))
        }
    }

    private func value(_ input: Input, _ answers: Answers?, _ journey: JourneyState, _ tx: ServerTransaction) throws -> String? {
        switch input {
        case .username: journey.username
        case .realm: journey.realm.description
        case .journey: journey.tree
        case .userAgent: journey.userAgent
        case .collected(let name): journey.attributes[name]?.tableText
        case .user(let name): try journey.user.flatMap { try tx.directory[$0]?.attribute(name) }?.tableText
        case .devices(let kind): try journey.user.map { try String(tx.devices.count(kind, of: $0)) }
        case .answer(let suffix):
            callbacks.indices.lazy.compactMap { answers?.value($0, suffix)?.tableText }.first
        }
    }
}

extension APIError {
    /// Returns the error of a login that reaches a script that cannot run.
    /// - Parameters:
    ///   - node: The name of the node.
    ///   - reason: The part that the script uses and this server does not have, or another reason.
    ///   - tree: The name of the journey with the node.
    /// - Returns: An error with status 501. AM's clients show its message.
    fileprivate static func scriptFailed(node: String, because reason: String, tree: String) -> APIError {
        let message = "The script of node '\(node)' cannot run in signet serve: \(reason)."
        var error = APIError(.notImplemented, message, detail: ["failureUrl": .string("")])
        error.reason = "\(tree), node \(node): \(reason)"
        return error
    }
}

extension ScriptedDecisionNode.Input {
    /// The names of all inputs, for messages.
    static let names = [
        "username", "realm", "journey", "userAgent", "collected.NAME", "user.CLAIM", "answer", "answer.INPUT", "devices.KIND",
    ]

    init?(_ name: String) {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count == 2 ? parts[1] : nil) {
        case ("username", nil): self = .username
        case ("realm", nil): self = .realm
        case ("journey", nil): self = .journey
        case ("userAgent", nil): self = .userAgent
        case ("answer", nil): self = .answer("")
        case ("answer", let name?): self = .answer(name)
        case ("collected", let name?): self = .collected(name)
        case ("user", let name?): self = .user(name)
        case ("devices", let name?):
            guard let kind = DeviceKind(rawValue: name) else { return nil }
            self = .devices(kind)
        default: return nil
        }
    }
}

extension ScriptedDecisionNode.Condition {
    fileprivate func holds(for value: String?) -> Bool {
        patterns.contains { pattern in
            guard let pattern, let value else { return pattern == nil && value == nil }
            return value.matches(pattern[...])
        }
    }
}

extension String {
    /// Returns true when the text matches the pattern, in which `*` stands for any text.
    func matches(_ pattern: Substring) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return self == pattern }
        guard count >= first.count + last.count, hasPrefix(first), hasSuffix(last) else { return false }
        var rest = dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}

extension JSONValue {
    /// The value in the form that a table compares; nil for null.
    fileprivate var tableText: String? {
        switch self {
        case .null: nil
        case .string(let text): text
        default: JSON.text(of: self)
        }
    }
}

extension ConfigurationDecoder {
    /// Decodes a callback of any type: `type`, `output` by name, and `input` by the suffix that follows `IDToken1` in the name.
    fileprivate mutating func callback(_ value: MarkedValue) -> JourneyCallback {
        var part = ConfigurationDecoder(value, subject: subject.map { "\($0), callback" })
        let type = part.requiredString("type", kind: "the name of a callback, `ReCaptchaCallback`")
        let output = part.members("output", example: "{prompt: Nickname}") ?? []
        let input = part.members("input", example: "{\"\": none}")
        report(part.finished())
        return JourneyCallback(type: type, output: output.map(\.field), input: input?.map(\.field))
    }

    /// Decodes a row of a table: `when`, which contains values by input, and `outcome`.
    fileprivate mutating func row(_ value: MarkedValue) -> ScriptedDecisionNode.Row {
        var part = ConfigurationDecoder(value, subject: subject.map { "\($0), row" })
        let when = part.members("when", kind: "values by input", example: "{username: demo}") ?? []
        let conditions = when.compactMap { part.condition($0) }
        let outcome = part.requiredString("outcome", kind: "the name of an outcome")
        report(part.finished())
        return ScriptedDecisionNode.Row(conditions: conditions, outcome: NodeOutcome(outcome))
    }

    private mutating func condition(_ entry: MarkedValue.Entry) -> ScriptedDecisionNode.Condition? {
        guard let input = ScriptedDecisionNode.Input(entry.key) else {
            report(
                .unknownName, at: entry.position,
                "there is no input `\(entry.key.shortened)`" + ScriptedDecisionNode.Input.names.suggestion(for: entry.key))
            return nil
        }
        let values = entry.value.list ?? [entry.value]
        guard values.allSatisfy({ $0.list == nil && $0.mapping == nil }) else {
            report(.wrongType, at: entry.value.position, "`\(entry.key)` must be a string, or a list of strings")
            return nil
        }
        return ScriptedDecisionNode.Condition(input: input, patterns: values.map(\.text))
    }
}

extension MarkedValue.Entry {
    fileprivate var field: JourneyCallback.Field { JourneyCallback.Field(name: key, value: value.json) }
}
