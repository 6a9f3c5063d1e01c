import SignetCore

/// A node that creates a user from the collected data.
struct CreateUserNode: Node {
    /// The OpenID Connect claims of the attributes.
    static let claims = ["mail": "email", "givenName": "given_name", "sn": "family_name"]

    var name: String { "CreateObjectNode" }
    var outcomes: [NodeOutcome] { [.created, .notWritten] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, !user.name.isEmpty, let password = journey.password else {
            return .transition(.notWritten)
        }
        // Another client may have taken the name since it was checked.
        guard tx.directory.add(user, password: password, claims: [:]) else {
            return .refuse(.policyFailure("userName", [.unique]))
        }
        tx.directory.keep(&journey, of: user)
        return .transition(.created)
    }
}

/// A node that stores the collected data for an existing user. It also sets the collected password, unless a
/// ``DataStoreDecisionNode`` has compared and removed it.
struct PatchObjectNode: Node {
    var name: String { "PatchObjectNode" }
    var outcomes: [NodeOutcome] { [.patched, .notWritten] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        defer { journey.password = nil }
        guard let user = journey.user, tx.directory.contains(user) else { return .transition(.notWritten) }
        if let password = journey.password { tx.directory.setPassword(password, of: user) }
        tx.directory.keep(&journey, of: user)
        return .transition(.patched)
    }
}

extension Directory {
    /// Stores the attributes that are claims, the answers to security questions, and the version of the accepted terms.
    fileprivate mutating func keep(_ journey: inout JourneyState, of user: UserKey) {
        let claims = journey.attributes.compactMap { name, value in CreateUserNode.claims[name].map { ($0, value) } }
        merge(Dictionary(claims, uniquingKeysWith: { _, last in last }), into: user)
        keep(journey.securityAnswers, of: user)
        journey.securityAnswers = [:]
        if let version = journey.attributes["termsAccepted"]?.string { acceptTerms(version, user) }
    }
}

/// A node that sets properties and time limits of the session that the journey creates.
struct SetSessionPropertiesNode: Node {
    var wishes: SessionOptions

    var name: String { "SetSessionPropertiesNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.session.properties.merge(wishes.properties) { $1 }
        journey.session.idleTime = wishes.idleTime ?? journey.session.idleTime
        journey.session.maximumTime = wishes.maximumTime ?? journey.session.maximumTime
        return .transition(.outcome)
    }
}

/// A node that makes the journey end with an empty token. The user is identified but gets no session.
struct PassThroughNode: Node {
    var name: String { "PassThroughNode" }
    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        journey.passesThrough = true
        return .transition(.outcome)
    }
}

/// A node that ends the journey with success. Every tree maps its only outcome to success.
struct SuccessNode: Node {
    var name: String { "SuccessNode" }
    var outcomes: [NodeOutcome] { [] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        .transition(.outcome)
    }
}

/// A node that ends the journey with failure, or the whole login if it has a reason.
struct FailureNode: Node {
    /// The error with which the login ends.
    enum Reason: Sendable, Hashable {
        case loginFailure
        case lockedOut
        case policyFailure(String, [AttributePolicy])
    }

    /// The reason; nil to end only the journey. If it is an inner journey, the outer one continues.
    var reason: Reason?

    var name: String { "FailureNode" }
    var outcomes: [NodeOutcome] { [] }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        switch reason {
        case nil: .transition(.outcome)
        case .loginFailure: .fail(name)
        case .lockedOut: .refuse(.lockedOut)
        case .policyFailure(let attribute, let policies): .refuse(.policyFailure(attribute, policies))
        }
    }
}
