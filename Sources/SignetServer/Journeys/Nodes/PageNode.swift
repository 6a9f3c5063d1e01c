import SignetCore
import YAMLText

/// A page with several collectors and, optionally, other nodes that ask in one step.
///
/// A node before the last one has one outcome. The outcomes of the last node are the outcomes of the page.
struct PageNode: Node {
    static let type = NodeType(
        "PageNode", "Page",
        "Shows several collectors on one page. `nodes` is a list of them, each with its `type` and properties. Other nodes with one outcome can be among them. The last one can be another node that prompts the user. The page then has its outcomes.",
        outcomes: "those of its last node",
        withContext: { decoder, context in
            var page = PageNode()
            let children = decoder.elements("nodes", kind: "a list of nodes", of: .part(.node))
            if children.isEmpty, decoder.problems.isEmpty {
                decoder.report(.noNodes, at: decoder.position, "a page needs `nodes`: list its collectors")
            }
            page.hasKnownOutcomes = !children.isEmpty
            for (index, child) in children.enumerated() {
                var part = ConfigurationDecoder(child, subject: decoder.subject.map { "\($0), on the page" })
                let isAdded = part.node(context).map { page.add($0, isLast: index == children.count - 1, &part) }
                if isAdded != true { page.hasKnownOutcomes = false }
                decoder.report(part.finished())
            }
            page.stage = decoder.optionalString("stage")
            page.header = decoder.optionalLocalizedText("pageHeader")
            page.description = decoder.optionalLocalizedText("pageDescription")
            return page
        })

    /// A collector, or another node before the last one.
    enum Part: Sendable {
        case collector(any Collector)
        case node(any Node)
    }

    /// The nodes of the page in order, without ``last``.
    var parts: [Part] = []
    /// The last node when it is not a collector; nil for a page that ends with a collector.
    var last: (any Node)?
    var stage: String?
    var header: LocalizedText?
    var description: LocalizedText?
    /// False when a node of the page could not be read, because it might have the outcomes that the file names.
    var hasKnownOutcomes = true

    var outcomes: [NodeOutcome] { last?.outcomes ?? [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        // After a change of the configuration, the page can have other nodes than the one that the client answers.
        let answers = (journey.partCounts ?? []).count == nodeCount ? answers : nil
        let asked = try answers.map { _ in try callbacks(of: journey, tx) } ?? parts.map { _ in [] }
        journey.partCounts = nil
        // The callbacks to show if the page is shown; nil for a collector without a problem.
        var shown = [[JourneyCallback]?](repeating: nil, count: parts.count)
        var isDone = answers != nil || parts.count == nodeCount
        let given = answers?.parts(counts: asked.map(\.count))
        for (index, part) in parts.enumerated() {
            switch part {
            case .collector(let collector):
                guard let given else { continue }
                switch try collector.take(given[index], &journey, &tx) {
                case .accepted: break
                case .retry(let callbacks):
                    shown[index] = callbacks
                    isDone = false
                case .refuse(let refusal): return .refuse(refusal)
                }
            case .node(let node):
                let own = given?[index]
                shown[index] = asked[index].keeping(own)
                // A node gets its answers when those before it are done.
                guard own == nil || isDone else { continue }
                switch try node.process(own.flatMap { $0.isEmpty ? nil : $0 }, &journey, &tx) {
                case .transition: break
                case .prompt(let page):
                    shown[index] = page.callbacks.keeping(own)
                    isDone = false
                case let end: return end
                }
            }
        }
        // The last node gets answers only when all others are done. If it had no callbacks while they were open, it is visited
        // without answers and can ask now.
        let rest = given?.last
        let result = try last?.process(isDone ? rest.flatMap { $0.isEmpty ? nil : $0 } : nil, &journey, &tx)
        if case .prompt(let page)? = result { return try show(shown, page.callbacks.keeping(rest), given, &journey, tx) }
        if isDone { return result ?? .transition(.outcome) }
        return try show(shown, [], given, &journey, tx)
    }

    /// Returns the page with the callbacks of all its nodes.
    /// - Parameters:
    ///   - parts: The callbacks of the parts; nil for a collector without a problem, which shows what the user has entered.
    ///   - last: The callbacks of the last node.
    ///   - answers: The client's answers to each part, of which choices and visible text are shown again.
    ///   - journey: The state of the journey, which keeps the numbers of callbacks.
    ///   - tx: The state of the server.
    /// - Returns: The page to show.
    /// - Throws: The error of a row that cannot be read, or of the store.
    private func show(
        _ parts: [[JourneyCallback]?], _ last: [JourneyCallback], _ answers: [Answers]?, _ journey: inout JourneyState,
        _ tx: ServerTransaction
    ) throws -> NodeResult {
        var callbacks: [JourneyCallback] = []
        var counts: [Int] = []
        for (index, part) in self.parts.enumerated() {
            switch part {
            case .collector(let collector):
                callbacks += try parts[index] ?? collector.callbacks(journey, tx).keeping(answers?[index])
            case .node:
                callbacks += parts[index] ?? []
                counts.append(parts[index]?.count ?? 0)
            }
        }
        if !counts.isEmpty { journey.partCounts = counts }
        return .prompt(
            Page(
                callbacks: callbacks + last, stage: stage, header: header.map { tx.text($0) },
                description: description.map { tx.text($0) }))
    }
}

extension PageNode {
    /// Creates the page of a collector that has a page of its own.
    init(_ collector: any Collector) { parts = [.collector(collector)] }

