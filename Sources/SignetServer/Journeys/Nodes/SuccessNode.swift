/// A node that ends the journey with success.
///
/// Every tree maps its only outcome to success.
struct SuccessNode: Node {
    static let type = NodeType(
        "SuccessNode", "Success", "Ends the journey with success, like the target `success`.", outcomes: "none"
    ) { _ in Self() }

    var end: NodeTarget? { .success }
    var outcomes: [NodeOutcome] { [] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .transition(.outcome)
    }
}
