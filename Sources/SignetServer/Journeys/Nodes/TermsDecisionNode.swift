/// A node that checks if the user has accepted this version of the terms.
struct TermsDecisionNode: Node {
    static let type = NodeType(
        "TermsAndConditionsDecisionNode", "Terms and Conditions Decision",
        "Checks if the user has accepted this version of the terms."
    ) { Self(version: $0.string("version", Self().version)) }

    var version = TermsCollector().version

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var repeatedOutcomes: [NodeOutcome] { outcomes }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        .transition(try journey.user.flatMap { try tx.directory[$0]?.acceptedTerms } == version ? .isTrue : .isFalse)
    }
}
