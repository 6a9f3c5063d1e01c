import SignetCore

/// A collector that asks for a password.
struct PasswordCollector: Collector {
    static let type = NodeType("PasswordCollectorNode", "Password Collector", "Asks for the password.") { _ in Self() }

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] { [.password(prompt: "Password")] }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        journey.password = Secret(answers.text(0).utf8)
        return .accepted
    }
}
