/// A node that creates a user from the collected data.
struct CreateObjectNode: Node {
    static let type = NodeType(
        "CreateObjectNode", "Create Object",
        "Creates a user from the collected name, password, attributes, answers and terms. If the name is taken, the login ends with a policy failure.",
        ignoring: ["identityResource"]
    ) { _ in Self() }

    /// The OpenID Connect claims of the attributes.
    static let claims = UserAttributes.claims

    var outcomes: [NodeOutcome] { [.created, .notWritten] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, !user.name.isEmpty, let password = journey.password else {
            return .transition(.notWritten)
        }
        // The name was not validated if the journey doesn't say so.
        guard user.name.isSafeName else { return .refuse(.policyFailure("userName", [.safeCharacters])) }
        // Another client may have taken the name since it was checked.
        guard try tx.addUser(user, password: password, claims: [:]) else {
            return .refuse(.policyFailure("userName", [.unique]))
        }
        try tx.directory.keep(&journey, of: user)
        return .transition(.created)
    }
}
