public import SignetCore
public import SignetNetwork

/// The address, realm and settings of a server, which configure journeys, sessions and tokens.
///
/// An app may use several profiles of several servers at the same time.
///
///     let profile = try ServerProfile(url: "https://am.example.com/am", realm: "alpha") {
///         $0.cookieName = "46b42b4229cd7a3"
///         $0.client = OAuthClient(clientID: "desktop", redirectURI: "http://127.0.0.1/callback", scopes: ["openid"])
///     }
///     let app = try IdentityClient(profile, account: "com.example.app")
///
/// A profile can also be read from JSON (``init(json:policy:clientSecret:)``), from YAML with the module SignetYAML, and from the environment
/// (``init(environment:prefix:policy:)``). The discovery document of an OpenID provider can complete it
/// (``discovering(at:over:interceptors:)``).
public struct ServerProfile: Sendable, Hashable {
    /// The server's address up to its deployment path, without a trailing slash: `https://am.example.com/am`.
    public let url: Endpoint
    /// The realm.
    public let realm: Realm
    /// The form of the realm in addresses.
    public let realmForm: Realm.PathForm
    /// The policy that decides which addresses are allowed.
    ///
    /// Every override satisfies it.
    public let policy: EndpointPolicy

    /// The name of the cookie, and of the header, that contains the session token.
    public var cookieName = "iPlanetDirectoryPro"
    /// The timeout of one request.
    public var timeout: Duration = .seconds(30)
    /// The time before its expiration at which a token is renewed.
    ///
    /// The iOS SDK also uses 60 seconds.
    public var refreshThreshold: Duration = .seconds(60)
    /// The pins of the server's public keys.
    ///
    /// The server must present one of these keys. When the set is empty, any certificate of a trusted authority is accepted. With
    /// a transport that can't check keys, requests with pins fail and nothing is sent.
    public var pins: Set<PublicKeyPin> = []
    /// The OAuth 2.0 client of the app; nil for an app that uses sessions without tokens.
    public var client: OAuthClient?
    /// True to store the server's cookies and send them back.
    ///
    /// The session is sent in a header in both cases.
    public var keepsCookies = true
    /// The default journey for login.
    public var authenticationService = "Login"
    /// The default journey for the registration of a new user.
    public var registrationService = "Registration"
    /// The variant of the protocol that the server implements; nil to recognize it by the server's answers.
    ///
    /// Set it only for a server whose answers mislead the client.
    public var dialect: Dialect?
    /// The value of `X-Requested-With`.
    ///
    /// AM rejects requests from browsers without it, and scripts in journeys may read it. The ForgeRock SDKs send
    /// `forgerock-sdk`, the Ping SDKs `ping-sdk`.
    public var requestedWith = "signet"
    /// The languages in which the user wants to read the texts of journeys, as language tags in order of preference.
    ///
    /// They are sent as `Accept-Language`. When the array is empty, the server chooses the language.
    public var preferredLanguages: [String] = []
    /// The issuer of tokens; nil before discovery, which is done when the issuer is needed.
    ///
    /// A provider with another issuer is rejected.
    public var issuer: String?

    /// The address at which a session of a Ping provider ends without a browser (`ping_end_idp_session_endpoint`); nil before
    /// discovery and for other providers.
    public var providerEndSession: String? { discovered?.providerEndSession }

    /// The overrides as they were given.
    public let endpoints: EndpointOverrides
    private let overrides: [ServerEndpoint: String]
    /// The realm path for addresses, which is computed once.
    private let realmPath: String
    /// The result of discovery.
    ///
    /// An override takes precedence over it.
    var discovered: ProviderDescription?

    /// The variants of the protocol, which differ in the requests that servers accept (protocol/journey.md section 8).
    public enum Dialect: String, Sendable, CaseIterable {
        /// ForgeRock and Ping AM, Advanced Identity Cloud, and SignetServer.
        case accessManager
        /// The open-source OpenAM. It requires every callback to be sent back, uses version 2.0 of the sessions resource, and
        /// reads the session from a cookie.
        case openAM
    }

    /// Creates a profile.
    /// - Parameters:
    ///   - url: The server's address up to its deployment path. A trailing slash is removed.
    ///   - realm: The realm, in any notation.
    ///   - realmForm: The form of the realm in addresses.
    ///   - endpoints: The addresses that replace the default addresses.
    ///   - policy: The policy that decides which addresses may receive a password.
    ///   - configure: A closure that changes the properties with defaults.
    /// - Throws: ``ProfileError`` that names the setting: `url`, `endpoints.authorize`, `cookieName`, `timeout`, `pins` and so
    ///   on.
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

    /// Returns the address of an endpoint: the override, the discovered address, or the default address, in this order of
    /// precedence.
    public func address(of endpoint: ServerEndpoint) -> String {
        knownAddress(of: endpoint) ?? "\(url.url)/\(endpoint.path(realm: realmPath))"
    }

    /// Returns the override or the discovered address of an endpoint; nil when it has neither.
    func knownAddress(of endpoint: ServerEndpoint) -> String? {
        // OpenAM revokes at the default address, which its discovery document omits (protocol/journey.md section 8.4).
        overrides[endpoint] ?? (dialect == .openAM && endpoint == .revoke ? nil : discovered?.addresses[endpoint])
    }

    /// Checks the constraints that the types don't express.
    package func validate() throws(ProfileError) {
        guard !cookieName.isEmpty else { throw ProfileError("cookieName", .empty) }
        // The characters of a `tchar` (RFC 9110 section 5.6.2).
        guard cookieName.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }) else {
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
            guard client.idTokenSignedResponseAlg.map({ IDTokenRules.algorithms.contains($0) }) ?? true else {
                let names = IDTokenRules.algorithms.sorted().joined(separator: ", ")
                throw ProfileError("client.idTokenSignedResponseAlg", .value("must be one of \(names)"))
            }
            guard client.authentication.secret?.count != 0 else {
                throw ProfileError("client.authentication", .value("has an empty secret"))
            }
        }
        guard !authenticationService.isEmpty else { throw ProfileError("authenticationService", .empty) }
        guard !registrationService.isEmpty else { throw ProfileError("registrationService", .empty) }
        guard requestedWith.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw ProfileError("requestedWith", .value("must be plain text"))
        }
        guard preferredLanguages.allSatisfy(PreferredLanguages.isTag) else {
            throw ProfileError("preferredLanguages", .value("must have language tags such as de-AT"))
        }
    }
}
