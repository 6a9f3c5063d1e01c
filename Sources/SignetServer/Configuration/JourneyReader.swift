import SignetCore
import YAMLText

/// Reads the section `journeys`.
///
/// It reads each journey first, and then checks the connections between nodes and between journeys.
struct JourneyReader {
    private(set) var problems: [ConfigurationProblem] = []
    /// The settings of the last journey that was read, for ``ConfigurationSchema``.
    private(set) var settings: [Setting] = []
    private let context: NodeContext
    private let realms: Set<RealmPath>
    /// The journeys that exist besides those of the section.
    private let known: [JourneyTree]
    private var drafts: [JourneyDraft] = []

    init(_ context: NodeContext, realms: Set<RealmPath>, besides known: [JourneyTree] = []) {
        self.context = context
        self.realms = realms
        self.known = known
    }

    /// Reads the section.
    ///
    /// If there are problems, the trees are incomplete.
    mutating func trees(_ section: MarkedValue) -> [JourneyTree] {
        guard let entries = section.mapping else {
            problems.append(
                ConfigurationProblem(
                    .wrongType, at: section.position, "journeys", "`journeys` must be journeys by name, not \(section.kind)"))
            return []
        }
        drafts = entries.map { journey($0) }
        checkInnerJourneys()
        checkLoops()
        return drafts.map(\.tree)
    }

    // MARK: Journeys and nodes

    private mutating func journey(_ entry: MarkedValue.Entry) -> JourneyDraft {
        var draft = JourneyDraft(name: entry.key, position: entry.position)
        let source = entry.value.json
        (draft.fingerprint, draft.source) = (source.hashValue, source)
        var decoder = ConfigurationDecoder(entry.value, subject: draft.subject)
        let first = decoder.optionalString("entry", kind: "the name of a node", default: "the first node")
        draft.isInner = decoder.bool("innerTreeOnly", false)
        draft.realms = decoder.optionalStrings("realms", default: "all").map { Set($0.map { RealmPath($0) }) }
        for realm in draft.realms ?? [] where !realms.contains(realm) {
            decoder.report(.unknownName, in: "realms", "there is no realm `\(realm)`: add it to the section `realms`")
        }
        let nodes = decoder.value("nodes", kind: "nodes by name", form: .mapping(.part(.node)))
        settings = decoder.settings
        if let entries = nodes?.mapping, !entries.isEmpty {
            let ids = entries.map(\.key)
            draft.nodes = entries.compactMap { node($0, draft.subject) }
            draft.entry = first ?? ids[0]
            if !ids.contains(draft.entry) {
                decoder.report(
                    .unknownName, in: "entry", "there is no node `\(draft.entry.shortened)`" + ids.suggestion(for: draft.entry))
            }
            problems += draft.problems(ids: ids)
        } else {
            decoder.report(
                .noNodes, at: nodes?.position ?? entry.position,
                "a journey needs `nodes`, each with a name, `type` and `outcomes`")
        }
        problems += decoder.finished()
        return draft
    }

    private mutating func node(_ entry: MarkedValue.Entry, _ journey: String) -> NodeDraft? {
        var decoder = ConfigurationDecoder(entry.value, subject: "\(journey), node `\(entry.key.shortened)`")
        defer { problems += decoder.finished() }
        if NodeTarget.ends.contains(entry.key) {
            decoder.report(
                .reservedName, at: entry.position, "`\(entry.key)` is an end of every journey: give the node another name")
        }
        let outcomes = decoder.value("outcomes", kind: "targets by outcome")
        guard let node = decoder.node(context) else { return nil }
        var draft = NodeDraft(id: entry.key, position: entry.position, node: node)
        if let outcomes, outcomes.mapping == nil {
            let example = node.outcomes.first?.rawValue ?? "outcome"
            decoder.report(
                .wrongType, at: outcomes.position,
                "`outcomes` must be targets by outcome, `{\(example): success}`, not \(outcomes.kind)")
        }
        for outcome in outcomes?.mapping ?? [] {
            guard let target = outcome.value.text else {
                decoder.report(
                    .missingTarget, at: outcome.value.position,
                    "outcome `\(outcome.key.shortened)` has no target: add a node, `success` or `failure`")
                continue
            }
            let connection = Connection(
                outcome: outcome.key, position: outcome.position, target: target, targetPosition: outcome.value.position)
            if outcome.key == "default", !node.outcomes.contains(NodeOutcome("default")) {
                draft.defaultConnection = connection
            } else {
                draft.connections.append(connection)
            }
        }
        return draft
    }

    // MARK: Connections between journeys

