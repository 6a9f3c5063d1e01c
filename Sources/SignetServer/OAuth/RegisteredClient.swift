public import SignetCore

/// An OAuth 2.0 client that is registered at the server.
public struct RegisteredClient: Sendable, Hashable {
    /// The `client_id`.
    public var id: String
    /// The client's secret, in UTF-8; nil for a public client, such as an app on a user's own device, and for a client with
    /// ``keys``.
    public var secret: Secret?
    /// True when the server generates the secret of a client that has neither a ``secret`` nor ``keys``.
    ///
    /// The secret is derived from the key of ``ServerConfiguration/state``: it is the same at every start and on every server that
    /// shares the state. ``DevServer/generatedSecret(of:realm:)`` returns it.
    public var generatesSecret = false
    /// The public keys with which the client authenticates (`private_key_jwt`, RFC 7523 section 2.2).
    ///
    /// A client with keys must sign an assertion with one of them; its ``secret`` isn't accepted.
    public var keys: [JSONWebKey] = []
    /// The client's realm, as a path.
    public var realm = "/"
    /// The name that pages show to users; nil for the ``id``.
    public var name: String?
    /// The logo that pages show to users: an `https` address of an image, or a `data:` URL with one; nil for none.
    public var logo: String?
    /// The allowed redirect URIs.
    ///
    /// A request's URI must match one exactly, but for `http://127.0.0.1/...` and `http://[::1]/...` any port is accepted (RFC
    /// 8252 section 7.3).
    public var redirectURIs: [String]
    /// The allowed redirect URIs after a logout; they match like ``redirectURIs``.
    public var postLogoutRedirectURIs: [String] = []
    /// The address to which the server posts a logout token when a session ends in which the client got tokens (OpenID Connect
    /// Back-Channel Logout 1.0 section 2.2); nil when the client isn't informed.
    ///
    /// It is an `https` address, or `http` with a loopback host, without a fragment; nothing is sent to another one. Tokens of a
    /// client with this address end with the session, unless they have the scope `offline_access`.
    public var backchannelLogoutURI: String?
    /// True when the client requires the claim `sid` in its logout tokens.
    ///
    /// The value changes nothing, because the server sends `sid` in every logout token.
    public var backchannelLogoutSessionRequired = false
    /// The scopes that the client may request.
    ///
    /// It gets all of them when it requests none.
    public var scopes = ["openid", "profile", "email"]
    /// The response types that the client may request.
    public var responseTypes: Set<ResponseType> = [.code, .idToken, .none]
    /// The grants with which the client may get tokens.
    ///
    /// A public client never gets tokens with ``GrantType/clientCredentials`` or ``GrantType/tokenExchange``.
    public var grantTypes: Set<GrantType> = [.authorizationCode, .refreshToken, .deviceCode]
    /// The format of the client's access tokens.
    public var accessTokens = AccessTokenFormat.opaque
    /// The handling of refresh tokens.
    public var refreshTokens = RefreshTokens.rotate()
    /// True when the user is asked for consent.
    ///
    /// A first-party client doesn't need it.
    public var requiresConsent = false
    /// True when an authorization request without a PKCE challenge is rejected.
    public var requiresPKCE = true
    /// True when the client must push its authorization requests (`require_pushed_authorization_requests`, RFC 9126 section 6).
    public var requiresPushedRequests = false
    /// True when the client's tokens must be bound to a key (`dpop_bound_access_tokens`, RFC 9449 section 5.2).
    ///
    /// The tokens of another client are bound when its request has a proof.
    public var requiresDPoP = false
    /// The algorithm that signs the client's id_tokens and logout tokens (`id_token_signed_response_alg`).
    public var idTokenSigningAlgorithm = JWSAlgorithm.rs256
    /// The algorithm that signs the client's access tokens in the format ``AccessTokenFormat/jwt``.
    public var accessTokenSigningAlgorithm = JWSAlgorithm.rs256
    /// The algorithm that signs the responses of `userinfo` (`userinfo_signed_response_alg`); nil for JSON without a signature.
    public var userInfoSigningAlgorithm: JWSAlgorithm?
    /// The resources that the client's access tokens can be for (`resource`, RFC 8707), as absolute URIs.
    ///
    /// The first one is the audience of a token for which the client requests no resource. Without any, tokens are for the ``id``,
    /// as AM's are, and a request with a resource is refused.
    public var audiences: [String] = []
    /// Claims with a fixed value in the id_tokens and JWT access tokens of the client.
    ///
    /// The string `${user.NAME}` stands for the claim `NAME` of the user, and is left out for a user without it.
    public var claims: [String: JSONValue] = [:]
    /// The IDs of the clients that may exchange tokens of this client (`may_act`, RFC 8693 section 4.4).
    ///
    /// The client itself always may, if its ``grantTypes`` have ``GrantType/tokenExchange``.
    public var mayAct: [String] = []
    /// The lifetimes of the client's tokens and codes; nil for ``ServerConfiguration/lifetimes``.
    public var lifetimes: TokenLifetimes?

