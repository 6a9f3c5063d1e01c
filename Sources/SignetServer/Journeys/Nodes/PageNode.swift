import SignetCore
import YAMLText

/// A page with several collectors and, optionally, one last node that asks in one step.
///
/// The outcomes of the last node are the outcomes of the page.
struct PageNode: Node {
    static let type = NodeType(
        "PageNode", "Page",
        "Shows several collectors on one page. `nodes` is a list of them, each with its `type` and properties. The last one can be another node that prompts the user. The page then has its outcomes.",
        outcomes: "those of its last node",
        withContext: { decoder, context in
            var page = PageNode(collectors: [])
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

    var collectors: [any Collector]
    var last: (any Node)?
    var stage: String?
    var header: LocalizedText?
    var description: LocalizedText?
    /// False when a node of the page could not be read, because it might have the outcomes that the file names.
    var hasKnownOutcomes = true

    var outcomes: [NodeOutcome] { last?.outcomes ?? [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let asked = try collectors.map { try $0.callbacks(journey, tx) }
        guard let answers else {
            return try finish(nil, unless: collectors.isEmpty ? nil : asked, &journey, &tx)
        }
        var shown = asked
        var isDone = true
        var offset = 0
        for (index, collector) in collectors.enumerated() {
            let part = answers.part(from: offset, count: asked[index].count)
            offset += asked[index].count
            switch try collector.take(part, &journey, &tx) {
            // The page is shown again when another part of it is not complete: with what the user has entered.
            case .accepted:
                shown[index] = try collector.callbacks(journey, tx).enumerated().map { $1.keeping(part, at: $0) }
            case .retry(let callbacks):
                shown[index] = callbacks
                isDone = false
            case .refuse(let refusal): return .refuse(refusal)
            }
        }
        let rest = answers.part(from: offset)
        // The last node gets answers only when all collectors are done. If it had no callbacks while they were open, it is
        // visited without answers and can ask now.
        return try finish(isDone && !rest.isEmpty ? rest : nil, unless: isDone ? nil : shown, keeping: rest, &journey, &tx)
    }

    /// Runs the last node and returns its result, unless callbacks of the collectors are still open.
    ///
    /// In that case it shows them again together with the callbacks of the last node, which keep the answers that the client has
    /// already given.
    private func finish(
        _ last: Answers?, unless open: [[JourneyCallback]]?, keeping answers: Answers? = nil, _ journey: inout JourneyState,
        _ tx: inout ServerTransaction
    ) throws -> NodeResult {
        let action = try self.last?.process(last, &journey, &tx) ?? .transition(.outcome)
        var shown = try open ?? collectors.map { try $0.callbacks(journey, tx) }
        if case .prompt(let page) = action {
            shown.append(
                page.callbacks.enumerated().map { index, callback in answers.map { callback.keeping($0, at: index) } ?? callback }
            )
        } else if open == nil {
            return action
        }
        return .prompt(
            Page(
                callbacks: shown.flatMap { $0 }, stage: stage, header: header.map { tx.text($0) },
                description: description.map { tx.text($0) }))
    }
}

extension PageNode {
    /// Adds a node if it can be on a page, or else reports why not.
    /// - Returns: True when the node was added.
    fileprivate mutating func add(_ node: any Node, isLast: Bool, _ decoder: inout ConfigurationDecoder) -> Bool {
        if let collector = node as? any Collector {
            collectors.append(collector)
            return true
        }
        if node.interaction == .embeddable, isLast {
            last = node
            return true
        }
        let reason =
            switch node.interaction {
            case .none: "doesn't prompt the user, so it cannot be on a page: connect an outcome of the page to it"
            case .embeddable: "determines the outcomes of the page, so it must be the last one: move it to the end of `nodes`"
            case .ownPage: "needs a page of its own: connect an outcome of this page to it"
            }
        decoder.report(.notEmbeddable, in: "type", "`\(node.type.name)` \(reason)")
        return false
    }
}
