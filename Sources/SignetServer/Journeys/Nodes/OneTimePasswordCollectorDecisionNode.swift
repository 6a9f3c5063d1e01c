import SignetCore

/// A node that asks for the one-time password of HOTP Generator.
struct OneTimePasswordCollectorDecisionNode: Node {
    static let type = NodeType(
        "OneTimePasswordCollectorDecisionNode", "OTP Collector Decision",
        "Asks for the one-time password of HOTP Generator. A correct one is accepted once, for `passwordExpiryTime` minutes."
    ) { Self(minutes: $0.integer("passwordExpiryTime", 5, in: 1...1440)) }

    /// The time for which the password is valid, in minutes.
    var minutes = 5

    var outcomes: [NodeOutcome] { [.isTrue, .isFalse] }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let answers else { return .prompt(Page(callbacks: [.password(prompt: "One Time Password")])) }
        guard let expected = journey.oneTimePassword else {
            tx.explain("the journey has generated no one-time password")
            return .transition(.isFalse)
        }
        let text = answers.text(0).filter { !$0.isWhitespace }
        let isRight = expected.accepts(text, within: minutes, at: tx.now)
        if !isRight { tx.explain("the one-time password is wrong, or older than \(minutes) minutes") }
        // Without an existing user there is no account that guesses could open: only the journey itself counts them.
        guard let user = journey.user, try tx.directory.contains(user) else {
            if isRight { journey.oneTimePassword = nil }
            return .transition(isRight ? .isTrue : .isFalse)
        }
        switch try tx.check(journey.attempts(.oneTimeCode, of: user), { _ in isRight }) {
        case .wrong: return .transition(.isFalse)
        case .refused(let refusal): return .refuse(refusal)
        case .right:
            journey.oneTimePassword = nil
            journey.identified = try tx.identified(user)
            // The email was read, so later ones are not withheld.
            try tx.pacing.answeredEmail(by: user, at: journey.emailAddress)
            return .transition(.isTrue)
        }
    }
}
