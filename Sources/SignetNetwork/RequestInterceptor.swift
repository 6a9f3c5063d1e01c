/// Sees each request before it is sent, and may change it: a header that a gateway asks for, a trace. The app brings it.
public protocol RequestInterceptor: Sendable {
    /// The request to send instead; the same one to leave it as it is. What it throws is thrown to who wanted the request
    /// made, and nothing is sent.
    /// - Parameter action: What the request is for.
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
}

extension [any RequestInterceptor] {
    /// The request as it leaves the last of the interceptors.
    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
        var request = request
        for interceptor in self { request = try await interceptor.intercept(request, for: action) }
        return request
    }
}
