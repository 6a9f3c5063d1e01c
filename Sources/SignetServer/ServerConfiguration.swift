public import SignetCore
public import SignetPushGateway

/// The configuration of a development server.
///
/// Every property has a default that suits a developer's machine.
public struct ServerConfiguration: Sendable {
    /// The place where the server stores its state.
    public var state = ServerState.memory
    /// The address to listen on: a host name or an IP address.
    ///
    /// The default is reachable from this machine only.
    public var host = "127.0.0.1"
    /// The TCP port to listen on; 0 selects any free port, which the reported base URL contains.
    public var port = 8080
    /// The path prefix of every route, like AM's deployment path.
    ///
    /// A leading slash is added and a trailing slash is removed; an empty path serves from the root.
    public var contextPath = "/am"
    /// The realms that exist, as paths: `/` is the top-level realm.
    ///
    /// Requests for other realms get a 404 response.
    public var realms: [String] = ["/", "/alpha"]
    /// The users that can log in.
    ///
    /// If two users have the same name and realm, the last one is used.
    public var users: [User] = []
    /// True when users without a password get one that is derived from the key of the ``state``.
    ///
    /// It is the same at every start and on every server that shares the state. ``DevServer/generatedPassword(of:realm:)``
    /// returns it.
    package var generatesPasswords = false
    /// The OAuth 2.0 clients.
    ///
    /// If two clients have the same id and realm, the last one is used.
    public var clients: [RegisteredClient] = []
    /// The names of the users' claims that a scope covers, by scope, in addition to the standard scopes (OpenID Connect Core 1.0
    /// section 5.4).
    ///
    /// `userinfo` returns such a claim only with the scope, and a JWT access token with the scope contains it. Other claims, which no
    /// scope covers, are always part of the response of `userinfo` and never of an access token.
    public var scopeClaims: [String: [String]] = [:]
    /// The available journeys.
    ///
    /// The default is the journeys of the starter file.
    public var journeys: Journeys
    /// The definitions of attributes that the nodes of ``journeys`` were read with, for journeys that are added while the server runs.
    var nodeContext = NodeContext()
    /// The journey that runs when a request doesn't name one.
    public var defaultJourney = "Login"
    /// The closure that receives each email, also when it is delivered over ``smtp``.
    ///
    /// The server calls it when it answers the request that caused the email, so the closure should return quickly.
    public var onEmail: (@Sendable (Email) -> Void)?
    /// The server that delivers emails; nil when the development server only keeps them for the tester.
    ///
    /// A login does not wait for the delivery.
    public var smtp: SMTPConfiguration?
    /// The lifetimes of tokens and codes for clients that don't set their own.
    public var lifetimes = TokenLifetimes()
    /// The minimum number of seconds between two polls for a device code; at least 1.
    public var devicePollInterval = 5
    /// The HTTP status of `authorization_pending` and `slow_down`: 400 (RFC 8628 section 3.5), or 403, which PingAM 7.2 to 8 sends.
    public var devicePendingStatus = 400
    /// The format of errors at `authorize` that cannot be sent to a client, of errors at `endSession` in a browser, and of the 404
    /// response to a browser at an address that does not exist: a page, or JSON for programs.
    ///
    /// Other errors that any address can have, for example of the method or the rate, are always JSON.
    public var authorizeErrors = AuthorizeErrorFormat.page
    /// The rules that decide where AM and OpenID Connect differ.
    public var profile = ConformanceProfile.am
    /// The RSA key, of 2048 bits or more, that signs id_tokens and other tokens with RS256 and PS256, as PEM in PKCS #8 or PKCS #1.
    ///
    /// When nil, the server generates a key when it first needs one, and stores it with the ``state``.
    public var signingKey: Secret?
    /// The settings for DPoP proofs, which bind tokens to a key of the client (RFC 9449).
    public var dpop = DPoPSettings()
    /// The number of seconds without a request after which a session ends; at least 1.
    public var sessionIdleTimeout = 1800
    /// The maximum number of seconds that a session lasts; at least 1.
    public var sessionMaxLifetime = 7200
    /// The session properties that users may read and change (`getSessionProperties`, `updateSessionProperties`).
    ///
    /// AM calls them the session property whitelist. A journey that decides by such a property trusts the user. The default is
    /// empty.
    public var sessionProperties: [String] = []
    /// The name of the cookie that carries the session token.
    public var cookieName = "iPlanetDirectoryPro"
    /// The `Domain` of that cookie; nil to omit it, so that browsers send the cookie to this host only.
    public var cookieDomain: String?
    /// True when that cookie is `HttpOnly`, which hides it from scripts in a page.
    public var cookieIsHTTPOnly = true
    /// The `SameSite` attribute of the session cookie and of the load balancer cookie.
    ///
    /// ``CookieSameSite/none`` lets an app of another site send the session cookie. The cookie is then `Secure`, so that browsers
    /// accept it over https and on loopback. Requests that change something are accepted only from the server's own origin and from
    /// ``corsOrigins``, as with the other values.
    public var cookieSameSite = CookieSameSite.lax
    /// The issuer in enrollment URIs and in the text of push messages.
    public var issuer = "Signet"
    /// The relying party ID (a domain) of WebAuthn credentials; nil for the host of the public address, or `localhost`.
    public var webAuthnRelyingParty: String?
    /// The additional origins that WebAuthn responses may come from, such as apps.
    ///
    /// The origin of the server's own pages is always allowed: that of the public address, or `localhost` with the server's port. Other
    /// ports, schemes and subdomains are other origins.
    public var webAuthnOrigins: [String] = []
    /// The color of enrolled accounts: hexadecimal digits, `#` optional.
    public var backgroundColor = "519387"
    /// The color of links and buttons of the pages: six hexadecimal digits, `#` optional; nil for the server's.
    ///
    /// The pages make it darker or lighter where text in it would be hard to read.
    public var accentColor: String?
    /// The logo at the top of the pages: an `https` address of an image, or a `data:` URL with one; nil for the server's.
    public var logo: String?
    /// The language of the pages and emails for users that prefer none of the available ones: a tag such as `de`.
    public var defaultLanguage = "en"
    /// The sentences of the pages and emails in other languages than English, and English ones that replace the server's own.
    var languages: [PageLanguage] = []
    /// The address at which clients reach the server, with the context path, for example `https://login.example.test/am`.
    ///
    /// Enrollment URIs contain it. When nil, it is built from ``host`` and the port that the socket got.
    public var publicURL: String?
    /// The URL of the page or app that resumes a suspended journey, for example `https://app.example.test/login` or
    /// `org.example.app://resume`.
    ///
    /// The links in emails lead there, with the parameters `realm` and `suspendedId`. AM calls this setting the external login
    /// page URL. When nil, the links lead to the server's own login page.
    public var externalLoginPageURL: String?
    /// The number of seconds that a push registration and a push message wait for the device; from 1 to 86,400.
    public var pushTimeout = 120
    /// The number of seconds that a journey may take; at least 1.
    public var journeyTimeout = 300
    /// The number of seconds that a link to resume a suspended journey is valid; at least 1.
    public var suspensionTimeout = 300
    /// The journey that runs for policy advice about a single transaction.
    public var transactionJourney = "Login"
    /// The load balancer cookie, as `name=value`, that devices and browsers get; nil for none.
    public var loadBalancerCookie: String? = "amlbcookie=01"
    /// The interval that clients are told to wait between two polls.
    ///
    /// When nil, it is AM's: 5 seconds in the first quarter of ``pushTimeout``, 4 seconds in the second quarter, 8 seconds
    /// afterwards.
    public var pollInterval: Duration?
    /// The Amazon SNS configuration for push delivery to phones, as AM uses it; nil when every device uses a push stream.
    public var sns: SNSConfiguration?
    /// The configuration of the push gateway, which acts as SNS for other servers and delivers their messages over push streams;
    /// nil when this server isn't a push gateway.
    public var pushGateway: PushGatewayConfiguration?
    /// The idle time after which a push stream sends a comment, so that both ends detect a dead connection; at least 10 ms.
    public var streamKeepAlive: Duration = .seconds(15)
    /// The bearer token for programs on this machine that use `/admin` to move the clock, enable faults and read the request
    /// log (docs/reference/admin.md).
    ///
    /// It must have 16 bytes or more; a shorter token is never accepted. When nil, `/admin` doesn't exist.
    public var adminToken: Secret?
    /// True when browsers on this machine can sign in as any user without a password, at a page that lists the users.
    ///
    /// It is for tests only. The login pages link to it.
    public var offersUserPicker = false
    /// The number of logins whose traces are kept in memory for the console and `/admin/logins`; 0 for none.
    ///
    /// A trace has the nodes of the journey that were visited, with their outcomes, and no secrets.
    public var loginTraces = 500
    /// The clients that may use AM's configuration REST with the session of an administrator (``User/isAdministrator``).
    ///
    /// Without an administrator its addresses do not exist.
    public var configurationREST = ConfigurationRESTAccess.loopback
    /// The largest accepted request body, in bytes; a larger one gets a 413 response.
    public var maxBodySize = 256 * 1024
    /// The limits on the size, the duration and the rate of requests.
    public var limits = ServerLimits()
    /// The host names that requests may be addressed to, in addition to loopback names and the host of ``publicURL``.
    ///
    /// They have no port. A request for another host gets a 421 response. If other machines can reach the server and the list is
    /// empty, every host is allowed.
    public var allowedHosts: [String] = []
    /// The origins whose pages may send requests with cookies and read the responses (CORS), for example `https://app.example`.
    ///
    /// Apps with the JavaScript SDK need it. The default is empty.
    public var corsOrigins: [String] = []
    /// The TLS configuration; nil for plain http.
    public var tls: ServerTLS?

