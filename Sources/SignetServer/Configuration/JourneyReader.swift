import SignetCore
import YAMLText

/// Reads the section `journeys`: first each journey for itself, then what leads from node to node and from journey to journey.
struct JourneyReader {
    private(set) var problems: [ConfigurationProblem] = []
    private let surroundings: NodeContext
    private let realms: Set<RealmPath>
    private var drafts: [Draft] = []

    /// A journey as it was read, with its places.
    private struct Draft {
        let name: String
        let place: SourcePosition
        var entry = ""
        var isInner = false
        var realms: Set<RealmPath>?
        var nodes: [NodeDraft] = []

        /// The nodes from which no way leads to an end, or to somebody who is asked something.
        /// - Parameter silent: The journeys that ask nobody.
        func endless(_ silent: Set<String>) -> [NodeDraft] {
            let ids = Set(nodes.map(\.id))
            var origins: [String: [String]] = [:]
            var rests: [String] = []
            for node in nodes {
                // What is no node is an end, or a mistake that was told of already.
                let targets = node.kind.outcomes.map { node.target(of: $0) ?? "" }
                for target in targets { origins[target, default: []].append(node.id) }
                let asks = node.kind.asking != .nothing || node.innerTree.map { !silent.contains($0) } == true
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
        let kind: any NodeKind
        /// Whether the kind has the outcomes that the file means.
        var hasKnownOutcomes = true
        /// The journey that it walks, if it does.
        var innerTree: String? { (kind as? InnerTreeEvaluatorNode)?.tree }
        var ways: [Way] = []
        var otherwise: Way?

        /// Where the file lets the node lead, from outcomes that it never comes to as well.
        var allWays: [Way] { ways + [otherwise].compactMap { $0 } }

        /// Where an outcome leads; nil when the file does not say.
        func target(of outcome: NodeOutcome) -> String? {
            (ways.first { $0.outcome == outcome.rawValue } ?? otherwise)?.target
        }
    }

    /// Where an outcome leads.
    private struct Way {
        let outcome: String
        let place: SourcePosition
        let target: String
        let targetPlace: SourcePosition
    }

    init(_ surroundings: NodeContext, realms: Set<RealmPath>) {
        self.surroundings = surroundings
        self.realms = realms
    }

    /// Reads the section. With problems the trees are not whole.
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

    // MARK: One journey

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
        guard let read = reader.nodeParts(surroundings) else {
            problems += reader.finished()
            return nil
        }
        let kind: any NodeKind =
            switch read.parts {
            case .node(let kind), .obscured(let kind): kind
            case .collectors(let collectors): CollectorNode(read.type.name, collectors)
            }
        var draft = NodeDraft(id: entry.key, place: entry.place, type: read.type, kind: kind)
        if case .obscured = read.parts { draft.hasKnownOutcomes = false }
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

    // MARK: From node to node

    /// - Parameter ids: the names of all nodes, of those too that could not be read.
    private mutating func checkWays(_ draft: Draft, ids: [String], _ subject: String) {
        for node in draft.nodes {
            let subject = "\(subject), node `\(node.id.shortened)`"
            if node.hasKnownOutcomes { checkOutcomes(node, subject) }
            for way in node.allWays where !ids.contains(way.target) && !NodeTarget.ends.contains(way.target) {
                let message = "outcome `\(way.outcome.shortened)` leads to `\(way.target.shortened)`, which is no node"
                note(way.targetPlace, subject, message, ids + NodeTarget.ends, way.target, "there are")
            }
        }
        // A node that could not be read leads somewhere, but nobody knows where.
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
        let accepted = outcomes + node.kind.spareOutcomes.map(\.rawValue)
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

    /// What ways lead to, from node to node or from journey to journey; the starts are part of it.
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

    // MARK: From journey to journey

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
                    "it is walked inside of itself, by way of its inner journeys: it would never end"))
        }
    }

    /// Notes where a journey goes round without an end and asks nobody: the server would give it up.
    private mutating func checkCircles() {
        let silent = silentJourneys()
        for draft in drafts {
            let circle = draft.endless(silent)
            guard let first = circle.first else { continue }
            let names = circle.map { "`\($0.id.shortened)`" }.joined(separator: ", ")
            problems.append(
                ConfigurationProblem(
                    first.place, "journey `\(draft.name.shortened)`, node `\(first.id.shortened)`",
                    "from here the journey goes round for ever and asks nobody (\(names)): let an outcome lead out, to `success`, `failure` or a node that asks"
                ))
        }
    }

    /// The journeys that ask nobody anything, neither themselves nor by an inner journey.
    private func silentJourneys() -> Set<String> {
        let asking = drafts.filter { $0.nodes.contains { $0.kind.asking != .nothing } }.map(\.name)
        var outer: [String: [String]] = [:]
        for draft in drafts {
            for tree in draft.nodes.compactMap(\.innerTree) { outer[tree, default: []].append(draft.name) }
        }
        return Set(drafts.map(\.name)).subtracting(Self.reached(from: asking, outer))
    }

    // MARK: The whole

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
    /// The targets that are no nodes, as a file names them.
    fileprivate static let ends = ["success", "failure"]

    /// A target as a file names it.
    fileprivate init(_ name: String) {
        switch name {
        case "success": self = .success
        case "failure": self = .failure
        default: self = .node(name)
        }
    }
}

extension NodeKind {
    /// Where a node leads that is itself an end.
    fileprivate var ends: [(NodeOutcome, NodeTarget)] {
        self is SuccessNode ? [(.outcome, .success)] : self is FailureNode ? [(.outcome, .failure)] : []
    }
}
