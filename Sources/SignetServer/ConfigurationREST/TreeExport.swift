import Crypto
import SignetCore
import YAMLText

/// A journey as documents of AM: the tree, its nodes, and their scripts.
///
/// It is the reverse of the import (``JourneyConverter``). Ids are made of names, so that each export of a journey has the same.
struct TreeExport: Sendable {
    private(set) var tree: JSONValue
    /// The nodes by id, including those on pages.
    private(set) var nodes: [String: JSONValue] = [:]
    /// The scripts by id.
    private(set) var scripts: [String: JSONValue] = [:]

    init(tree: JSONValue, nodes: [String: JSONValue], scripts: [String: JSONValue]) {
        (self.tree, self.nodes, self.scripts) = (tree, nodes, scripts)
    }

    /// Makes the documents of a journey.
    /// - Parameters:
    ///   - journey: The journey.
    ///   - hasPlaces: False to leave out the places of the nodes in AM's editor, when only the nodes themselves are needed.
    init(_ journey: JourneyTree, hasPlaces: Bool = true) {
        tree = .null
        let ends = Self.ends(of: journey)
        let layout = hasPlaces ? JourneyLayout(journey) : nil
        let places = Dictionary((layout?.boxes ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var references: [String: JSONValue] = [:]
        for (name, node) in journey.nodes where ends[name] == nil {
            let id = Self.id(journey.name, name)
            let settings = journey.source?["nodes"]?[name]?.object ?? [:]
            let type = Self.type(of: node.node, settings)
            let connections = node.outcomes.map { ($0.key.rawValue, JSONValue.string(Self.id(of: $0.value, journey.name, ends))) }
            references[id] = .object([
                "nodeType": .string(type), "displayName": .string(name), "x": .integer(Int64(places[name]?.x ?? 0)),
                "y": .integer(Int64(places[name]?.y ?? 0)),
                "connections": .object(Dictionary(connections, uniquingKeysWith: { first, _ in first })),
            ])
            add(node.node, type, settings, id, [journey.name, name])
        }
        let end = Int64(layout?.width ?? 0)
        tree = .object([
            "_id": .string(journey.name), "enabled": .bool(true), "innerTreeOnly": .bool(journey.isInner),
            "entryNodeId": .string(Self.id(of: .node(journey.entry), journey.name, ends)), "nodes": .object(references),
            "uiConfig": .object(["categories": .string("[]")]),
            "staticNodes": .object([
                "startNode": Self.place(0, 40), Self.success: Self.place(end, 40), Self.failure: Self.place(end, 160),
            ]),
        ])
    }

    /// Returns the export with another document of the tree.
    func with(_ tree: JSONValue) -> TreeExport { TreeExport(tree: tree, nodes: nodes, scripts: scripts) }

    // MARK: Identifiers

    private static let success = end("success")
    private static let failure = end("failure")

    private static func end(_ name: String) -> String { ExportedJourney.ends.first { $0.value == name }?.key ?? "" }

    private static func place(_ x: Int64, _ y: Int64) -> JSONValue { .object(["x": .integer(x), "y": .integer(y)]) }

    /// Returns true for a UUID that is made of names.
    ///
    /// AM makes random ones, which have version 4.
    static func isGenerated(_ id: String) -> Bool { id.utf8.count == 36 && id.utf8.dropFirst(14).first == UInt8(ascii: "8") }

    /// Returns true when the journey has a node or a script with this id, or refers to it.
    func refers(to id: String) -> Bool {
        nodes[id] != nil || scripts[id] != nil || tree["nodes"]?[id] != nil
            || nodes.values.contains { $0["script"]?.string == id || $0.childIDs.contains(id) }
    }

    /// Returns a UUID that is made of names (RFC 9562 version 8).
    static func id(_ names: String...) -> String { id(names) }

    private static func id(_ names: [String]) -> String {
        UUIDText.text(of: SHA256.hash(data: JSON.encode(.texts(names))).prefix(16), version: 8)
    }

    /// Returns the ids of AM's ends for the nodes that only end the journey.
    private static func ends(of journey: JourneyTree) -> [String: String] {
        journey.nodes.compactMapValues { node in
            switch node.node {
            case is SuccessNode: success
            // One with settings of its own is kept as a node.
            case let node as FailureNode where node.reason == nil: failure
            default: nil
            }
        }
    }

    private static func id(of target: NodeTarget, _ journey: String, _ ends: [String: String]) -> String {
        switch target {
        case .success: success
        case .failure: failure
        case .node(let name): ends[name] ?? id(journey, name)
        }
    }

    // MARK: Nodes

    /// Returns the type that a node has in AM: a stub has that of the node for which it stands.
    private static func type(of node: any Node, _ settings: [String: JSONValue]) -> String {
        (node as? StubNode)?.nodeType ?? node.type.name
    }

    /// Adds the document of a node, and those of the nodes on it and of its script.
    private mutating func add(_ node: any Node, _ type: String, _ settings: [String: JSONValue], _ id: String, _ path: [String]) {
        var members = Self.settings(settings, node.type)
        if node is StubNode { members = [:] }
        if node is PageNode { members["nodes"] = .array(addChildren(settings["nodes"]?.array ?? [], path)) }
        if node is ScriptedDecisionNode {
            let outcomes = node.outcomes.map(\.rawValue)
            members["outcomes"] = .texts(outcomes)
            if let source = settings["script"]?.string { members["script"] = .string(addScript(source, path)) }
        }
        nodes[id] = .object(
            members.merging(NodeDocument.members(type, id: id, outcomes: node.outcomes.map(\.rawValue))) { $1 })
    }

    private mutating func addChildren(_ children: [JSONValue], _ path: [String]) -> [JSONValue] {
        children.enumerated().compactMap { index, child in
            guard let settings = child.object, let name = settings["type"]?.string,
                let type = NodeType.all.first(where: { $0.name == name })
            else { return nil }
            var decoder = ConfigurationDecoder(MarkedValue(child, at: .start), subject: nil)
            let node = type.decode(&decoder, NodeContext())
            let id = Self.id(path + [String(index)])
            add(node, name, settings, id, path + [String(index)])
            return .object(["_id": .string(id), "nodeType": .string(name), "displayName": .string(type.title)])
        }
    }

    private mutating func addScript(_ source: String, _ path: [String]) -> String {
        let id = Self.id(path + ["script"])
        scripts[id] = ScriptDocument.value(
            id: id, name: path.joined(separator: " - "), source: source, context: "AUTHENTICATION_TREE_DECISION_NODE")
        return id
    }

    /// Returns the settings in AM's form: texts by language, where AM has them.
    private static func settings(_ settings: [String: JSONValue], _ type: NodeType) -> [String: JSONValue] {
        let forms = Dictionary(
            ConfigurationDecoder.settings { type.decode(&$0, NodeContext()) }.map { ($0.name, $0.form) },
            uniquingKeysWith: { first, _ in first })
        var result: [String: JSONValue] = [:]
        for (name, value) in JSONValue.object(settings).withoutSecrets.object ?? [:] where name != "type" && name != "outcomes" {
            if forms[name] == .localizedString, let text = value.string {
                result[name] = .object(["en": .string(text)])
            } else {
                result[name] = value
            }
        }
        return result
    }
}
