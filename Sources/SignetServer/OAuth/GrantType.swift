extension RegisteredClient {
    /// A grant with which a client gets tokens (`grant_type`).
    public enum GrantType: String, Sendable, Hashable, CaseIterable {
        /// The code of a login in a browser (RFC 6749 section 4.1).
        case authorizationCode = "authorization_code"
        /// A refresh token (RFC 6749 section 6).
        case refreshToken = "refresh_token"
        /// The approval of a device without a browser (RFC 8628).
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
        /// The client's own authentication, without a user (RFC 6749 section 4.4).
        case clientCredentials = "client_credentials"
        /// Another token (RFC 8693).
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
        /// The approval of a user on a device of theirs, which the client asks for (CIBA).
        case backchannel = "urn:openid:params:grant-type:ciba"
    }
}

extension RegisteredClient.GrantType {
    /// True when only a client that authenticates itself may use the grant.
    var needsConfidentialClient: Bool {
        switch self {
        case .clientCredentials, .tokenExchange, .backchannel: true
        case .authorizationCode, .refreshToken, .deviceCode: false
        }
    }
}
