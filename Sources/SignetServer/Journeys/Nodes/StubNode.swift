import HTTPTypes
import SignetCore
import YAMLText

/// A node that stands for one of AM's that this server cannot run.
///
/// `signet serve --import` and `signet journeys convert` create it, so that a journey keeps its form. A login that reaches the
/// node ends with an error that names it, unless the file says how to continue.
struct StubNode: Node {
    static let type = NodeType(
        "StubNode", "Stub",
        "Stands for a node of AM that cannot run here; `signet journeys convert` writes it. A login that reaches it ends with the status 501 and the name of the node, and the server logs the `reason`. With `outcome` the journey continues there, and with `ask: true` the client chooses the outcome in a ChoiceCallback. AM has no such node.",
        outcomes: "those that it names in `outcomes`"
    ) { decoder in
        let outcomes = decoder.value("outcomes", kind: "targets by outcome")?.mapping?.map(\.key) ?? []
        let outcome = decoder.optionalString("outcome", kind: "one of its outcomes", default: "none")
        if let outcome, !outcomes.contains(outcome) {
            decoder.report(
                .unknownName, in: "outcome", "the node has no outcome `\(outcome.shortened)`" + outcomes.suggestion(for: outcome))
        }
        return Self(
            nodeType: decoder.string("nodeType", Self().nodeType), reason: decoder.string("reason", Self().reason),
            asks: decoder.bool("ask", false), chosen: outcome.map { NodeOutcome($0) }, outcomes: outcomes.map { NodeOutcome($0) })
    }

    /// The type of the node in AM.
    var nodeType = "unknown"
    /// The reason why the node cannot run.
    var reason = "this server has no such node"
    /// True when the client chooses the outcome.
    var asks = false
    /// The outcome with which the journey continues; nil when it does not.
    var chosen: NodeOutcome?
    /// The outcomes that AM's node has.
    var outcomes: [NodeOutcome] = []

    /// A node that ends the login is as final as one that waits for the user.
    var interaction: Interaction { chosen == nil ? .ownPage : .none }
    var repeatedOutcomes: [NodeOutcome] { chosen.map { [$0] } ?? [] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        if let chosen { return .transition(chosen) }
        let name = journey.currentNode.nodeID
        guard asks, !outcomes.isEmpty else {
            return .refuse(.cannotRun(node: name, type: nodeType, because: reason, tree: journey.currentNode.tree))
        }
        if let answers, let index = answers.number(0), outcomes.indices.contains(index) { return .transition(outcomes[index]) }
        return .prompt(
            Page(callbacks: [
                .any(
                    "ChoiceCallback",
                    [
                        "prompt": .string("Outcome of \(name) (\(nodeType)), which cannot run here"),
                        "choices": .texts(outcomes.map(\.rawValue)), "defaultChoice": .integer(0),
                    ], ["": .integer(0)])
            ]))
    }
}

extension APIError {
    /// Returns the error of a login that reaches a node that cannot run here.
    /// - Parameters:
    ///   - node: The name of the node.
    ///   - type: The type of the node in AM.
    ///   - reason: The reason for the log.
    ///   - tree: The name of the journey with the node.
    /// - Returns: An error with status 501. AM's clients show its message.
    static func cannotRun(node: String, type: String, because reason: String, tree: String) -> APIError {
        var error = APIError(
            .notImplemented, "node '\(node)' of type \(type) cannot run in signet serve", detail: ["failureUrl": .string("")])
        error.reason = "\(tree), node \(node) of type \(type) cannot run: \(reason)"
        return error
    }
}
