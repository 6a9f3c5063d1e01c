import SignetCore

/// A collector that asks for the user's name.
struct UsernameCollector: Collector {
    static let type = NodeType("UsernameCollectorNode", "Username Collector", "Asks for the user's name.") { _ in Self() }

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] { [.name(prompt: "User Name")] }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> CollectorResult {
        let name = answers.text(0).trimming(" ")
        journey.username = try tx.directory.user(named: String(name), in: journey.realm)?.name ?? String(name)
        return .accepted
    }
}
