public import SignetCore
public import SignetNetwork

/// The endpoints of an OAuth 2.0 server and the settings for requests to it.
///
/// They come from a ``ServerProfile``, or are given directly for a provider that isn't AM.
///
/// When an endpoint is nil, an operation that needs it requests the address from ``discovery``, or fails when that address is nil
/// too.
public struct OAuthEndpoints: Sendable, Hashable {
    /// The authorization endpoint, which issues codes.
    public var authorize: String?
    /// The token endpoint, which exchanges codes and refresh tokens.
    public var token: String?
    /// The revocation endpoint (RFC 7009).
    public var revoke: String?
    /// The introspection endpoint, which a service asks about the tokens that it receives (RFC 7662).
    ///
    /// Nil for the address in the discovery document.
    public var introspection: String?
    /// The endpoint with the claims about the user.
    public var userInfo: String?
    /// The endpoint that ends the session of an ID token.
    public var endSession: String?
    /// AM's sessions resource: `_action=logout` and `_action=getSessionInfo`.
    public var session: String?
    /// The device authorization endpoint (RFC 8628).
    public var deviceAuthorization: String?
    /// The endpoint that takes the parameters of authorization requests (RFC 9126).
    public var pushedAuthorization: String?
    /// The endpoint that asks a user on another device (OpenID Connect CIBA).
    public var backchannelAuthentication: String?
    /// The address of the server's keys.
    public var jwks: String?
    /// The issuer.
    public var issuer: String?
    /// The address of the discovery document.
    public var discovery: String?
    /// True when the server sends its issuer in each authorization response (RFC 9207).
    public var namesIssuer: Bool
    /// The name of the cookie, and of the header, that contains the session.
    public var cookieName: String
    /// True to store the server's cookies and send them back.
    public var keepsCookies = true
    /// The variant of the protocol that the server implements; nil to recognize it by the server's answers.
    public var dialect: ServerProfile.Dialect?
    /// The pins of the server's public keys.
    ///
    /// The server must present one of these keys. When the set is empty, any valid certificate for the server is accepted.
    public var pins: Set<PublicKeyPin>
    /// The timeout of one request.
    public var timeout: Duration
    /// The policy that decides which of these addresses may use plain `http`.
    public var policy: EndpointPolicy { didSet { checked = [] } }
    /// The methods of client authentication that the discovery document lists for the token endpoint.
    ///
    /// Nil without a document, and for a document without a list.
    private(set) var authenticationMethods: [String]?
    /// True when the discovery document requires pushed authorization requests (RFC 9126 section 5).
    private(set) var requiresPushedRequests = false
    /// The algorithms of signed authentication requests that the discovery document lists (OpenID Connect CIBA section 4).
    private(set) var backchannelSigningAlgs: Set<String> = []
    /// The signature algorithms of ID tokens that the discovery document lists.
    ///
    /// Empty without a document, and for a document without a list.
    private(set) var idTokenSigningAlgs: Set<String> = []
    /// The addresses that were checked with the profile.
    ///
    /// A replaced address is checked when it is used.
    private(set) var checked: Set<String> = []

    /// Creates endpoints from addresses.
    public init(
        authorize: String? = nil, token: String? = nil, revoke: String? = nil, userInfo: String? = nil,
        endSession: String? = nil, session: String? = nil, deviceAuthorization: String? = nil,
        pushedAuthorization: String? = nil, backchannelAuthentication: String? = nil, jwks: String? = nil,
        issuer: String? = nil, discovery: String? = nil, namesIssuer: Bool = false,
        cookieName: String = "iPlanetDirectoryPro", pins: Set<PublicKeyPin> = [],
        timeout: Duration = HTTPRequest.defaultTimeout, policy: EndpointPolicy = .secure
    ) {
        self.authorize = authorize
        self.token = token
        self.revoke = revoke
        self.userInfo = userInfo
        self.endSession = endSession
        self.session = session
        self.deviceAuthorization = deviceAuthorization
        self.pushedAuthorization = pushedAuthorization
        self.backchannelAuthentication = backchannelAuthentication
        self.jwks = jwks
        self.issuer = issuer
        self.discovery = discovery
        self.namesIssuer = namesIssuer
        self.cookieName = cookieName
        self.pins = pins
        self.timeout = timeout
        self.policy = policy
    }