    private mutating func checkInnerJourneys() {
        let names = drafts.map(\.name) + known.map(\.name)
        var graph = JourneyGraph()
        for tree in known {
            for inner in tree.innerTrees { graph.connect(tree.name, to: inner) }
        }
        for draft in drafts {
            for node in draft.nodes {
                guard let tree = node.node.innerTree, !tree.isEmpty else { continue }
                if names.contains(tree) {
                    graph.connect(draft.name, to: tree)
                } else {
                    problems.append(
                        ConfigurationProblem(
                            .unknownName, at: node.position, draft.subject(of: node),
                            "there is no journey `\(tree.shortened)`" + names.suggestion(for: tree)))
                }
            }
        }
        for draft in drafts where graph.isOnCycle(draft.name) {
            problems.append(
                ConfigurationProblem(
                    .recursiveJourney, at: draft.position, draft.subject,
                    "recursive inner journey: the journey contains itself, so it would never end"))
        }
    }

    /// Reports journeys that can loop forever without asking the user.
    ///
    /// The server would stop such a run with an error.
    private mutating func checkLoops() {
        let nonInteractive = nonInteractiveJourneys()
        for draft in drafts {
            let loop = draft.endlessNodes(nonInteractive)
            problems += draft.selfLoops(except: Set(loop.map(\.id)))
            guard let first = loop.first else { continue }
            let names = loop.map { "`\($0.id.shortened)`" }.joined(separator: ", ")
            problems.append(
                ConfigurationProblem(
                    .infiniteLoop, at: first.position, draft.subject(of: first),
                    "infinite loop: the nodes \(names) never prompt the user and reach no end: connect an outcome to `success`, `failure` or a node that prompts"
                ))
        }
    }

    /// Returns the journeys that never ask the user, neither in their own nodes nor in an inner journey.
    private func nonInteractiveJourneys() -> Set<String> {
        let interactive =
            drafts.filter { $0.nodes.contains { $0.node.interaction != .none } }.map(\.name)
            + known.filter { $0.nodes.values.contains { $0.node.interaction != .none } }.map(\.name)
        var outer = JourneyGraph()
        for tree in known {
            for inner in tree.innerTrees { outer.connect(inner, to: tree.name) }
        }
        for draft in drafts {
            for tree in draft.nodes.compactMap(\.node.innerTree) { outer.connect(tree, to: draft.name) }
        }
        return Set(drafts.map(\.name) + known.map(\.name)).subtracting(outer.reachable(from: interactive))
    }
}

/// A journey from the file, with its positions in the file.
private struct JourneyDraft {
    let name: String
    let position: SourcePosition
    var entry = ""
    var isInner = false
    var realms: Set<RealmPath>?
    var nodes: [NodeDraft] = []
    var fingerprint = 0
    var source: JSONValue?

    /// The journey's name for messages.
    var subject: String { "journey `\(name.shortened)`" }

    func subject(of node: NodeDraft) -> String { "\(subject), node `\(node.id.shortened)`" }

    /// Returns the problems of the connections between the nodes.
    /// - Parameter ids: The names of all nodes, including those that could not be read.
    /// - Returns: The problems of the connections, then one problem for each node that the journey cannot reach.
    func problems(ids: [String]) -> [ConfigurationProblem] {
        let targets = ids + NodeTarget.ends
        var problems = nodes.flatMap { $0.problems(targets: targets, subject(of: $0)) }
        // The targets of a node that could not be read are unknown, so it is also unknown which nodes can be reached.
        guard nodes.count == ids.count, ids.contains(entry) else { return problems }
        var graph = JourneyGraph()
        for node in nodes {
            for connection in node.allConnections { graph.connect(node.id, to: connection.target) }
        }
        let reachable = graph.reachable(from: [entry])
        for node in nodes where !reachable.contains(node.id) {
            problems.append(
                ConfigurationProblem(
                    .unreachableNode, at: node.position, subject(of: node),
                    "unreachable from `\(entry.shortened)`, where the journey starts: connect an outcome to the node, or remove it"
                ))
        }
        return problems
    }

    /// Returns the nodes from which the journey can reach neither an end nor a node that asks the user.
    /// - Parameter nonInteractive: The journeys that never ask the user.
    /// - Returns: The nodes in the order of the file; empty when each node leads to an end or to a question.
    func endlessNodes(_ nonInteractive: Set<String>) -> [NodeDraft] {
        let ids = Set(nodes.map(\.id))
        var graph = JourneyGraph()
        var stops: [String] = []
        for node in nodes {
            // A target that is not a node is an end of the journey, or a mistake that was already reported.
            let targets = node.node.outcomes.map { node.target(of: $0) ?? "" }
            for target in targets { graph.connect(node.id, to: target) }
            let isInteractive =
                node.node.interaction != .none || node.node.innerTree.map { !nonInteractive.contains($0) } == true
            if isInteractive || targets.isEmpty || !ids.isSuperset(of: targets) { stops.append(node.id) }
        }
        let stopping = graph.reversed.reachable(from: stops)
        return nodes.filter { !stopping.contains($0.id) }
    }

