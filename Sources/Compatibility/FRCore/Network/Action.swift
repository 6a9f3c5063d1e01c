package import SignetCore

/// The purpose of a request, for interceptors.
public struct Action: Sendable, Hashable {
    /// The name, for example `START_AUTHENTICATE`.
    public let type: String
    private let details: [String: JSONValue]?

    /// Details of the action: `tree` and `type` for the steps of a journey.
    ///
    /// A value that JSON can't express is left out.
    public var payload: [String: Any]? { details?.mapValues(\.any) }

    /// Creates an action.
    public init(type: ActionType, payload: [String: Any]? = nil) {
        self.init(name: type.rawValue, details: payload?.compactMapValues { JSONValue(any: $0) })
    }

    /// Creates an action with a name that may have no ``ActionType``.
    package init(name: String, details: [String: JSONValue]?) {
        type = name
        self.details = details
    }
}

// The names are the ForgeRock SDK's.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The name of a request's purpose.
public enum ActionType: String, Sendable, CaseIterable {
    /// The first request of a journey.
    case START_AUTHENTICATE
    /// A later request of a journey.
    case AUTHENTICATE
    /// The request that resumes a suspended journey.
    case RESUME_AUTHENTICATE
    /// The request for an authorization code.
    case AUTHORIZE
    /// The exchange of a code for tokens.
    case EXCHANGE_TOKEN
    /// The renewal of a token.
    case REFRESH_TOKEN
    /// The revocation of a token.
    case REVOKE_TOKEN
    /// The end of a session.
    case LOGOUT
    /// The registration of a device for push.
    case PUSH_REGISTER
    /// The answer to a push message.
    case PUSH_AUTHENTICATE
    /// The update of the device's push token at a server.
    case PUSH_UPDATE
    /// The request for the claims about the user.
    case USER_INFO
    /// The end of the session that an id_token names.
    case END_SESSION
    /// The removal of a bound device's key at the server.
    case DELETE_BINDING
}
