public import SignetCore
public import SignetNetwork

/// Which server, which realm on it, and how to talk to it: one value that configures journeys, sessions and tokens alike. Several
/// profiles, of several servers, live side by side.
///
///     let profile = try ServerProfile(url: "https://am.example.com/am", realm: "alpha") {
///         $0.cookieName = "46b42b4229cd7a3"
///         $0.client = OAuthClient(clientID: "desktop", redirectURI: "http://127.0.0.1/callback", scopes: ["openid"])
///     }
///     let app = try IdentityClient(profile, account: "com.example.app")
///
/// A profile can also be read from JSON (``init(json:policy:)``), with the module SignetYAML from YAML, from the environment
/// (``init(environment:prefix:policy:)``), and completed by what an OpenID provider says of itself (``discovering(at:over:interceptors:)``).
public struct ServerProfile: Sendable, Hashable {
    /// The server's address up to its deployment path, without a slash at the end: `https://am.example.com/am`.
    public let url: Endpoint
    /// The realm.
    public let realm: Realm
    /// How addresses name the realm.
    public let realmForm: Realm.PathForm
    /// Which addresses may be used; every override has passed it.
    public let policy: EndpointPolicy

    /// The name of the cookie, and of the header, that carries the session token.
    public var cookieName = "iPlanetDirectoryPro"
    /// How long to wait for an answer to one request.
    public var timeout: Duration = .seconds(30)
    /// How long before its end a token is renewed. The iOS SDK has 60 seconds too.
    public var refreshThreshold: Duration = .seconds(60)
    /// The keys of which the server must have one; none for every key that a trusted authority vouches for. Nothing is sent through
    /// a transport that cannot look at keys.
    public var pins: Set<PublicKeyPin> = []
    /// The app, as the server's OAuth 2.0 part knows it; nil for an app that wants sessions and no tokens.
    public var client: OAuthClient?
    /// Whether the cookies that the server sets are kept and sent back. The session travels in a header of its own either way.
    public var keepsCookies = true
    /// The journey that logs in, where none is named.
    public var authenticationService = "Login"
    /// The journey that registers somebody new.
    public var registrationService = "Registration"
    /// Which server it is, where servers of one protocol differ.
    public var dialect: Dialect = .accessManager
    /// What `X-Requested-With` says. AM refuses a browser's requests without it, and scripts in journeys may look at it; the
    /// ForgeRock SDKs say `forgerock-sdk`, Ping's say `ping-sdk`.
    public var requestedWith = "signet"
    /// Who issues tokens; nil before discovery, which asks for it when it is needed. A provider that calls itself otherwise is
    /// refused.
    public var issuer: String?

    /// Where Ping's own session ends without a browser (`ping_end_idp_session_endpoint`), as discovery found it; nil before, and for
    /// other providers.
    public var providerEndSession: String? { discovered?.providerEndSession }

    /// The overrides as they were given.
    public let endpoints: EndpointOverrides
    private let overrides: [ServerEndpoint: String]
    /// The realm as addresses have it, written once.
    private let realmPath: String
    /// What discovery found. An override goes before it.
    var discovered: ProviderDescription?

    /// Servers that speak the protocol and differ in what they bear (protocol/journey.md section 8).
    public enum Dialect: String, Sendable, CaseIterable {
        /// ForgeRock and Ping AM, Advanced Identity Cloud, and SignetServer.
        case accessManager
        /// The open-source OpenAM: every callback must come back, sessions have version 2.0, the session travels as a cookie.
        case openAM
    }

    /// A profile.
    /// - Parameters:
    ///   - url: the server's address up to its deployment path; a slash at the end is dropped.
    ///   - realm: the realm, in any form.
    ///   - realmForm: how addresses name it.
    ///   - endpoints: addresses that differ from the usual ones.
    ///   - policy: which addresses a password may be sent to.
    ///   - configure: changes what has a default.
    /// - Throws: ``ProfileError`` that names the setting: `url`, `endpoints.authorize`, `cookieName`, `timeout`, `pins` and so on.
    public init(
        url: String, realm: Realm = .root, realmForm: Realm.PathForm = .full, endpoints: EndpointOverrides = [:],
        policy: EndpointPolicy = .secure, configure: (inout Self) -> Void = { _ in }
    ) throws(ProfileError) {
        let address = url.trimmingWhitespace()
        guard !address.isEmpty else { throw ProfileError("url", .missing) }
        guard !address.contains("?"), !address.contains("#") else { throw ProfileError("url", .address(.notAWebAddress)) }
        do {
            self.url = try Endpoint(String(address.reversed().drop { $0 == "/" }.reversed()), policy: policy)
        } catch {
            throw ProfileError("url", .address(error))
        }
        self.realm = realm
        self.realmForm = realmForm
        self.policy = policy
        self.endpoints = endpoints
        realmPath = realm.path(realmForm)
        overrides = try endpoints.addresses(below: self.url, policy: policy)
        configure(&self)
        try validate()
    }

    /// Where to ask for something: the override if there is one, what discovery found, or the usual address.
    public func address(of endpoint: ServerEndpoint) -> String {
        knownAddress(of: endpoint) ?? "\(url.url)/\(endpoint.path(realm: realmPath))"
    }

    /// The same, nil for one that is neither overridden nor discovered.
    func knownAddress(of endpoint: ServerEndpoint) -> String? {
        // OpenAM says that it revokes where it does not (protocol/journey.md section 8.4).
        overrides[endpoint] ?? (dialect == .openAM && endpoint == .revoke ? nil : discovered?.addresses[endpoint])
    }

    /// What the types cannot promise.
    func validate() throws(ProfileError) {
        guard !cookieName.isEmpty else { throw ProfileError("cookieName", .empty) }
        guard cookieName.utf8.allSatisfy(Self.isTokenCharacter) else {
            throw ProfileError(
                "cookieName", .value("has a character that the name of a header cannot have (RFC 9110 section 5.6.2)"))
        }
        guard timeout > .zero, timeout <= .seconds(86_400) else {
            throw ProfileError("timeout", .value("must be more than 0 seconds and a day at most"))
        }
        guard refreshThreshold >= .zero else { throw ProfileError("refreshThreshold", .value("must not be negative")) }
        if let client {
            guard !client.clientID.isEmpty else { throw ProfileError("client.id", .empty) }
            guard client.redirectURI.utf8.contains(UInt8(ascii: ":")) else {
                throw ProfileError("client.redirectUri", .value("must be an absolute address"))
            }
        }
        guard !authenticationService.isEmpty else { throw ProfileError("authenticationService", .empty) }
        guard !registrationService.isEmpty else { throw ProfileError("registrationService", .empty) }
        guard requestedWith.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw ProfileError("requestedWith", .value("must be plain text"))
        }
    }

    /// `tchar` of RFC 9110.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
