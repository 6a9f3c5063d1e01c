/// An app's hook that sees each request before it is sent and may change it, for example to add a gateway's header or a trace ID.
public protocol RequestInterceptor: Sendable {
    /// Inspects a request before it is sent, and can change or cancel it.
    /// - Parameters:
    ///   - request: The request that would be sent.
    ///   - action: The purpose of the request.
    /// - Returns: The request to send: the given one, or a changed one.
    /// - Throws: Any error, which cancels the request. The request's caller receives it.
    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest
}

/// The purpose of a request, by the names of the ForgeRock SDKs.
public struct RequestAction: Sendable, Hashable {
    /// The name, for example `PUSH_REGISTER`.
    public let name: String
    /// The details of the action, by the names of the ForgeRock SDKs.
    ///
    /// For the steps of a journey these are `tree` and `type`.
    public let payload: [String: String]

    /// Creates an action with a name.
    public init(name: String, payload: [String: String] = [:]) {
        self.name = name
        self.payload = payload
    }

    /// The registration of a device for push.
    public static let pushRegister = RequestAction(name: "PUSH_REGISTER")
    /// The answer to a push message.
    public static let pushAuthenticate = RequestAction(name: "PUSH_AUTHENTICATE")
    /// The update of the device's push token at a server.
    public static let pushUpdate = RequestAction(name: "PUSH_UPDATE")
    /// The connection to a server's push stream or to a push gateway, and the request for its nonce.
    public static let pushStream = RequestAction(name: "PUSH_STREAM")
    /// The request for an authorization code.
    public static let authorize = RequestAction(name: "AUTHORIZE")
    /// The exchange of a code for tokens.
    public static let exchangeToken = RequestAction(name: "EXCHANGE_TOKEN")
    /// The renewal of a token.
    public static let refreshToken = RequestAction(name: "REFRESH_TOKEN")
    /// The revocation of a token.
    public static let revokeToken = RequestAction(name: "REVOKE_TOKEN")
    /// The question of a service about a token that it received (RFC 7662).
    public static let introspectToken = RequestAction(name: "INTROSPECT_TOKEN")
    /// The end of a session.
    public static let logout = RequestAction(name: "LOGOUT")
    /// The request for the claims about the user.
    public static let userInfo = RequestAction(name: "USER_INFO")
    /// The end of the session that an id_token names.
    public static let endSession = RequestAction(name: "END_SESSION")
    /// The request for the server's OpenID configuration.
    public static let wellKnown = RequestAction(name: "WELL_KNOWN")
    /// The request for the server's keys.
    public static let keys = RequestAction(name: "KEYS")
    /// The start of a login on another device.
    public static let deviceAuthorization = RequestAction(name: "DEVICE_AUTHORIZATION")
    /// The push of the parameters of an authorization request.
    public static let pushedAuthorization = RequestAction(name: "PUSHED_AUTHORIZATION")
    /// The request to ask a user on another device.
    public static let backchannelAuthentication = RequestAction(name: "BACKCHANNEL_AUTHENTICATION")
    /// The request for the details of a session.
    public static let sessionInfo = RequestAction(name: "SESSION_INFO")
    /// The request that lists, renames or removes a device of the user.
    public static let userDevices = RequestAction(name: "USER_DEVICES")
}

extension [any RequestInterceptor] {
    /// Passes a request through all interceptors in order and returns the result.
    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        for interceptor in self { request = try await interceptor.intercept(request, for: action) }
        return request
    }
}
