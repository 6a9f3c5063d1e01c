import SignetCore
import YAMLText

/// Converts nodes of AM to nodes of the configuration file.
///
/// The types and settings of the file have the names of AM. So a node keeps the settings that its type reads without a problem;
/// what the type does not know, or cannot use, is left out and reported. A node that has no type here, or that misses a
/// setting, becomes a ``StubNode``.
struct NodeConverter {
    /// The behavior of nodes that cannot run.
    let stubs: JourneyImport.Stubs
    let scripts: [String: ExportedScript]
    /// The name of the journey, for findings.
    let journey: String
    private let context = NodeContext()
    private(set) var findings: [ImportFinding] = []

    init(stubs: JourneyImport.Stubs, scripts: [String: ExportedScript], journey: String) {
        self.stubs = stubs
        self.scripts = scripts
        self.journey = journey
    }

    /// Returns a node of a journey.
    /// - Parameters:
    ///   - node: The node in the export.
    ///   - name: The name that it gets.
    ///   - line: The position in messages.
    ///   - targets: The targets of its outcomes.
    /// - Returns: The node, or its stub.
    mutating func convert(
        _ node: ExportedNode, as name: String, line: Int, targets: [String: String]
    ) -> ImportedNode {
        switch bare(node, as: name, line: line, targets: targets) {
        case .success((var converted, let behavior)):
            converted.outcomes = outcomes(of: behavior, targets, of: node, name)
            return converted
        case .failure(let failure):
            return stub(node, as: name, line: line, targets: targets, because: failure.reason)
        }
    }

    /// The reason why a node becomes a stub.
    private struct Unsupported: Error { let reason: String }

    private typealias Conversion = Result<(ImportedNode, any Node), Unsupported>

    /// Returns a node with all outcomes of the export, and its behavior.
    private mutating func bare(
        _ node: ExportedNode, as name: String, line: Int, targets: [String: String] = [:], isOnPage: Bool = false
    ) -> Conversion {
        guard let type = NodeType.all.first(where: { $0.name == node.type }), type.name != StubNode.type.name else {
            let isCustom = node.type.hasPrefix("designer-")
            return .failure(Unsupported(reason: isCustom ? "it is a custom node" : "this server has no node of this type"))
        }
        guard let settings = node.settings else {
            return .failure(Unsupported(reason: "the export does not have the settings of the node"))
        }
        var converted = ImportedNode(
            name: name, type: type.name, settings: [], outcomes: targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            line: line)
        switch type.name {
        case PageNode.type.name:
            switch page(node, as: name, line: line) {
            case .success(let parts): converted.settings = parts
            case .failure(let failure): return .failure(failure)
            }
        case ScriptedDecisionNode.type.name where !Self.hasTable(settings):
            switch scripted(settings) {
            case .success(let parts): converted.settings = parts
            case .failure(let failure): return .failure(failure)
            }
            // On a page, the outcomes have no targets of their own.
            if isOnPage, let outcomes = settings["outcomes"] {
                converted.settings.append(ImportedNode.Setting(name: "outcomes", value: MarkedValue(outcomes, at: .start)))
            }
        default: break
        }
        let generated = Set(converted.settings.map(\.name))
        if type.name != ScriptedDecisionNode.type.name || Self.hasTable(settings) {
            let used = generated.union(Self.reserved)
            for (name, value) in settings.sorted(by: { $0.key < $1.key }) where !used.contains(name) && !value.isEmpty {
                converted.settings.append(ImportedNode.Setting(name: name, value: MarkedValue(value, at: .start)))
            }
        }
        return usable(converted, type, generated, of: node)
    }

    /// The settings of several types of AM that choose between the objects of identity management, of which there are only
    /// users here.
    private static let ignoredSettings: Set<String> = [
        "identityAttribute", "identityResource", "usernameAttribute", "passwordAttribute",
    ]

    /// The names that have another meaning in the configuration file.
    private static let reserved: Set<String> = ["type", "outcomes"]

    // MARK: Settings