    /// Creates the default configuration and lets `configure` change it.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        self.init(journeys: .starter)
        configure(&self)
    }

    /// Creates the default configuration with other journeys.
    ///
    /// The starter file itself is read this way.
    init(journeys: Journeys) {
        self.journeys = journeys
    }
}

/// A user that can log in at a development server.
///
/// The password is kept in memory only.
public struct User: Sendable, Hashable {
    /// The case-sensitive name to log in with.
    public var name: String
    /// The password, in UTF-8; nil when ``passwordHash`` is used instead, or when no password is accepted.
    public var password: Secret?
    /// The hash of the password, for configuration files that other users can read.
    ///
    /// If ``password`` is also set, it takes precedence.
    public var passwordHash: PasswordHash?
    /// The user's realm, as a path.
    public var realm: String
    /// The claims that `userinfo` returns: standard claims by name, for example `email` (OpenID Connect Core 1.0 section 5.1).
    public var claims: [String: JSONValue]
    /// The user's answers to security questions, by question.
    public var securityAnswers: [String: Secret] = [:]
    /// True when the account is locked, so that the correct password is rejected too.
    public var isLocked: Bool
    /// True for an administrator: the user may ask for the version of the server (`serverinfo/version`) and use AM's configuration
    /// REST (``ServerConfiguration/configurationREST``).
    ///
    /// An administrator of the top-level realm has these rights in every realm. A journey logs an administrator in only
    /// when it has identified the user by a password, by a link or a code that was sent by email, or by a persistent cookie, which
    /// such a login has set, or when it began with a session of the user. A journey that stores a new password (Patch Object)
    /// counts too, even if it asks for no proof before; do not configure such a journey on a server with an administrator. No page
    /// for tests logs an administrator in.
    public var isAdministrator = false

