public import SignetOAuth

/// The way in which a service verifies access tokens.
public struct TokenVerification: Sendable {
    /// The ways.
    enum Method: Sendable {
        case keys
        case introspection(client: OAuthClient, lifetime: Duration)
    }

    let method: Method

    /// The tokens are JWTs, whose signatures are verified with the keys of the provider (RFC 9068).
    ///
    /// No request is sent for a token. A token that the provider revokes is accepted until it expires.
    public static let keys = TokenVerification(method: .keys)

    /// The provider is asked about each token (RFC 7662).
    ///
    /// A token that the provider revokes is accepted until the memory of its answer ends.
    /// - Parameters:
    ///   - clientID: The ID of the client as which the service asks.
    ///   - authentication: The authentication of that client.
    ///   - lifetime: The time for which an answer is remembered; zero to ask for each request.
    /// - Returns: The way.
    public static func introspection(
        clientID: String, authentication: ClientAuthentication, rememberedFor lifetime: Duration = .seconds(30)
    ) -> TokenVerification {
        let client = OAuthClient(clientID: clientID, redirectURI: "", scopes: [], authentication: authentication)
        return TokenVerification(method: .introspection(client: client, lifetime: lifetime))
    }

    /// The client as which the service asks the provider; nil when it asks nothing.
    var client: OAuthClient? {
        if case .introspection(let client, _) = method { client } else { nil }
    }
}
