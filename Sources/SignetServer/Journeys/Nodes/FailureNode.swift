/// A node that ends the journey with failure, or the whole login if it has a reason.
struct FailureNode: Node {
    static let type = NodeType(
        "FailureNode", "Failure",
        "Ends the journey with failure, like the target `failure`. With a `reason`, the whole login ends with AM's error for it, also from an inner journey. Only `policyFailure` has `attribute` and `policies`.",
        outcomes: "none"
    ) { Self(reason: $0.failureReason()) }

    /// The error with which the login ends.
    enum Reason: Sendable, Hashable {
        case loginFailure
        case lockedOut
        case policyFailure(String, [AttributePolicy])
    }

    /// The reason; nil to end only the journey.
    ///
    /// If it is an inner journey, the outer one continues.
    var reason: Reason?

    var end: NodeTarget? { .failure }
    var outcomes: [NodeOutcome] { [] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        switch reason {
        case nil: .transition(.outcome)
        case .loginFailure: .fail(type.name)
        case .lockedOut: .refuse(.lockedOut)
        case .policyFailure(let attribute, let policies): .refuse(.policyFailure(attribute, policies))
        }
    }
}

extension ConfigurationDecoder {
    /// Decodes the reason with which a login ends, and the properties that only one of the reasons has.
    fileprivate mutating func failureReason() -> FailureNode.Reason? {
        let reasons: KeyValuePairs<String, FailureNode.Reason> = [
            "loginFailure": .loginFailure, "lockedOut": .lockedOut, "policyFailure": .policyFailure("", []),
        ]
        let reason = optionalChoice("reason", reasons, default: "none: only the journey ends")
        let attribute = string("attribute", "userName")
        let policies = policies("policies")
        if case .policyFailure = reason { return .policyFailure(attribute, policies) }
        // If the reason is not valid, it is unknown which properties belong to it.
        for name in ["attribute", "policies"] where isGiven(name) && (reason != nil || !isGiven("reason")) {
            report(.conflict, in: name, "`\(name)` has no effect without `reason: policyFailure`: add that, or remove `\(name)`")
        }
        return reason
    }
}