    /// The number of nodes before the last one that are not collectors.
    private var nodeCount: Int { parts.count { if case .node = $0 { true } else { false } } }

    /// Returns the callbacks of each part as the client has them.
    ///
    /// A collector makes the same ones again. Those of another node, which a visit can change, are taken from the step.
    /// - Parameters:
    ///   - journey: The state of the journey.
    ///   - tx: The state of the server.
    /// - Returns: The callbacks by part, without those of ``last``.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func callbacks(of journey: JourneyState, _ tx: ServerTransaction) throws -> [[JourneyCallback]] {
        var counts = (journey.partCounts ?? [])[...]
        var offset = 0
        var result: [[JourneyCallback]] = []
        for part in parts {
            switch part {
            case .collector(let collector): result.append(try collector.callbacks(journey, tx))
            case .node:
                result.append(JourneyCallback.unnumbered(journey.asked, from: offset, count: counts.popFirst() ?? 0))
            }
            offset += result.last?.count ?? 0
        }
        return result
    }

    /// Adds a node if it can be on a page, or else reports why not.
    /// - Returns: True when the node was added.
    fileprivate mutating func add(_ node: any Node, isLast: Bool, _ decoder: inout ConfigurationDecoder) -> Bool {
        if let collector = node as? any Collector {
            parts.append(.collector(collector))
            return true
        }
        if isLast, node.interaction == .embeddable {
            last = node
            return true
        }
        if !isLast, node.interaction != .ownPage, node.outcomes.count == 1, node.innerTree == nil, node.end == nil {
            parts.append(.node(node))
            return true
        }
        let reason =
            switch node.interaction {
            case .none: "doesn't prompt the user, so it cannot have the outcomes of a page: connect an outcome of the page to it"
            case .embeddable: "determines the outcomes of the page, so it must be the last one: move it to the end of `nodes`"
            case .ownPage: "needs a page of its own: connect an outcome of this page to it"
            }
        decoder.report(.notEmbeddable, in: "type", "`\(node.type.name)` \(reason)")
        return false
    }
}

extension [JourneyCallback] {
    /// Returns the callbacks with the user's answers as their defaults; nil answers change nothing.
    fileprivate func keeping(_ answers: Answers?) -> [JourneyCallback] {
        guard let answers else { return self }
        return enumerated().map { $1.keeping(answers, at: $0) }
    }
}
