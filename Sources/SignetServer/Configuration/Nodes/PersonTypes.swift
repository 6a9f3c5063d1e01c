import SignetCore

/// Nodes that know people, and those that end a journey.
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
            "Keeps attributes, answers and terms that were collected of somebody who is a user."
        ) { _ in PatchObjectNode() },
        .node(
            "SetSessionPropertiesNode", "Set Session Properties",
            "Notes texts in the session that the journey ends in, which `getSessionInfo` tells, and says how many minutes a new one is good for."
        ) { reader in
            let properties = reader.pairs("properties").map { ($0.key, $0.value.text ?? "") }
            let minutes = 1...1_000_000
            return SetSessionPropertiesNode(
                wishes: SessionWishes(
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
            "Ends the journey in failure; the outcome target `failure` is the same. With a `reason` the whole login ends, in AM's words for it."
        ) { reader in
            let reasons: KeyValuePairs<String, Int> = ["loginFailure": 0, "lockedOut": 1, "policyFailure": 2]
            let reason = reader.choice("reason", "loginFailure", reasons)
            let attribute = reader.text("attribute", "userName")
            let policies = reader.policies("policies")
            return switch reason {
            case 1: FailureNode(refusal: Refusal.lockedOut)
            case 2: FailureNode(refusal: Refusal.policyFailure(attribute, policies))
            default: FailureNode()
            }
        },
        .node(
            "PassThroughNode", "Pass Through",
            "Lets the journey end in an empty `tokenId` and without a session. AM has no such node."
        ) { _ in PassThroughNode() },
    ]
}
