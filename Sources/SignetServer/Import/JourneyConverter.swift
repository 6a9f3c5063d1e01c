import SignetCore
import YAMLText

/// Converts journeys of AM to journeys of the configuration file.
///
/// The result has no problem that ``JourneyReader`` would report: a node that causes one becomes a stub.
struct JourneyConverter {
    private(set) var journeys: [ImportedJourney] = []
    private(set) var findings: [ImportFinding] = []
    private let export: JourneyExport
    private let stubs: JourneyImport.Stubs
    /// Journeys of the server that nodes can run.
    private let known: [JourneyTree]
    /// The names of the journeys that nodes can run.
    private let names: Set<String>
    private var line = 0
    /// The nodes of the export, by the line of the converted node.
    private var sources: [Int: ExportedNode] = [:]

    /// Converts all journeys of an export.
    /// - Parameters:
    ///   - export: The export.
    ///   - stubs: The behavior of nodes that cannot run.
    ///   - others: The names of journeys that the server also has.
    ///   - known: Those of them whose nodes are known.
    init(_ export: JourneyExport, stubs: JourneyImport.Stubs, others: Set<String> = [], known: [JourneyTree] = []) {
        self.export = export
        self.stubs = stubs
        self.known = known
        names = others.union(export.journeys.map(\.name))
        findings = export.findings
        journeys = export.journeys.map { convert($0) }
        stubRecursion()
        journeys = journeys.map(reachable)
        stubProblems(others)
    }

    private mutating func nextLine() -> Int {
        line += 1
        return line
    }

    // MARK: Journeys

    private mutating func convert(_ journey: ExportedJourney) -> ImportedJourney {
        var result = ImportedJourney(
            name: journey.name, description: journey.description, isInner: journey.isInner || !journey.isEnabled, nodes: [],
            place: journey.place, line: nextLine())
        if !journey.isEnabled {
            findings.append(
                ImportFinding(
                    .warning, at: journey.place.appending("enabled"), journey: journey.name,
                    "AM does not run the journey: here it can run inside of other journeys only"))
        }
        let (order, missing) = Self.order(of: journey)
        var namer = NodeNames()
        var targets = ExportedJourney.ends
        for node in order { targets[node.id] = namer.name(node.displayName, type: node.type) }
        var converter = NodeConverter(stubs: stubs, scripts: export.scripts, journey: journey.name)
        for node in order {
            guard let name = targets[node.id] else { continue }
            let line = nextLine()
            sources[line] = node
            let connections = node.connections.compactMapValues { targets[$0] }
            let tree = node.type == InnerTreeEvaluatorNode.type.name ? node.settings?["tree"]?.string : nil
            if missing.contains(node.id) {
                result.nodes.append(end(node, as: name, line, &converter))
            } else if let tree, !names.contains(tree) {
                let reason = "the export does not have the journey `\(tree.shortened)`"
                result.nodes.append(converter.stub(node, as: name, line: line, targets: connections, because: reason))
            } else {
                result.nodes.append(converter.convert(node, as: name, line: line, targets: connections))
            }
        }
        findings += converter.findings
        let unused = journey.nodes.keys.filter { targets[$0] == nil }.sorted()
        for id in unused { reportUnreachable(journey.nodes[id], in: journey) }
        return result
    }

    /// Returns the node for an id that the export has no node for: one that ends the journey, when the journey begins with such
    /// an id, or else a stub.
    private func end(_ node: ExportedNode, as name: String, _ line: Int, _ converter: inout NodeConverter) -> ImportedNode {
        switch ExportedJourney.ends[node.id] {
        case "success"?: ImportedNode(name: name, type: SuccessNode.type.name, settings: [], outcomes: [], line: line)
        case .some: ImportedNode(name: name, type: FailureNode.type.name, settings: [], outcomes: [], line: line)
        case nil:
            converter.stub(
                node, as: name, line: line, targets: [:], because: "the export does not have the node `\(node.id.shortened)`")
        }
    }

    /// Returns the nodes in the order in which the journey reaches them, and the ids among them that the export has no node
    /// for.
    private static func order(of journey: ExportedJourney) -> (nodes: [ExportedNode], missing: Set<String>) {
        var order: [ExportedNode] = []
        var missing: Set<String> = []
        var found: Set<String> = [journey.entry]
        var open = [journey.entry][...]
        while let id = open.popFirst() {
            guard let node = journey.nodes[id] else {
                missing.insert(id)
                let name = ExportedJourney.ends[id].map { "\($0) at once" } ?? "missing node"
                order.append(ExportedNode(id: id, type: "unknown", displayName: name, place: journey.place.appending("nodes")))
                continue
            }
            order.append(node)
            for (_, target) in node.connections.sorted(by: { $0.key < $1.key })
            where ExportedJourney.ends[target] == nil && found.insert(target).inserted {
                open.append(target)
            }
        }
        return (order, missing)
    }