    /// Returns a node with the settings that its type accepts.
    /// - Parameters:
    ///   - node: The node with all settings of the export.
    ///   - type: The type of the node.
    ///   - generated: The names of settings that the import has made, so that they must not be left out.
    ///   - source: The node in the export.
    /// - Returns: The node with its behavior, or the reason why it cannot run.
    private mutating func usable(
        _ node: ImportedNode, _ type: NodeType, _ generated: Set<String>, of source: ExportedNode
    ) -> Conversion {
        var node = node
        let known = decoded(node, type).decoder.settings.map(\.name)
        guard generated.allSatisfy(known.contains) else {
            return .failure(Unsupported(reason: "this server does not run what it contains"))
        }
        dropUnknown(&node, known, type, of: source)
        // Each pass repairs or removes one setting.
        for _ in 0...(2 * node.settings.count) {
            let (behavior, decoder) = decoded(node, type)
            guard let problem = decoder.problems.first else {
                guard let reason = (behavior as? ScriptedDecisionNode)?.script?.problem?.explanation else {
                    return .success((node, behavior))
                }
                return .failure(Unsupported(reason: reason))
            }
            guard let index = node.setting(at: problem.position), !generated.contains(node.settings[index].name) else {
                return .failure(Unsupported(reason: problem.message))
            }
            repair(&node, index, problem, of: source)
        }
        return .failure(Unsupported(reason: "its settings cannot be read"))
    }

    private func decoded(_ node: ImportedNode, _ type: NodeType) -> (behavior: any Node, decoder: ConfigurationDecoder) {
        var decoder = ConfigurationDecoder(node.entry.value, subject: nil)
        _ = decoder.value("outcomes", kind: "targets by outcome")
        _ = decoder.requiredValue("type", kind: "the name of a node type")
        let behavior = type.decode(&decoder, context)
        return (behavior, decoder)
    }

    private mutating func dropUnknown(
        _ node: inout ImportedNode, _ known: [String], _ type: NodeType, of source: ExportedNode
    ) {
        for setting in node.settings where !known.contains(setting.name) {
            // A Device Match with a script decides by its settings here.
            if setting.name == "useScript", setting.value.bool == true {
                report(
                    .warning, source, node.name, setting.name,
                    "the script of the node does not run, and the other settings decide")
                continue
            }
            if type.ignoredSettings.contains(setting.name) || Self.ignoredSettings.contains(setting.name) { continue }
            report(.note, source, node.name, setting.name, "the setting has no effect here")
        }
        node.settings.removeAll { !known.contains($0.name) }
    }

    /// Changes a setting with a problem so that it can be used, or else removes it.
    private mutating func repair(
        _ node: inout ImportedNode, _ index: Int, _ problem: ConfigurationProblem, of source: ExportedNode
    ) {
        let setting = node.settings[index]
        if let unquoted = setting.value.unquoted {
            node.settings[index].value = unquoted
            return
        }
        node.settings.remove(at: index)
        report(
            .warning, source, node.name, setting.name,
            "left out, so the default is used: \(problem.message.withoutSecret(of: setting.name))")
    }

    // MARK: Pages

    private mutating func page(
        _ node: ExportedNode, as name: String, line: Int
    ) -> Result<[ImportedNode.Setting], Unsupported> {
        var parts: [MarkedValue] = []
        for child in node.children {
            switch bare(child, as: name, line: line, isOnPage: true) {
            case .success(let (converted, _)): parts.append(converted.part)
            case .failure(let failure):
                let title = child.displayName.isEmpty ? child.type : child.displayName
                return .failure(
                    Unsupported(
                        reason: "the node `\(title.shortened)` on it, of type \(child.type), cannot run: \(failure.reason)"))
            }
        }
        return .success([ImportedNode.Setting(name: "nodes", value: MarkedValue(content: .list(parts), position: .start))])
    }

    // MARK: Scripts

    /// Returns true for a node of this server that decides by a table, which AM's configuration REST gives to clients and gets back
    /// (``TreeExport``).
    ///
    /// A node of AM always has a script.
    private static func hasTable(_ settings: [String: JSONValue]) -> Bool {
        settings["script"] == nil && ["table", "callbacks", "default"].contains { settings[$0] != nil }
    }

