import SignetCore

/// A node that asks for a new password twice.
struct CreatePasswordNode: Node {
    static let type = NodeType(
        "CreatePasswordNode", "Create Password",
        "Asks for a new password and its repetition, until both are the same and long enough. Create Object and Patch Object store it."
    ) { Self(minimumLength: $0.integer("minPasswordLength", 0, in: 0...1024)) }

    var minimumLength = 0

    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .embeddable }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let answers else { return prompt() }
        let (password, repetition) = (answers.text(0), answers.text(1))
        guard password == repetition else { return prompt("The passwords do not match.") }
        guard !password.isEmpty, password.count >= minimumLength else {
            return prompt("The password must have at least \(max(1, minimumLength)) characters.")
        }
        journey.password = Secret(password.utf8)
        return .transition(.outcome)
    }

    private func prompt(_ problem: String? = nil) -> NodeResult {
        let problems = problem.map { [JourneyCallback.text($0, type: 2)] } ?? []
        return .prompt(
            Page(callbacks: [.password(prompt: "Password"), .password(prompt: "Confirm Password")] + problems))
    }
}
