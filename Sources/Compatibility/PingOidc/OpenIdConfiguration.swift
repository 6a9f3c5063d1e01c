/// The addresses of an OpenID provider.
public struct OpenIdConfiguration: Codable, Sendable {
    /// The authorization endpoint.
    public let authorizationEndpoint: String
    /// The token endpoint.
    public let tokenEndpoint: String
    /// The endpoint with the claims about the user.
    public let userinfoEndpoint: String
    /// The endpoint that ends the session of an ID token.
    public let endSessionEndpoint: String
    /// The revocation endpoint.
    public let revocationEndpoint: String
    /// The endpoint of a Ping provider that ends a session without a browser.
    public let pingEndsessionEndpoint: String?

    private enum CodingKeys: String, CodingKey {
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case userinfoEndpoint = "userinfo_endpoint"
        case endSessionEndpoint = "end_session_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case pingEndsessionEndpoint = "ping_end_idp_session_endpoint"
    }

    /// Creates a configuration from its addresses.
    public init(
        authorizationEndpoint: String, tokenEndpoint: String, userinfoEndpoint: String, endSessionEndpoint: String,
        revocationEndpoint: String, pingEndsessionEndpoint: String? = nil
    ) {
        self.authorizationEndpoint = authorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.userinfoEndpoint = userinfoEndpoint
        self.endSessionEndpoint = endSessionEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.pingEndsessionEndpoint = pingEndsessionEndpoint
    }
}