    /// Creates a client of the top-level realm with the defaults, and lets `configure` change it.
    public init(
        id: String, secret: Secret? = nil, redirectURIs: [String] = [], _ configure: (inout Self) -> Void = { _ in }
    ) {
        self.id = id
        self.secret = secret
        self.redirectURIs = redirectURIs
        configure(&self)
    }

    /// A kind of response of the authorization endpoint (`response_type`).
    public enum ResponseType: String, Sendable, CaseIterable {
        /// An authorization code.
        case code
        /// An id_token in the fragment of the redirect URI, or in a form that is posted there.
        ///
        /// The client gets it only with `prompt=none`, to learn if the session continues and whose it is.
        case idToken = "id_token"
        /// Neither a code nor a token: the client learns only that the request is granted.
        case none
    }

    /// The format of a client's access tokens.
    public enum AccessTokenFormat: String, Sendable, CaseIterable {
        /// A random text, which only this server can describe (`introspect`).
        case opaque
        /// A signed JWT (RFC 9068), which AM calls a client-side token.
        ///
        /// It can be revoked and introspected like an opaque token; a service that checks only its signature doesn't notice the
        /// revocation.
        case jwt
    }

    /// The handling of a client's refresh tokens.
    public enum RefreshTokens: Sendable, Hashable {
        /// The client gets no refresh token.
        case none
        /// The client keeps one refresh token; a renewal returns no new one.
        case reuse
        /// The client gets a new refresh token at each renewal. If a spent token is presented again later than `grace` after it
        /// was spent, all tokens of that login are revoked.
        case rotate(grace: Duration = .zero)
    }
}

/// The lifetimes of tokens and codes, in seconds.
///
/// The defaults are AM's.
public struct TokenLifetimes: Sendable, Hashable {
    /// The lifetime of an authorization code.
    public var authorizationCode = 120
    /// The lifetime of an access token: `expires_in`.
    public var accessToken = 3600
    /// The lifetime of a refresh token, from its issue.
    ///
    /// A token from a rotation starts a new lifetime; a kept token isn't extended.
    public var refreshToken = 604_800
    /// The lifetime of an id_token: from `iat` to `exp`.
    public var idToken = 3600
    /// The lifetime of a device code and its user code.
    public var deviceCode = 300
    /// The time from the push of an authorization request until the browser has to bring it (RFC 9126 section 2.2).
    public var pushedRequest = 60

    /// Creates the default lifetimes and lets `configure` change them.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        configure(&self)
    }
}

/// The clients by realm and ID.
struct ClientRegistry: Sendable {
    private let clients: [ClientKey: RegisteredClient]

    init(_ clients: [RegisteredClient]) {
        self.clients = Dictionary(clients.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
    }

    var all: some Collection<RegisteredClient> { clients.values }

    subscript(key: ClientKey) -> RegisteredClient? { clients[key] }
}

/// The key of a client.
///
/// Two realms can each have a client with the ID `app`.
struct ClientKey: Codable, Sendable, Hashable {
    let realm: RealmPath
    let id: String
}

extension RegisteredClient {
    var key: ClientKey { ClientKey(realm: RealmPath(realm), id: id) }

    /// True when the client can authenticate itself (RFC 6749 section 2.1).
    var isConfidential: Bool { secret != nil || !keys.isEmpty || generatesSecret }

    /// True when the client gets refresh tokens.
    var getsRefreshTokens: Bool { refreshTokens != .none && grantTypes.contains(.refreshToken) }

    /// The name that pages show.
    var shownName: String { name ?? id }

    /// Returns true when a response may be sent to `uri`.
    func mayRedirect(to uri: String) -> Bool { Self.list(redirectURIs, has: uri) }

    /// Returns true when a browser may be redirected to `uri` after a logout.
    func mayReturn(to uri: String) -> Bool { Self.list(postLogoutRedirectURIs, has: uri) }

    private static func list(_ registered: [String], has uri: String) -> Bool {
        guard uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !uri.contains("#") else { return false }
        if registered.contains(uri) { return true }
        guard let portless = withoutLoopbackPort(uri) else { return false }
        return registered.contains { withoutLoopbackPort($0) == portless }
    }

    /// Returns a loopback address without its port; nil for every other address.
    ///
    /// `localhost` doesn't count, because the name may resolve to another address (RFC 8252 section 8.3).
    private static func withoutLoopbackPort(_ uri: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]"] where uri.hasPrefix(host) {
            var rest = uri.dropFirst(host.count)
            if rest.first == ":" {
                let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
                guard UInt16(digits) != nil else { return nil }
                rest = rest.dropFirst(digits.count + 1)
            }
            guard rest.isEmpty || rest.first == "/" || rest.first == "?" else { return nil }
            return host + rest
        }
        return nil
    }
}