    /// Returns a problem for each node that an outcome leads back to, although the node would have the same outcome again.
    /// - Parameter reported: The names of the nodes that have a problem already.
    /// - Returns: The problems in the order of the file.
    func selfLoops(except reported: Set<String>) -> [ConfigurationProblem] {
        nodes.filter { !reported.contains($0.id) }.compactMap { node -> ConfigurationProblem? in
            guard let outcome = node.node.repeatedOutcomes.first(where: { node.target(of: $0) == node.id }) else { return nil }
            let connection = node.connection(of: outcome)
            return ConfigurationProblem(
                .infiniteLoop, at: connection?.targetPosition ?? node.position, subject(of: node),
                "infinite loop: outcome `\(outcome.rawValue.shortened)` leads back to the node, which asks the user nothing and has the same outcome again: connect it to `success`, `failure` or a node that prompts"
            )
        }
    }

    var tree: JourneyTree {
        var tree = JourneyTree(
            name, entry: entry, nodes: Dictionary(nodes.map { ($0.id, $0.journeyNode) }, uniquingKeysWith: { first, _ in first }))
        tree.isInner = isInner
        tree.realms = realms
        (tree.fingerprint, tree.source) = (fingerprint, source)
        return tree
    }
}

/// A node from the file, with its positions in the file.
private struct NodeDraft {
    let id: String
    let position: SourcePosition
    let node: any Node
    var connections: [Connection] = []
    /// The connection for the outcomes that have no other one.
    var defaultConnection: Connection?

    /// All connections in the file, including those from outcomes that the node never has.
    var allConnections: [Connection] { connections + [defaultConnection].compactMap { $0 } }

    /// Returns the connection of an outcome; nil when the file specifies none.
    func connection(of outcome: NodeOutcome) -> Connection? {
        connections.first { $0.outcome == outcome.rawValue } ?? defaultConnection
    }

    /// Returns the target of an outcome; nil when the file specifies none.
    func target(of outcome: NodeOutcome) -> String? { connection(of: outcome)?.target }

    var journeyNode: JourneyNode {
        var targets: [NodeOutcome: NodeTarget] = [:]
        for outcome in node.outcomes { targets[outcome] = target(of: outcome).map { NodeTarget($0) } }
        if let end = node.end { targets[.outcome] = end }
        return JourneyNode(node, targets)
    }

    /// Returns the problems of the outcomes and their targets.
    /// - Parameters:
    ///   - targets: The names of all nodes of the journey, and of its ends.
    ///   - subject: The node's name for messages.
    /// - Returns: The problems of the outcomes, then one problem for each target that does not exist.
    func problems(targets: [String], _ subject: String) -> [ConfigurationProblem] {
        (node.hasKnownOutcomes ? outcomeProblems(subject) : [])
            + allConnections.filter { !targets.contains($0.target) }.map { connection in
                ConfigurationProblem(
                    .unknownName, at: connection.targetPosition, subject,
                    "outcome `\(connection.outcome.shortened)` leads to `\(connection.target.shortened)`, which does not exist"
                        + targets.suggestion(for: connection.target))
            }
    }

    private func outcomeProblems(_ subject: String) -> [ConfigurationProblem] {
        let outcomes = node.outcomes.map(\.rawValue)
        let accepted = outcomes + node.ignoredOutcomes.map(\.rawValue)
        let given = connections.map(\.outcome)
        var problems = connections.filter { !accepted.contains($0.outcome) }.map { connection in
            ConfigurationProblem(
                .unknownOutcome, at: connection.position, subject,
                "\(node.type.title) has no outcome `\(connection.outcome.shortened)`"
                    + (accepted.isEmpty ? ": it ends the journey" : accepted.suggestion(for: connection.outcome)))
        }
        if let defaultConnection {
            guard accepted.allSatisfy(given.contains) else { return problems }
            problems.append(
                ConfigurationProblem(
                    .unusedDefault, at: defaultConnection.position, subject,
                    "`default` is never used, because every outcome has a target: remove it"))
            return problems
        }
        return problems
            + outcomes.filter { !given.contains($0) }.map { outcome in
                ConfigurationProblem(
                    .missingTarget, at: position, subject,
                    "outcome `\(outcome)` has no target: add a node, `success` or `failure`, or a `default` for all outcomes")
            }
    }
}

/// A connection from an outcome to its target.
private struct Connection {
    let outcome: String
    let position: SourcePosition
    let target: String
    let targetPosition: SourcePosition
}

extension NodeTarget {
    /// The names of the targets that are not nodes.
    fileprivate static let ends = ["success", "failure"]

    /// Creates a target from its name in the file.
    fileprivate init(_ name: String) {
        switch name {
        case "success": self = .success
        case "failure": self = .failure
        default: self = .node(name)
        }
    }
}
