import SignetCore

/// A node that stores the collected data for an existing user.
///
/// It also sets the collected password, unless a ``DataStoreDecisionNode`` has compared and removed it. A new password ends the user's
/// sessions and tokens; the journey itself continues and opens a new session.
struct PatchObjectNode: Node {
    static let type = NodeType(
        "PatchObjectNode", "Patch Object",
        "Stores the collected attributes, answers, terms and password of an existing user. A password that a Data Store Decision has compared is not stored. `ignoredFields` are attributes that are not stored, and `password` for the password.",
        ignoring: ["identityResource", "patchAsObject"]
    ) { Self(identityAttribute: $0.identityAttribute(), ignored: Set($0.optionalStrings("ignoredFields") ?? [])) }

    var identityAttribute = UserAttributes.userName
    /// The attributes that are not stored.
    var ignored: Set<String> = []

    var outcomes: [NodeOutcome] { [.patched, .notWritten] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        defer { journey.password = nil }
        guard let user = try tx.directory.user(of: journey, by: identityAttribute) else { return .transition(.notWritten) }
        if let password = journey.password, !ignored.contains("password") {
            try tx.setPassword(password, of: user)
            journey.identified = try tx.identified(user)
        }
        try tx.directory.keep(&journey, of: user, without: ignored)
        return .transition(.patched)
    }
}

extension Directory {
    /// Stores the collected attributes of the user, the answers to security questions, and the version of the accepted terms.
    /// - Parameters:
    ///   - journey: The state of the journey, from which the answers are removed.
    ///   - user: The user.
    ///   - ignored: The attributes that are not stored.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func keep(_ journey: inout JourneyState, of user: UserKey, without ignored: Set<String> = []) throws {
        let stored = journey.objectAttributes ?? []
        for (name, value) in journey.attributes.sorted(by: { $0.key < $1.key })
        where !ignored.contains(name) && (CreateObjectNode.claims[name] != nil || stored.contains(name)) {
            try setAttribute(value, at: name, of: user)
        }
        try keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        if let version = journey.attributes["termsAccepted"]?.string { try acceptTerms(version, user) }
    }
}