    /// Creates the endpoints of a profile: its overrides, the discovered addresses, and the default addresses of AM.
    ///
    /// When the profile has an override for ``ServerEndpoint/discovery`` and wasn't discovered yet, the addresses are requested
    /// from there and the default addresses aren't used.
    public init(_ profile: ServerProfile) {
        let isToBeDiscovered = profile.discovered == nil && profile.endpoints[.discovery] != nil
        func address(_ endpoint: ServerEndpoint) -> String? {
            isToBeDiscovered ? profile.knownAddress(of: endpoint) : profile.address(of: endpoint)
        }
        // A provider whose document names no such endpoint has none.
        func optional(_ endpoint: ServerEndpoint) -> String? {
            profile.discovered == nil ? address(endpoint) : profile.knownAddress(of: endpoint)
        }
        self.init(
            authorize: address(.authorize), token: address(.token),
            // OpenAM revokes at the default address, which its discovery document omits (protocol/journey.md section 8.4). Where an
            // answer has shown the OpenAM, `AuthorizationServerClient.revoke(_:)` finds the address.
            revoke: profile.dialect == .openAM ? profile.address(of: .revoke) : address(.revoke),
            userInfo: address(.userInfo), endSession: address(.endSession), session: profile.address(of: .session),
            deviceAuthorization: address(.deviceCode), pushedAuthorization: optional(.pushedAuthorization),
            backchannelAuthentication: optional(.backchannelAuthentication), jwks: address(.jwks), issuer: profile.issuer,
            discovery: profile.address(of: .discovery), namesIssuer: profile.discovered?.namesIssuer ?? false,
            cookieName: profile.cookieName, pins: profile.pins, timeout: profile.timeout, policy: profile.policy)
        keepsCookies = profile.keepsCookies
        dialect = profile.dialect
        introspection = profile.discovered?.introspection
        authenticationMethods = profile.discovered?.authenticationMethods
        idTokenSigningAlgs = profile.discovered?.idTokenSigningAlgs ?? []
        requiresPushedRequests = profile.discovered?.requiresPushedRequests ?? false
        backchannelSigningAlgs = profile.discovered?.backchannelSigningAlgs ?? []
        if profile.endpoints[.endSession] == nil, let found = profile.discovered {
            endSession = found.endSession(for: profile.client) ?? endSession
        }
        checked = Set(
            [
                authorize, token, revoke, introspection, userInfo, endSession, session, deviceAuthorization,
                pushedAuthorization, backchannelAuthentication, jwks,
            ].compactMap(\.self))
    }

    /// Returns the endpoints, with the missing addresses filled in from the discovery document.
    func completed(by found: ProviderDescription, for client: OAuthClient?) -> OAuthEndpoints {
        var all = self
        func fill(_ address: WritableKeyPath<OAuthEndpoints, String?>, _ found: String?) {
            if all[keyPath: address] == nil { all[keyPath: address] = found }
        }
        fill(\.authorize, found.addresses[.authorize])
        fill(\.token, found.addresses[.token])
        fill(\.revoke, found.addresses[.revoke])
        fill(\.introspection, found.introspection)
        fill(\.userInfo, found.addresses[.userInfo])
        fill(\.endSession, found.endSession(for: client))
        fill(\.deviceAuthorization, found.addresses[.deviceCode])
        fill(\.pushedAuthorization, found.addresses[.pushedAuthorization])
        fill(\.backchannelAuthentication, found.addresses[.backchannelAuthentication])
        fill(\.jwks, found.addresses[.jwks])
        fill(\.issuer, found.issuer)
        all.namesIssuer = namesIssuer || found.namesIssuer
        all.authenticationMethods = found.authenticationMethods
        all.idTokenSigningAlgs = found.idTokenSigningAlgs
        all.requiresPushedRequests = found.requiresPushedRequests
        all.backchannelSigningAlgs = found.backchannelSigningAlgs
        return all
    }
}

extension ProviderDescription {
    /// Returns the address that ends the session of an ID token.
    ///
    /// Ping's own address needs no browser, so it takes precedence when the client has no sign-out redirect URI
    /// (protocol/journey.md section 5.4).
    fileprivate func endSession(for client: OAuthClient?) -> String? {
        (client?.signOutRedirectURI == nil ? providerEndSession : nil) ?? addresses[.endSession]
    }
}
