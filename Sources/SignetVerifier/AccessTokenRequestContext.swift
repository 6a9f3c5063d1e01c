import HTTPTypes
public import Hummingbird

/// A request context with the access token of the request, for the routes behind ``AccessTokenMiddleware``.
public protocol AccessTokenRequestContext: RequestContext {
    /// The access token, which the middleware has verified; nil for a request without the middleware.
    var accessToken: VerifiedAccessToken? { get set }
}

extension AccessTokenRequestContext {
    /// Returns the access token of the request.
    /// - Returns: The access token.
    /// - Throws: `HTTPError` with the status 401 for a route without ``AccessTokenMiddleware``.
    public func requireAccessToken() throws -> VerifiedAccessToken {
        guard let accessToken else { throw HTTPError(.unauthorized) }
        return accessToken
    }
}

/// A request context with the access token and no other content.
public struct BasicAccessTokenRequestContext: AccessTokenRequestContext {
    /// The context of Hummingbird.
    public var coreContext: CoreRequestContextStorage
    /// The access token, which the middleware has verified.
    public var accessToken: VerifiedAccessToken?

    /// Creates a context without a token.
    /// - Parameter source: The source of the request.
    public init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}
