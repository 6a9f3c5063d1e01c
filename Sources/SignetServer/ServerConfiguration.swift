public import SignetCore

/// How a desk server behaves. Every property has a default that suits a developer's machine.
public struct ServerConfiguration: Sendable {
    /// Where the server keeps what it knows.
    public var state = ServerState.memory
    /// The address to listen on: a host name or an IP address. The default is reachable from this machine only.
    public var host = "127.0.0.1"
    /// The TCP port to listen on; 0 takes any free one, and the base URL that the server reports names it.
    public var port = 8080
    /// The path in front of every route, as AM's deployment path. A slash in front is added, one at the end dropped; empty
    /// serves from the top.
    public var contextPath = "/am"
    /// The realms that exist, as paths: `/` is the top one. Everything else is answered with 404.
    public var realms: [String] = ["/", "/alpha"]
    /// Who can log in. Of two users with the same name and realm the last one counts.
    public var users: [User] = []
    /// Whether users without a password get one that is made of the key of the ``state``: the same at every start, and at every server of
    /// it. ``DevServer/madeUpPassword(of:realm:)`` tells it.
    package var makesUpPasswords = false
    /// The OAuth 2.0 clients. Of two with the same id and realm the last one counts.
    public var clients: [RegisteredClient] = []
    /// The journeys that there are: those of the starter file, unless others are read from a file of one's own.
    public var journeys: Journeys
    /// The journey of a request that names none.
    public var defaultJourney = "Login"
    /// Is told of each letter that is sent: there is no post at a desk. It is called when the letter's request is answered, and
    /// should not take long.
    public var onLetter: (@Sendable (Email) -> Void)?
    /// How long tokens and codes are good for, unless the client says otherwise.
    public var lifetimes = TokenLifetimes()
    /// How many seconds a device waits between two questions whether its code was approved; at least 1.
    public var devicePollInterval = 5
    /// The RSA key, of 2048 bits or more, that signs id_tokens: PEM, PKCS #8 or PKCS #1. When nil one is made when it is first
    /// needed, and kept with the ``state``.
    public var signingKey: Secret?
    /// After how many seconds without a request a session ends; at least 1.
    public var sessionIdleTime = 1800
    /// After how many seconds a session ends in any case; at least 1.
    public var sessionMaximumTime = 7200
    /// The name of the cookie that carries the session token.
    public var cookieName = "iPlanetDirectoryPro"
    /// The `Domain` of that cookie; nil for none, so that it goes back to this host only.
    public var cookieDomain: String?
    /// Whether scripts in a page are kept from reading that cookie.
    public var cookieIsHTTPOnly = true
    /// The issuer in enrolment URIs and in the text of push messages.
    public var issuer = "Signet Desk"
    /// The domain that WebAuthn credentials are made for; nil for the host of the public address, or `localhost`.
    public var webAuthnRelyingParty: String?
    /// The origins that answers of WebAuthn may come from, besides pages of that domain: those of apps.
    public var webAuthnOrigins: [String] = []
    /// The colour of enrolled accounts: hexadecimal digits, `#` optional.
    public var backgroundColor = "519387"
    /// The address that clients reach the server at, with the context path, for example `https://login.example.test/am`;
    /// enrolment URIs carry it. When nil it is made of ``host`` and the port that the socket got.
    public var publicURL: String?
    /// How many seconds a push registration and a push message wait for the device; from 1 to 86,400.
    public var pushTimeout = 120
    /// How many seconds a journey may take; at least 1.
    public var journeyTimeout = 300
    /// How many seconds a link that goes on with a suspended journey is good for; at least 1.
    public var suspensionTimeout = 300
    /// The journey that policy advice about one transaction asks for.
    public var transactionJourney = "Login"
    /// The routing cookie, `name=value`, that devices and browsers are given; nil for none.
    public var loadBalancerCookie: String? = "amlbcookie=01"
    /// How long a client is told to wait between two polls. When nil it is told what AM tells: 5 seconds in the first quarter
    /// of ``pushTimeout``, 4 until the half, 8 afterwards.
    public var pollInterval: Duration?
    /// The way to phones, as AM has it; nil when there is none, and every device is reached at the desk.
    public var sns: SNSConfiguration?
    /// The SNS of other servers' messages, which it hands to desks; nil when this server is none.
    public var pushFront: PushGatewayConfiguration?
    /// The pause after which an idle desk stream carries a comment, so that both ends notice a dead line; at least 10 ms.
    public var streamKeepAlive: Duration = .seconds(15)
    /// What programs on this machine show at `/admin` to move the clock, switch faults on, read the journal (docs/admin.md); 16 bytes or
    /// more, and no shorter one opens anything. When nil, there is no such address.
    public var adminToken: Secret?
    /// The largest request body that is read, in bytes; a larger one is answered with 413.
    public var largestBody = 256 * 1024
    /// How much, how slowly and how often somebody may ask.
    public var limits = ServerLimits()
    /// The origins whose pages may ask with a browser's cookies and read the answers (CORS), for example `https://app.example`: those of
    /// apps with the JavaScript SDK. None unless they are named.
    public var corsOrigins: [String] = []
    /// What makes the server speak https; nil for plain http.
    public var tls: ServerTLS?

