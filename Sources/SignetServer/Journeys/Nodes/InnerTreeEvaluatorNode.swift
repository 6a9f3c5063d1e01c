/// A node that runs another journey inside of the current one.
struct InnerTreeEvaluatorNode: Node {
    static let type = NodeType(
        "InnerTreeEvaluatorNode", "Inner Tree Evaluator",
        "Runs another journey: `true` when it ends with success, `false` when it ends with failure.",
        ignoring: ["displayErrorOutcome"]
    ) { Self(tree: $0.requiredString("tree", kind: "the name of a journey")) }

    var tree: String

    var innerTree: String? { tree }
    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .runInnerTree(tree)
    }
}
