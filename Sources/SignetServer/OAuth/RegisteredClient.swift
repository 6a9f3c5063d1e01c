public import SignetCore

/// An OAuth 2.0 client that the server knows.
public struct RegisteredClient: Sendable, Hashable {
    /// The `client_id`.
    public var id: String
    /// The client's secret, in UTF-8; nil for a public client, which every app on somebody's own machine is.
    public var secret: Secret?
    /// The realm the client lives in, as a path.
    public var realm = "/"
    /// Where answers may be sent. An address must be repeated to the letter, but of `http://127.0.0.1/...` and `http://[::1]/...`
    /// any port is taken (RFC 8252 section 7.3).
    public var redirectURIs: [String]
    /// Where a browser may be sent after it was logged out; as for ``redirectURIs``.
    public var postLogoutRedirectURIs: [String] = []
    /// What the client may ask for, and what it gets when it asks for nothing.
    public var scopes = ["openid", "profile", "email"]
    /// What happens to refresh tokens.
    public var refreshTokens = RefreshTokens.rotated()
    /// Whether the person is asked before the client gets anything. A first-party client need not ask.
    public var asksConsent = false
    /// Whether an authorization request without a PKCE challenge is refused.
    public var requiresProofKey = true
    /// How long what it gets is good for; nil for ``ServerConfiguration/lifetimes``.
    public var lifetimes: TokenLifetimes?

    /// A client of the top realm with the defaults, and what `configure` changes.
    public init(
        id: String, secret: Secret? = nil, redirectURIs: [String] = [], _ configure: (inout Self) -> Void = { _ in }
    ) {
        self.id = id
        self.secret = secret
        self.redirectURIs = redirectURIs
        configure(&self)
    }

    /// What a client gets for longer than an access token lives.
    public enum RefreshTokens: Sendable, Hashable {
        /// Nothing.
        case none
        /// One token that stays the same; a renewal brings none.
        case kept
        /// A new one at each renewal. When a spent one comes again later than `grace` after it was spent, everything that came of
        /// the login is revoked.
        case rotated(grace: Duration = .zero)
    }
}

/// How long tokens and codes are good for, in seconds. The defaults are AM's.
public struct TokenLifetimes: Sendable, Hashable {
    /// An authorization code.
    public var authorizationCode = 120
    /// An access token: `expires_in`.
    public var accessToken = 3600
    /// A refresh token, from when it was given: each renewal gives one that rotates a new life, and one that is kept none.
    public var refreshToken = 604_800
    /// An id_token: from `iat` to `exp`.
    public var idToken = 3600
    /// A device code and its user code.
    public var deviceCode = 300

    /// The defaults, with what `configure` changes.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        configure(&self)
    }
}

/// The clients by realm and id.
struct ClientRegistry: Sendable {
    private let clients: [ClientKey: RegisteredClient]

    init(_ clients: [RegisteredClient]) {
        self.clients = Dictionary(clients.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
    }

    var all: some Collection<RegisteredClient> { clients.values }

    subscript(key: ClientKey) -> RegisteredClient? { clients[key] }
}

/// A client's place: two realms may each have their `app`.
struct ClientKey: Codable, Sendable, Hashable {
    let realm: RealmPath
    let id: String
}

extension RegisteredClient {
    var key: ClientKey { ClientKey(realm: RealmPath(realm), id: id) }

    /// Whether an answer may be sent to `uri`.
    func mayRedirect(to uri: String) -> Bool { Self.list(redirectURIs, has: uri) }

    /// Whether a browser may be sent to `uri` after a log-out.
    func mayReturn(to uri: String) -> Bool { Self.list(postLogoutRedirectURIs, has: uri) }

    private static func list(_ registered: [String], has uri: String) -> Bool {
        guard uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !uri.contains("#") else { return false }
        if registered.contains(uri) { return true }
        guard let portless = withoutLoopbackPort(uri) else { return false }
        return registered.contains { withoutLoopbackPort($0) == portless }
    }

    /// An address of this machine without its port; nil for every other address. `localhost` is none: it is a name, and may be
    /// resolved to something else (RFC 8252 section 8.3).
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
