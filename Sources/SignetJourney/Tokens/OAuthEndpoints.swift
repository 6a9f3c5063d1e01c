public import SignetCore
public import SignetNetwork

/// The addresses of an OAuth 2.0 server, and how it is to be spoken to: made of a ``ServerProfile``, or as given for a provider that
/// is no AM.
///
/// An address that is nil is not there: what needs it says so, or, where ``discovery`` is known, asks the server for it.
public struct OAuthEndpoints: Sendable, Hashable {
    /// Where codes come from.
    public var authorize: String?
    /// Where codes and refresh tokens are exchanged.
    public var token: String?
    /// Where tokens are revoked (RFC 7009).
    public var revoke: String?
    /// Where the claims about the person are.
    public var userInfo: String?
    /// Where a session is ended by its id_token.
    public var endSession: String?
    /// AM's sessions: `_action=logout` and `_action=getSessionInfo`.
    public var session: String?
    /// Where logins on another device begin (RFC 8628).
    public var deviceAuthorization: String?
    /// Where the server's keys are.
    public var jwks: String?
    /// Who the server says it is.
    public var issuer: String?
    /// Where the server describes itself.
    public var discovery: String?
    /// Whether the server promises to say who it is in each answer of the authorization endpoint (RFC 9207).
    public var namesIssuer: Bool
    /// The cookie, and the header, that carries the session.
    public var cookieName: String
    /// Whether the cookies that the server sets are kept and sent back.
    public var keepsCookies = true
    /// Which server it is, where servers of one protocol differ.
    public var dialect = ServerProfile.Dialect.accessManager
    /// The keys of which the server must have one; none for whoever its certificate is valid for.
    public var pins: Set<PublicKeyPin>
    /// How long a request may take.
    public var timeout: Duration
    /// Which of these addresses may be plain `http`.
    public var policy: EndpointPolicy { didSet { checked = [] } }
    /// Those that were checked with the profile; what is put in their place is checked when it is used.
    private(set) var checked: Set<String> = []

    /// Addresses as given.
    public init(
        authorize: String? = nil, token: String? = nil, revoke: String? = nil, userInfo: String? = nil,
        endSession: String? = nil, session: String? = nil, deviceAuthorization: String? = nil, jwks: String? = nil,
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
        self.jwks = jwks
        self.issuer = issuer
        self.discovery = discovery
        self.namesIssuer = namesIssuer
        self.cookieName = cookieName
        self.pins = pins
        self.timeout = timeout
        self.policy = policy
    }

    /// The addresses of a profile: its overrides, what its discovery found, and the usual ones of an AM. A profile that names an
    /// address for ``ServerEndpoint/discovery`` and was not discovered yet has the server asked there in place of the usual ones.
    public init(_ profile: ServerProfile) {
        let isToBeDiscovered = profile.discovered == nil && profile.endpoints[.discovery] != nil
        func address(_ endpoint: ServerEndpoint) -> String? {
            isToBeDiscovered ? profile.knownAddress(of: endpoint) : profile.address(of: endpoint)
        }
        self.init(
            authorize: address(.authorize), token: address(.token),
            // OpenAM's own word for this one does not hold.
            revoke: profile.dialect == .openAM ? profile.address(of: .revoke) : address(.revoke),
            userInfo: address(.userInfo), endSession: address(.endSession), session: profile.address(of: .session),
            deviceAuthorization: address(.deviceCode), jwks: address(.jwks), issuer: profile.issuer,
            discovery: profile.address(of: .discovery), namesIssuer: profile.discovered?.namesIssuer ?? false,
            cookieName: profile.cookieName, pins: profile.pins, timeout: profile.timeout, policy: profile.policy)
        keepsCookies = profile.keepsCookies
        dialect = profile.dialect
        if profile.endpoints[.endSession] == nil, let found = profile.discovered {
            endSession = found.endSession(for: profile.client) ?? endSession
        }
        checked = Set([authorize, token, revoke, userInfo, endSession, session, deviceAuthorization, jwks].compactMap(\.self))
    }

    /// The same addresses, and those of the server's own description for what is missing.
    func completed(by found: ProviderDescription, for client: OAuthClient?) -> OAuthEndpoints {
        var all = self
        func fill(_ address: WritableKeyPath<OAuthEndpoints, String?>, _ found: String?) {
            if all[keyPath: address] == nil { all[keyPath: address] = found }
        }
        fill(\.authorize, found.addresses[.authorize])
        fill(\.token, found.addresses[.token])
        fill(\.revoke, found.addresses[.revoke])
        fill(\.userInfo, found.addresses[.userInfo])
        fill(\.endSession, found.endSession(for: client))
        fill(\.deviceAuthorization, found.addresses[.deviceCode])
        fill(\.jwks, found.addresses[.jwks])
        fill(\.issuer, found.issuer)
        all.namesIssuer = namesIssuer || found.namesIssuer
        return all
    }
}

extension ProviderDescription {
    /// Where a session ends by its id_token. Ping's address of its own needs no browser, so it goes first where the client has
    /// no page for one to come back to (protocol/journey.md section 5.4).
    fileprivate func endSession(for client: OAuthClient?) -> String? {
        (client?.signOutRedirectURI == nil ? providerEndSession : nil) ?? addresses[.endSession]
    }
}
