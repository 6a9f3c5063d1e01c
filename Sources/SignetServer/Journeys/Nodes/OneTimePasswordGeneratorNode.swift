/// A node that generates a one-time password, which OTP Email Sender sends and OTP Collector Decision asks for.
struct OneTimePasswordGeneratorNode: Node {
    static let type = NodeType(
        "OneTimePasswordGeneratorNode", "HOTP Generator",
        "Generates a one-time password of random digits. OTP Email Sender sends it, and OTP Collector Decision asks for it. It replaces an earlier one."
    ) { Self(length: $0.integer("length", 8, in: 6...32)) }

    /// The number of digits.
    var length = 8

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        journey.oneTimePassword = OneTimePassword(length: length, at: tx.now)
        return .transition(.outcome)
    }
}
