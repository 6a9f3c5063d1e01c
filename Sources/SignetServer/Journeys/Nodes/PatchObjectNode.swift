import SignetCore

/// A node that stores the collected data for an existing user.
///
/// It also sets the collected password, unless a ``DataStoreDecisionNode`` has compared and removed it. A new password ends the user's
/// sessions and tokens; the journey itself continues and opens a new session.
struct PatchObjectNode: Node {
    static let type = NodeType(
        "PatchObjectNode", "Patch Object",
        "Stores the collected attributes, answers, terms and password of an existing user. A password that a Data Store Decision has compared is not stored."
    ) { _ in Self() }

    var outcomes: [NodeOutcome] { [.patched, .notWritten] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, try tx.directory.contains(user) else { return .transition(.notWritten) }
        if let password = journey.password {
            try tx.setPassword(password, of: user)
            journey.identified = try tx.identified(user)
        }
        try tx.directory.keep(&journey, of: user)
        return .transition(.patched)
    }
}

extension Directory {
    /// Stores the attributes that are claims, the answers to security questions, and the version of the accepted terms.
    mutating func keep(_ journey: inout JourneyState, of user: UserKey) throws {
        let claims = journey.attributes.compactMap { name, value in CreateObjectNode.claims[name].map { ($0, value) } }
        try merge(Dictionary(claims, uniquingKeysWith: { _, last in last }), into: user)
        try keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        if let version = journey.attributes["termsAccepted"]?.string { try acceptTerms(version, user) }
    }
}
