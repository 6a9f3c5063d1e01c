/// Sees each request before it is sent, and may change it: a header that a gateway asks for, a trace. The app brings it.
public protocol RequestInterceptor: Sendable {
    /// The request to send instead; the same one to leave it as it is. What it throws is thrown to who wanted the request
    /// made, and nothing is sent.
    /// - Parameters:
    ///   - request: As it would be sent.
    ///   - action: What the request is for.
    func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest
}

/// What a request is for, by the existing SDKs' names.
public struct RequestAction: Sendable, Hashable {
    /// The name, for example `PUSH_REGISTER`.
    public let name: String
    /// More about it, by the existing SDKs' names: for the steps of a journey `tree` and `type`.
    public let payload: [String: String]

    /// An action by its name.
    public init(name: String, payload: [String: String] = [:]) {
        self.name = name
        self.payload = payload
    }

    /// A device registers for push.
    public static let pushRegister = RequestAction(name: "PUSH_REGISTER")
    /// A push message is answered.
    public static let pushAuthenticate = RequestAction(name: "PUSH_AUTHENTICATE")
    /// A server is told the device's new token.
    public static let pushUpdate = RequestAction(name: "PUSH_UPDATE")
    /// A code is asked for.
    public static let authorize = RequestAction(name: "AUTHORIZE")
    /// A code is exchanged for tokens.
    public static let exchangeToken = RequestAction(name: "EXCHANGE_TOKEN")
    /// A token is renewed.
    public static let refreshToken = RequestAction(name: "REFRESH_TOKEN")
    /// A token is revoked.
    public static let revokeToken = RequestAction(name: "REVOKE_TOKEN")
    /// A session is ended.
    public static let logout = RequestAction(name: "LOGOUT")
    /// The claims about the person are asked for.
    public static let userInfo = RequestAction(name: "USER_INFO")
    /// The session that an id_token names is ended.
    public static let endSession = RequestAction(name: "END_SESSION")
    /// The server's description of itself is asked for.
    public static let wellKnown = RequestAction(name: "WELL_KNOWN")
    /// The server's keys are asked for.
    public static let keys = RequestAction(name: "KEYS")
    /// A login on another device is begun.
    public static let deviceAuthorization = RequestAction(name: "DEVICE_AUTHORIZATION")
    /// A session's own description is asked for.
    public static let sessionInfo = RequestAction(name: "SESSION_INFO")
}

extension [any RequestInterceptor] {
    /// The request as it leaves the last of the interceptors.
    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        for interceptor in self { request = try await interceptor.intercept(request, for: action) }
        return request
    }
}