    /// The defaults, with what `configure` changes.
    public init(_ configure: (inout Self) -> Void = { _ in }) {
        self.init(journeys: .starter)
        configure(&self)
    }

    /// The defaults with other journeys: the starter file itself is read this way.
    init(journeys: Journeys) {
        self.journeys = journeys
    }
}

/// Somebody who can log in at a desk server. The password is kept in memory only.
public struct User: Sendable, Hashable {
    /// The name to log in with; upper and lower case differ.
    public var name: String
    /// The password, in UTF-8; nil when there is a ``passwordHash`` instead, or no password that will do.
    public var password: Secret?
    /// The password as other programs keep it, for files that others can read. ``password`` goes before it.
    public var passwordHash: PasswordHash?
    /// The realm the user lives in, as a path.
    public var realm: String
    /// What `userinfo` tells: standard claims by name, for example `email` (OpenID Connect Core 1.0 section 5.1).
    public var claims: [String: JSONValue]
    /// The answers to questions that journeys can ask, by question.
    public var securityAnswers: [String: Secret] = [:]
    /// Whether the right password is refused too.
    public var isLocked: Bool

    /// A user of the top realm, unless another is given.
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

/// A letter to a user, as a journey sends it that goes on when somebody follows the link.
public struct Email: Sendable, Hashable {
    /// The user's name.
    public let user: String
    /// The realm the user lives in, as a path.
    public let realm: String
    /// The link. Who has it goes on in the user's place.
    public let link: String
}

extension ServerConfiguration {
    /// Whether ``host`` stands for all addresses of this machine, and so for none that anybody can ask for.
    package var listensEverywhere: Bool { ["0.0.0.0", "::", ""].contains(host) }

    /// Whether a text will do as ``publicURL``: an address of the web without query and fragment.
    package static func isPublicURL(_ text: String) -> Bool { TextRule.isBase(text) }

    /// ``contextPath`` with one slash in front and none at the end; empty for the top.
    var normalContextPath: String {
        let path = contextPath.split(separator: "/").joined(separator: "/")
        return path.isEmpty ? "" : "/\(path)"
    }

    /// The address that clients reach a socket at which listens on `port`.
    func baseURL(port: Int) -> String {
        publicURL.map { String($0.reversed().drop { $0 == "/" }.reversed()) } ?? localURL(port: port)
    }

    /// The address that programs on this machine reach the socket at. One that stands for all interfaces is replaced by the loopback.
    func localURL(port: Int) -> String {
        let isOfSix = host.contains(":")
        let address = listensEverywhere ? (isOfSix ? "[::1]" : "127.0.0.1") : isOfSix ? "[\(host)]" : host
        return "\(tls == nil ? "http" : "https")://\(address):\(port)\(normalContextPath)"
    }
}
