import SignetCore
import YAMLText

/// Nodes that read or change users, and nodes that end a journey.
extension NodeType {
    static let people: [NodeType] = [
        .node(
            "DataStoreDecisionNode", "Data Store Decision",
            "Compares name and password, as they were collected, with the users', and forgets the password."
        ) { _ in DataStoreDecisionNode() },
        .node("AccountLockoutNode", "Account Lockout", "Locks the person out of the end of every journey, or lets them in again.")
        {
            AccountLockoutNode(locks: $0.choice("lockAction", "LOCK", ["LOCK": true, "UNLOCK": false]) ?? true)
        },
        .node(
            "CreateObjectNode", "Create Object",
            "Makes a user of the name, password, attributes, answers and terms that were collected. A name that is taken is a policy failure."
        ) { _ in CreateUserNode() },
        .node(
            "PatchObjectNode", "Patch Object",
            "Keeps attributes, answers, terms and a password that were collected of somebody who is a user; a password that a Data Store Decision compared is forgotten before."
        ) { _ in PatchObjectNode() },
        .node(
            "SetSessionPropertiesNode", "Set Session Properties",
            "Notes texts in the session that the journey ends in, which `getSessionInfo` tells, and says how many minutes a new one is good for."
        ) { reader in
            let properties = reader.pairs("properties").map { ($0.key, $0.value.text ?? "") }
            let minutes = 1...1_000_000
            return SetSessionPropertiesNode(
                wishes: SessionOptions(
                    properties: Dictionary(properties, uniquingKeysWith: { _, last in last }),
                    idleTime: reader.optionalNumber("maxIdleTime", in: minutes, standard: "the server's").map { $0 * 60 },
                    maximumTime: reader.optionalNumber("maxSessionTime", in: minutes, standard: "the server's").map { $0 * 60 }))
        },
    ]

    static let endings: [NodeType] = [
        .node("SuccessNode", "Success", "Ends the journey in success; the outcome target `success` is the same.") { _ in
            SuccessNode()
        },
        .node(
            "FailureNode", "Failure",
            "Ends the journey in failure; the outcome target `failure` is the same. With a `reason` the whole login ends, also from an inner journey, in AM's words for it; `attribute` and `policies` belong to `policyFailure`."
        ) { FailureNode(reason: $0.failureReason()) },
        .node(
            "PassThroughNode", "Pass Through",
            "Lets the journey end in an empty `tokenId` and without a session. AM has no such node."
        ) { _ in PassThroughNode() },
    ]
}

extension SectionReader {
    /// Reads the reason with which a login ends, and the properties that only one of the reasons has.
    fileprivate mutating func failureReason() -> FailureNode.Reason? {
        let reasons: KeyValuePairs<String, FailureNode.Reason> = [
            "loginFailure": .loginFailure, "lockedOut": .lockedOut, "policyFailure": .policyFailure("", []),
        ]
        let reason = optionalChoice("reason", reasons, standard: "none: the journey ends, and no more")
        let attribute = text("attribute", "userName")
        let policies = policies("policies")
        if case .policyFailure = reason { return .policyFailure(attribute, policies) }
        // If the reason is not valid, it is unknown which properties belong to it.
        for name in ["attribute", "policies"] where isGiven(name) && (reason != nil || !isGiven("reason")) {
            note(place(of: name), "`\(name)` means nothing without `reason: policyFailure`: add that, or take `\(name)` out")
        }
        return reason
    }
}
