import SignetCore

/// A node that raises or lowers the authentication level of the journey.
struct ModifyAuthLevelNode: Node {
    static let type = NodeType(
        "ModifyAuthLevelNode", "Modify Auth Level",
        "Adds a number to the authentication level of the journey, which begins with 0 and is the state `authLevel`. Auth Level Decision compares it."
    ) { Self(increment: $0.integer("authLevelIncrement", 0, in: -1000...1000)) }

    var increment = 0

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        let (level, isTooLarge) = journey.authLevel.addingReportingOverflow(Int64(increment))
        if !isTooLarge { journey.set(.integer(level), for: JourneyState.authLevelName) }
        return .transition(.outcome)
    }
}

extension JourneyState {
    /// The name of the authentication level in the state.
    static let authLevelName = "authLevel"

    /// The authentication level of the journey.
    var authLevel: Int64 { value(Self.authLevelName)?.lenientInteger ?? 0 }
}