    /// Creates a user, by default in the top-level realm.
    public init(
        name: String, password: Secret? = nil, realm: String = "/", claims: [String: JSONValue] = [:], isLocked: Bool = false
    ) {
        self.name = name
        self.password = password
        self.realm = realm
        self.claims = claims
        self.isLocked = isLocked
    }
}

extension ServerConfiguration {
    /// True when ``host`` stands for all addresses of this machine, so that clients cannot connect to it by that name.
    package var listensEverywhere: Bool { ["0.0.0.0", "::", ""].contains(host) }

    /// Returns true when a text is valid as ``publicURL``: a web address without query and fragment.
    package static func isPublicURL(_ text: String) -> Bool { TextRule.isBase(text) }

    /// The ``contextPath`` with one leading slash and no trailing slash; empty for the root.
    var normalContextPath: String {
        let path = contextPath.split(separator: "/").joined(separator: "/")
        return path.isEmpty ? "" : "/\(path)"
    }

    /// Returns the address at which clients reach a socket that listens on `port`.
    func baseURL(port: Int) -> String {
        publicURL.map { String($0.reversed().drop { $0 == "/" }.reversed()) } ?? localURL(port: port)
    }

    /// Returns the address at which programs on this machine reach the socket.
    ///
    /// The loopback address replaces a host that stands for all interfaces.
    func localURL(port: Int) -> String {
        let isOfSix = host.contains(":")
        let address = listensEverywhere ? (isOfSix ? "[::1]" : "127.0.0.1") : isOfSix ? "[\(host)]" : host
        return "\(tls == nil ? "http" : "https")://\(address):\(port)\(normalContextPath)"
    }
}
