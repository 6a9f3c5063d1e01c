import SignetCore

/// A node that asks for a recovery code, and marks a correct one as used.
struct RecoveryCodeCollectorDecisionNode: Node {
    static let type = NodeType(
        "RecoveryCodeCollectorDecisionNode", "Recovery Code Collector Decision",
        "Asks for a recovery code, and marks a correct one as used."
    ) { decoder in
        let kinds: KeyValuePairs<String, DeviceKind> = ["OATH": .oath, "PUSH": .push, "WEB_AUTHN": .webauthn]
        return Self(kind: decoder.choice("recoveryCodeType", "OATH", kinds) ?? .oath)
    }

    var kind: DeviceKind

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let answers else { return .prompt(Page(callbacks: [.name(prompt: "Recovery Code")])) }
        guard let user = journey.user else { return .transition(.isFalse) }
        let code = answers.text(0).filter { !$0.isWhitespace }
        let result = try tx.check(
            journey.attempts(.recoveryCode, of: user), { tx in try tx.devices.redeem(code, for: kind, of: user) })
        switch result {
        case .right: return .transition(.isTrue)
        case .wrong:
            tx.explain("the recovery code is wrong, or was used before")
            return .transition(.isFalse)
        case .refused(let refusal): return .refuse(refusal)
        }
    }
}
