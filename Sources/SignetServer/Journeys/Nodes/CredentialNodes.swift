import SignetCore

/// Asks for one thing: AM's Username Collector and Password Collector.
enum Collector: Sendable, Hashable {
    case username
    case password

    var callback: JourneyCallback {
        switch self {
        case .username: .name(prompt: "User Name")
        case .password: .password(prompt: "Password")
        }
    }

    func take(_ text: String, into journey: inout JourneyState) {
        switch self {
        case .username: journey.username = text
        case .password: journey.password = Secret(text.utf8)
        }
    }
}

/// Several collectors on one page.
struct PageNode: NodeKind {
    var collectors: [Collector]
    var stage = "UsernamePassword"
    var header = "Sign In"
    var description = "With your name and password"

    var name: String { "PageNode" }
    var outcomes: Set<NodeOutcome> { [.outcome] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let answers = visit.answers else {
            return .ask(Page(callbacks: collectors.map(\.callback), stage: stage, header: header, description: description))
        }
        for (index, collector) in collectors.enumerated() { collector.take(answers.text(index), into: &journey) }
        return .leave(.outcome)
    }
}

/// A collector without a page around it.
struct CollectorNode: NodeKind {
    var collector: Collector

    var name: String { collector == .username ? "UsernameCollectorNode" : "PasswordCollectorNode" }
    var outcomes: Set<NodeOutcome> { [.outcome] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        guard let answers = visit.answers else { return .ask(Page(callbacks: [collector.callback])) }
        collector.take(answers.text(0), into: &journey)
        return .leave(.outcome)
    }
}

/// Compares the collected password with the user's, and forgets it.
struct DataStoreDecisionNode: NodeKind {
    var name: String { "DataStoreDecisionNode" }
    var outcomes: Set<NodeOutcome> { [.isTrue, .isFalse] }

    func process(_ visit: NodeVisit, _ journey: inout JourneyState, _ desk: inout DeskState) -> NodeAction {
        defer { journey.password = nil }
        guard let user = journey.user, let password = journey.password else { return .leave(.isFalse) }
        return .leave(desk.directory.accepts(password, of: user) ? .isTrue : .isFalse)
    }
}