    /// Returns the settings of a node with a script: its source in the place of its id.
    private func scripted(_ settings: [String: JSONValue]) -> Result<[ImportedNode.Setting], Unsupported> {
        let id = settings["script"]?.string ?? ""
        guard let script = scripts[id] else {
            return .failure(Unsupported(reason: "the export does not have its script `\(id.shortened)`"))
        }
        let name = script.name.shortened
        let source: String
        switch script.source {
        case .success(let text): source = text
        case .failure(let problem): return .failure(Unsupported(reason: problem.explanation(of: name)))
        }
        guard script.language.uppercased() == "JAVASCRIPT" else {
            return .failure(
                Unsupported(reason: "its script `\(name)` is in \(script.language.shortened), and only JavaScript runs here"))
        }
        return .success([ImportedNode.Setting(name: "script", value: MarkedValue(.string(source), at: .start))])
    }

    // MARK: Outcomes

    /// Returns the targets of the outcomes that the node has here.
    private mutating func outcomes(
        of behavior: any Node, _ targets: [String: String], of node: ExportedNode, _ name: String
    ) -> [(outcome: String, target: String)] {
        let (known, ignored) = (behavior.outcomes.map(\.rawValue), behavior.ignoredOutcomes.map(\.rawValue))
        var result: [(outcome: String, target: String)] = []
        for outcome in known {
            if let target = targets[outcome] {
                result.append((outcome, target))
            } else {
                result.append((outcome, "failure"))
                findings.append(
                    ImportFinding(
                        .warning, at: node.place, journey: journey, node: name,
                        "the export has no target for the outcome `\(outcome)`: it leads to `failure`"))
            }
        }
        for outcome in targets.keys.sorted() where !known.contains(outcome) && !ignored.contains(outcome) {
            findings.append(
                ImportFinding(
                    .note, at: node.place, journey: journey, node: name, "the node never has the outcome `\(outcome)` here"))
        }
        return result
    }

    // MARK: Stubs

    /// Returns the stub of a node, and reports it.
    mutating func stub(
        _ node: ExportedNode, as name: String, line: Int, targets: [String: String], because reason: String
    ) -> ImportedNode {
        findings.append(
            ImportFinding(
                .stub, at: node.place, journey: journey, node: name, "node of type \(node.type) cannot run: \(reason)"))
        return Self.stub(node.type, as: name, line: line, targets: targets, because: reason, asks: stubs == .ask)
    }

    /// Returns a stub.
    static func stub(
        _ type: String, as name: String, line: Int, targets: [String: String], because reason: String, asks: Bool
    ) -> ImportedNode {
        func setting(_ name: String, _ value: JSONValue) -> ImportedNode.Setting {
            ImportedNode.Setting(name: name, value: MarkedValue(value, at: .start))
        }
        var settings = [setting("nodeType", .string(type.isEmpty ? "unknown" : type)), setting("reason", .string(reason))]
        if asks { settings.append(setting("ask", .bool(true))) }
        return ImportedNode(
            name: name, type: StubNode.type.name, settings: settings,
            outcomes: targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, line: line)
    }

    private mutating func report(
        _ severity: ImportFinding.Severity, _ node: ExportedNode, _ name: String, _ setting: String, _ text: String
    ) {
        findings.append(
            ImportFinding(
                severity, at: node.place.appending(setting), journey: journey, node: name, "`\(setting.shortened)`: \(text)"))
    }
}

extension String {
    /// Returns the text of a problem, without the value of a setting that can be secret.
    fileprivate func withoutSecret(of setting: String) -> String {
        setting.canBeSecretName ? "the value cannot be used here" : self
    }
}

extension JSONValue {
    /// True for null, and for text, a list and an object without content.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        default: false
        }
    }
}

extension MarkedValue {
    /// The value as a number or a Boolean value, when it is one in quotes; otherwise nil.
    ///
    /// Some versions of AM export numbers as text.
    fileprivate var unquoted: MarkedValue? {
        guard case .scalar(let text, isQuoted: true) = content, Int(text) != nil || ["true", "false"].contains(text) else {
            return nil
        }
        return MarkedValue(content: .scalar(text, isQuoted: false), position: position)
    }
}
