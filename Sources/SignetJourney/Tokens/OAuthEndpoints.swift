public import SignetCore
public import SignetNetwork

/// The addresses of an OAuth 2.0 server, and how it is to be spoken to.
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
    /// The keys of which the server must have one; none for whoever its certificate is valid for.
    public var pins: Set<PublicKeyPin>
    /// How long a request may take.
    public var timeout: Duration
    /// Which of these addresses may be plain `http`.
    public var policy: EndpointPolicy

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

    /// The same addresses, and those of the server's own description for what is missing.
    package func completed(by document: [String: JSONValue]) -> OAuthEndpoints {
        var all = self
        func fill(_ address: WritableKeyPath<OAuthEndpoints, String?>, _ names: String...) {
            if all[keyPath: address] == nil { all[keyPath: address] = names.lazy.compactMap { document[$0]?.string }.first }
        }
        fill(\.authorize, "authorization_endpoint")
        fill(\.token, "token_endpoint")
        fill(\.revoke, "revocation_endpoint")
        fill(\.userInfo, "userinfo_endpoint")
        fill(\.endSession, "end_session_endpoint", "ping_end_idp_session_endpoint")
        fill(\.deviceAuthorization, "device_authorization_endpoint")
        fill(\.jwks, "jwks_uri")
        fill(\.issuer, "issuer")
        if document["authorization_response_iss_parameter_supported"]?.bool == true { all.namesIssuer = true }
        return all
    }
}
