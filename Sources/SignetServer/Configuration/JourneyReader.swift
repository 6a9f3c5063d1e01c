import SignetCore
import YAMLText

/// Reads the section `journeys`. It reads each journey first, and then checks the connections between nodes and between journeys.
struct JourneyReader {
    private(set) var problems: [ConfigurationProblem] = []
    private let context: NodeContext
    private let realms: Set<RealmPath>
    private var drafts: [Draft] = []

    /// A journey from the file, with its positions in the file.
    private struct Draft {
        let name: String
        let place: SourcePosition
        var entry = ""
        var isInner = false
        var realms: Set<RealmPath>?
        var nodes: [NodeDraft] = []

        /// Returns the nodes from which the journey can reach neither an end nor a node that asks the user.
        /// - Parameter silent: The journeys that never ask the user.
        func endless(_ silent: Set<String>) -> [NodeDraft] {
            let ids = Set(nodes.map(\.id))
            var origins: [String: [String]] = [:]
            var rests: [String] = []
            for node in nodes {
                // A target that is not a node is an end of the journey, or a mistake that was already reported.
                let targets = node.kind.outcomes.map { node.target(of: $0) ?? "" }
                for target in targets { origins[target, default: []].append(node.id) }
                let asks = node.kind.interaction != .none || node.innerTree.map { !silent.contains($0) } == true
                if asks || targets.isEmpty || !ids.isSuperset(of: targets) { rests.append(node.id) }
            }
            let restful = JourneyReader.reached(from: rests, origins)
            return nodes.filter { !restful.contains($0.id) }
        }
    }

    private struct NodeDraft {
        let id: String
        let place: SourcePosition
        let type: NodeType
        let kind: any Node
        /// True when the outcomes of the kind are those that the file intends.
        var hasKnownOutcomes = true
        /// The inner journey that the node runs; nil for other nodes.
        var innerTree: String? { (kind as? InnerTreeEvaluatorNode)?.tree }
        var ways: [Way] = []
        var otherwise: Way?

        /// All connections in the file, including those from outcomes that the node never has.
        var allWays: [Way] { ways + [otherwise].compactMap { $0 } }

        /// Returns the target of an outcome; nil when the file specifies none.
        func target(of outcome: NodeOutcome) -> String? {
            (ways.first { $0.outcome == outcome.rawValue } ?? otherwise)?.target
        }
    }

    /// A connection from an outcome to its target.
    private struct Way {
        let outcome: String
        let place: SourcePosition
        let target: String
        let targetPlace: SourcePosition
    }

    init(_ context: NodeContext, realms: Set<RealmPath>) {
        self.context = context
        self.realms = realms
    }

    /// Reads the section. If there are problems, the trees are incomplete.
    mutating func trees(_ section: MarkedValue) -> [JourneyTree] {
        guard let entries = section.mapping else {
            problems.append(
                ConfigurationProblem(section.place, "journeys", "journeys stand here by their names, not \(section.kind)"))
            return []
        }
        drafts = entries.map { draft($0) }
        checkInnerJourneys()
        checkCircles()
        return drafts.map { tree($0) }
    }

    // MARK: Journeys and nodes

    private mutating func draft(_ entry: MarkedValue.Entry) -> Draft {
        let subject = "journey `\(entry.key.shortened)`"
        var reader = SectionReader(entry.value, subject: subject)
        var draft = Draft(name: entry.key, place: entry.place)
        let first = reader.optionalText("entry", kind: "the name of a node", standard: "the first node")
        draft.isInner = reader.truth("innerTreeOnly", false)
        draft.realms = reader.optionalTexts("realms", standard: "all").map { Set($0.map { RealmPath($0) }) }
        for realm in draft.realms ?? [] where !realms.contains(realm) {
            reader.note(reader.place(of: "realms"), "there is no realm `\(realm)`: add it to the section `realms`")
        }
        let nodes = reader.value("nodes", kind: "nodes by names")
        if let entries = nodes?.mapping, !entries.isEmpty {
            draft.nodes = entries.compactMap { node($0, subject) }
            draft.entry = first ?? entries[0].key
            if !entries.contains(where: { $0.key == draft.entry }) {
                reader.note(
                    reader.place(of: "entry"),
                    "there is no node `\(draft.entry.shortened)` to begin with"
                        + entries.map(\.key).advice(for: draft.entry, "there are"))
            }
            checkWays(draft, ids: entries.map(\.key), subject)
        } else {
            reader.note(nodes?.place ?? entry.place, "a journey has `nodes`, each with its name, `type` and `outcomes`")
        }
        problems += reader.finished()
        return draft
    }