    private mutating func reportUnreachable(_ node: ExportedNode?, in journey: ExportedJourney) {
        guard let node else { return }
        let title = node.displayName.isEmpty ? node.type : node.displayName
        findings.append(
            ImportFinding(
                .note, at: node.place, journey: journey.name, "left out: no connection leads to the node `\(title.shortened)`"))
    }

    // MARK: Checks

    /// Returns a journey without the nodes that no outcome leads to, because the nodes before them never have that outcome
    /// here.
    private func reachable(_ journey: ImportedJourney) -> ImportedJourney {
        var graph = JourneyGraph()
        for node in journey.nodes {
            for (_, target) in node.outcomes { graph.connect(node.name, to: target) }
        }
        guard let first = journey.nodes.first else { return journey }
        let reached = graph.reachable(from: [first.name])
        var result = journey
        result.nodes.removeAll { !reached.contains($0.name) }
        return result
    }

    /// Makes stubs of the nodes that run a journey which contains the node's own journey.
    private mutating func stubRecursion() {
        var graph = JourneyGraph()
        for journey in journeys {
            for tree in journey.nodes.compactMap(\.innerTree) { graph.connect(journey.name, to: tree) }
        }
        for journey in journeys.indices where graph.isOnCycle(journeys[journey].name) {
            for node in journeys[journey].nodes.indices {
                guard let tree = journeys[journey].nodes[node].innerTree,
                    graph.reachable(from: [tree]).contains(journeys[journey].name)
                else { continue }
                stub(journey, node, because: "the journey `\(tree.shortened)` contains this journey, so it would never end")
            }
        }
    }

    /// Makes stubs of the nodes for which the reader of configuration files reports a problem, until it reports none.
    private mutating func stubProblems(_ others: Set<String>) {
        for _ in 0...journeys.map(\.nodes.count).reduce(0, +) {
            let lines = Dictionary(
                problems(others).map { ($0.position.line, $0.message) }, uniquingKeysWith: { first, _ in first })
            guard !lines.isEmpty else { return }
            var isChanged = false
            for journey in journeys.indices {
                for node in journeys[journey].nodes.indices {
                    let converted = journeys[journey].nodes[node]
                    guard let message = lines[converted.line], !converted.isStub else { continue }
                    stub(journey, node, because: message)
                    isChanged = true
                }
                journeys[journey] = reachable(journeys[journey])
            }
            guard isChanged else { return }
        }
    }

    private func problems(_ others: Set<String>) -> [ConfigurationProblem] {
        let made = Set(journeys.map(\.name))
        let unread = others.subtracting(made).subtracting(known.map(\.name)).map { name in
            ImportedJourney(
                name: name, description: nil, isInner: false,
                nodes: [ImportedNode(name: "end", type: SuccessNode.type.name, settings: [], outcomes: [], line: 0)],
                place: ExportPlace(file: ""), line: 0)
        }
        var reader = JourneyReader(NodeContext(), realms: [], besides: known.filter { !made.contains($0.name) })
        _ = reader.trees(MarkedValue(content: .mapping((unread + journeys).map(\.entry)), position: .start))
        return reader.problems
    }

    private mutating func stub(_ journey: Int, _ node: Int, because reason: String) {
        let old = journeys[journey].nodes[node]
        let source = sources[old.line]
        findings.append(
            ImportFinding(
                .stub, at: source?.place ?? journeys[journey].place, journey: journeys[journey].name, node: old.name,
                "node of type \(source?.type ?? old.type) cannot run: \(reason)"))
        journeys[journey].nodes[node] = NodeConverter.stub(
            source?.type ?? old.type, as: old.name, line: old.line,
            targets: Dictionary(old.outcomes.map { ($0.outcome, $0.target) }, uniquingKeysWith: { first, _ in first }),
            because: reason, asks: stubs == .ask)
    }
}

extension ImportedNode {
    /// The journey that the node runs.
    fileprivate var innerTree: String? {
        guard type == InnerTreeEvaluatorNode.type.name else { return nil }
        return settings.first { $0.name == "tree" }?.value.text
    }
}
