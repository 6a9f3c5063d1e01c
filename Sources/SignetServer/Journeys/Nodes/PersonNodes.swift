import SignetCore

/// Makes a user of what was collected.
struct CreateUserNode: NodeKind {
    /// Which claim an attribute is told as.
    static let claims = ["mail": "email", "givenName": "given_name", "sn": "family_name"]

    var name: String { "CreateObjectNode" }
    var outcomes: [NodeOutcome] { [.created, .notWritten] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, !user.name.isEmpty, let password = journey.password else { return .leave(.notWritten) }
        // Somebody else may have taken the name since it was looked at.
        guard tx.directory.add(user, password: password, claims: [:]) else {
            return .refuse(.policyFailure("userName", [.unique]))
        }
        tx.directory.keep(&journey, of: user)
        return .leave(.created)
    }
}

/// Keeps what was collected of somebody who is a user already: a password too, unless a Data Store Decision has compared it.
struct PatchObjectNode: NodeKind {
    var name: String { "PatchObjectNode" }
    var outcomes: [NodeOutcome] { [.patched, .notWritten] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, tx.directory.contains(user) else { return .leave(.notWritten) }
        if let password = journey.password { tx.directory.setPassword(password, of: user) }
        tx.directory.keep(&journey, of: user)
        return .leave(.patched)
    }
}

extension Directory {
    /// Keeps the attributes that are claims, the answers to questions, and which terms were accepted.
    fileprivate mutating func keep(_ journey: inout JourneyState, of user: UserKey) {
        let claims = journey.attributes.compactMap { name, value in CreateUserNode.claims[name].map { ($0, value) } }
        merge(Dictionary(claims, uniquingKeysWith: { _, last in last }), into: user)
        keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        if let version = journey.attributes["termsAccepted"]?.string { acceptTerms(version, user) }
    }
}

/// Notes something in the session that the journey ends in.
struct SetSessionPropertiesNode: NodeKind {
    var wishes: SessionOptions

    var name: String { "SetSessionPropertiesNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.session.properties.merge(wishes.properties) { $1 }
        journey.session.idleTime = wishes.idleTime ?? journey.session.idleTime
        journey.session.maximumTime = wishes.maximumTime ?? journey.session.maximumTime
        return .leave(.outcome)
    }
}

/// Lets a journey end with an empty token: who walked it is known, and has no session.
struct PassThroughNode: NodeKind {
    var name: String { "PassThroughNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.passesThrough = true
        return .leave(.outcome)
    }
}

/// Ends the journey in success. That its one outcome does so is in every tree.
struct SuccessNode: NodeKind {
    var name: String { "SuccessNode" }
    var outcomes: [NodeOutcome] { [] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .leave(.outcome)
    }
}

/// Ends the journey in failure, or the whole login if it says why.
struct FailureNode: NodeKind {
    /// In whose words the login ends.
    enum Reason: Sendable, Hashable {
        case loginFailure
        case lockedOut
        case policyFailure(String, [AttributePolicy])
    }

    /// Nil when the journey ends and no more: of an inner one the outer one goes on.
    var reason: Reason?

    var name: String { "FailureNode" }
    var outcomes: [NodeOutcome] { [] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        switch reason {
        case nil: .leave(.outcome)
        case .loginFailure: .fail(name)
        case .lockedOut: .refuse(.lockedOut)
        case .policyFailure(let attribute, let policies): .refuse(.policyFailure(attribute, policies))
        }
    }
}