    private mutating func node(_ entry: MarkedValue.Entry, _ journey: String) -> NodeDraft? {
        var reader = SectionReader(entry.value, subject: "\(journey), node `\(entry.key.shortened)`")
        if NodeTarget.ends.contains(entry.key) {
            reader.note(entry.place, "`\(entry.key)` is an end that every journey has: give the node another name")
        }
        let outcomes = reader.value("outcomes", kind: "targets by outcomes")
        guard let read = reader.nodeParts(context) else {
            problems += reader.finished()
            return nil
        }
        let kind: any Node =
            switch read.parts {
            case .node(let kind), .incomplete(let kind): kind
            case .collectors(let collectors): CollectorNode(read.type.name, collectors)
            }
        var draft = NodeDraft(id: entry.key, place: entry.place, type: read.type, kind: kind)
        if case .incomplete = read.parts { draft.hasKnownOutcomes = false }
        if let outcomes, outcomes.mapping == nil {
            reader.note(
                outcomes.place, "`outcomes` is targets by outcomes, `{\(kind.outcomes.first?.rawValue ?? "outcome"): success}`")
        }
        for outcome in outcomes?.mapping ?? [] {
            guard let target = outcome.value.text else {
                reader.note(
                    outcome.value.place, "outcome `\(outcome.key.shortened)` leads nowhere: name a node, `success` or `failure`")
                continue
            }
            let way = Way(outcome: outcome.key, place: outcome.place, target: target, targetPlace: outcome.value.place)
            if outcome.key == "otherwise", !kind.outcomes.contains(NodeOutcome("otherwise")) {
                draft.otherwise = way
            } else {
                draft.ways.append(way)
            }
        }
        problems += reader.finished()
        return draft
    }

    // MARK: Connections between nodes

    /// Checks the connections between the nodes of a journey.
    /// - Parameters:
    ///   - draft: The journey.
    ///   - ids: The names of all nodes, including those that could not be read.
    ///   - subject: The journey's name for messages.
    private mutating func checkWays(_ draft: Draft, ids: [String], _ subject: String) {
        for node in draft.nodes {
            let subject = "\(subject), node `\(node.id.shortened)`"
            if node.hasKnownOutcomes { checkOutcomes(node, subject) }
            for way in node.allWays where !ids.contains(way.target) && !NodeTarget.ends.contains(way.target) {
                let message = "outcome `\(way.outcome.shortened)` leads to `\(way.target.shortened)`, which is no node"
                note(way.targetPlace, subject, message, ids + NodeTarget.ends, way.target, "there are")
            }
        }
        // The targets of a node that could not be read are unknown, so it is also unknown which nodes can be reached.
        guard draft.nodes.count == ids.count, ids.contains(draft.entry) else { return }
        let ways = Dictionary(draft.nodes.map { ($0.id, $0.allWays.map(\.target)) }, uniquingKeysWith: { first, _ in first })
        let arrivals = Self.reached(from: [draft.entry], ways)
        for node in draft.nodes where !arrivals.contains(node.id) {
            problems.append(
                ConfigurationProblem(
                    node.place, "\(subject), node `\(node.id.shortened)`",
                    "no way leads here from `\(draft.entry.shortened)`, where the journey begins: let an outcome of a node on the way lead here, or take the node out"
                ))
        }
    }

    private mutating func checkOutcomes(_ node: NodeDraft, _ subject: String) {
        let outcomes = node.kind.outcomes.map(\.rawValue)
        let accepted = outcomes + node.kind.ignoredOutcomes.map(\.rawValue)
        for way in node.ways where !accepted.contains(way.outcome) {
            note(way.place, subject, "\(node.type.title) has no outcome `\(way.outcome.shortened)`", accepted, way.outcome)
        }
        let given = node.ways.map(\.outcome)
        for outcome in outcomes where !given.contains(outcome) && node.otherwise == nil {
            problems.append(
                ConfigurationProblem(
                    node.place, subject,
                    "outcome `\(outcome)` leads nowhere: name a node, `success` or `failure` for it, or one for `otherwise`"))
        }
        if let otherwise = node.otherwise, accepted.allSatisfy(given.contains) {
            problems.append(
                ConfigurationProblem(otherwise.place, subject, "every outcome has a target: `otherwise` means nothing here"))
        }
    }

