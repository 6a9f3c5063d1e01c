import SignetCore

/// A node that takes a value from the session with which the client started the journey.
struct SessionDataNode: Node {
    static let type = NodeType(
        "SessionDataNode", "Get Session Data",
        "Takes a value from the session that the request came with: `UserToken` is the user's name, and other keys are session properties. The state `username`, or `userName`, lets a journey ask the user of the session for the password alone. Without a session, or without the property, the login fails."
    ) { decoder in
        Self(key: decoder.string("sessionDataKey", Self().key), state: decoder.string("sharedStateKey", Self().state))
    }

    /// The key of AM for the user's name.
    private static let userToken = "UserToken"

    var key = Self.userToken
    /// The name under which later nodes find the value.
    var state = "username"

    var outcomes: [NodeOutcome] { [.outcome] }

    func process(_ answers: Answers?, _ journey: inout JourneyState, _ tx: inout ServerTransaction) throws -> NodeResult {
        guard let token = journey.presentedToken, let session = try tx.session([token.text], in: journey.realm)?.session else {
            return .fail("there is no session to take data from")
        }
        guard let value = key == Self.userToken ? session.user.name : session.properties[key] else {
            return .fail("the session has no property of this name")
        }
        journey.set(.string(value), for: state)
        return .transition(.outcome)
    }
}