    /// Returns everything that can be reached from the starts, including the starts. It works for nodes and for journeys.
    private static func reached(from starts: [String], _ ways: [String: [String]]) -> Set<String> {
        var reached: Set<String> = []
        var open = starts
        while let next = open.popLast() {
            if reached.insert(next).inserted { open += ways[next] ?? [] }
        }
        return reached
    }

    private mutating func note(
        _ place: SourcePosition, _ subject: String, _ message: String, _ names: [String], _ name: String,
        _ verb: String = "it has"
    ) {
        problems.append(
            ConfigurationProblem(
                place, subject, message + (names.isEmpty ? ": it ends the journey" : names.advice(for: name, verb))))
    }

    // MARK: Connections between journeys

    private mutating func checkInnerJourneys() {
        let names = drafts.map(\.name)
        var inner: [String: [String]] = [:]
        for draft in drafts {
            for node in draft.nodes {
                guard let tree = node.innerTree, !tree.isEmpty else { continue }
                let subject = "journey `\(draft.name.shortened)`, node `\(node.id.shortened)`"
                if names.contains(tree) {
                    inner[draft.name, default: []].append(tree)
                } else {
                    note(node.place, subject, "there is no journey `\(tree.shortened)`", names, tree, "there are")
                }
            }
        }
        for draft in drafts where Self.reached(from: inner[draft.name] ?? [], inner).contains(draft.name) {
            problems.append(
                ConfigurationProblem(
                    draft.place, "journey `\(draft.name.shortened)`",
                    "it contains itself through its inner journeys and would never end"))
        }
    }

    /// Reports journeys that can loop forever without asking the user. The server would stop such a run with an error.
    private mutating func checkCircles() {
        let silent = silentJourneys()
        for draft in drafts {
            let circle = draft.endless(silent)
            guard let first = circle.first else { continue }
            let names = circle.map { "`\($0.id.shortened)`" }.joined(separator: ", ")
            problems.append(
                ConfigurationProblem(
                    first.place, "journey `\(draft.name.shortened)`, node `\(first.id.shortened)`",
                    "from here the journey runs in a cycle without a prompt (\(names)): connect an outcome to `success`, `failure` or a node that prompts"
                ))
        }
    }

    /// Returns the journeys that never ask the user, neither in their own nodes nor in an inner journey.
    private func silentJourneys() -> Set<String> {
        let asking = drafts.filter { $0.nodes.contains { $0.kind.interaction != .none } }.map(\.name)
        var outer: [String: [String]] = [:]
        for draft in drafts {
            for tree in draft.nodes.compactMap(\.innerTree) { outer[tree, default: []].append(draft.name) }
        }
        return Set(drafts.map(\.name)).subtracting(Self.reached(from: asking, outer))
    }

    // MARK: Trees

    private func tree(_ draft: Draft) -> JourneyTree {
        let nodes = draft.nodes.map { node in
            let targets = node.kind.outcomes.compactMap { outcome in
                node.target(of: outcome).map { (outcome, NodeTarget($0)) }
            }
            return (
                node.id,
                JourneyNode(node.kind, Dictionary(targets + node.kind.ends, uniquingKeysWith: { first, _ in first }))
            )
        }
        var tree = JourneyTree(
            draft.name, entry: draft.entry, nodes: Dictionary(nodes, uniquingKeysWith: { first, _ in first }))
        tree.isInner = draft.isInner
        tree.realms = draft.realms
        return tree
    }
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

extension Node {
    /// The targets of a node that is itself an end of the journey.
    fileprivate var ends: [(NodeOutcome, NodeTarget)] {
        self is SuccessNode ? [(.outcome, .success)] : self is FailureNode ? [(.outcome, .failure)] : []
    }
}
