/// The app as an OAuth 2.0 client: a public client, unless ``authentication`` has a client secret.
public struct OAuthClient: Sendable, Hashable {
    /// The client ID on the server.
    public let clientID: String
    /// The redirect URI, which receives authorization responses.
    ///
    /// A listener at this address is needed only for a login in a browser.
    public let redirectURI: String
    /// The scopes to request.
    public let scopes: [String]
    /// The address to which the server redirects the browser after logout.
    public let signOutRedirectURI: String?
    /// Additional parameters of the authorization request, for example `acr_values`.
    ///
    /// They can't replace the parameters that protect the request.
    public let authorizationParameters: [String: String]
    /// The authentication of the client at the server.
    ///
    /// Set it for a profile that was read from a document, when the secret comes from a storage of the app.
    public var authentication: ClientAuthentication
    /// The signature algorithm that ID tokens must have, for example `ES256`; nil for the asymmetric algorithms that the discovery
    /// document lists, or for all of them when it lists none (OpenID Connect Core section 3.1.3.7, step 7).
    ///
    /// It is the `id_token_signed_response_alg` with which the client is registered (OpenID Connect Dynamic Client Registration
    /// section 2).
    public var idTokenSignedResponseAlg: String?
    /// The other audiences that an ID token for this client may have.
    ///
    /// An ID token with an audience that is neither the client ID nor in this list is refused (OpenID Connect Core section 3.1.3.7,
    /// step 3).
    public var trustedAudiences: [String]
    /// True when an ID token without the claim `acr` is refused although the client requested `acr_values`.
    ///
    /// A user or another program could remove the parameter from the address that the browser opens. Set it to false for a server
    /// that adds no `acr` by default, as AM does. An `acr` that is present must be one of those that the client requested in any
    /// case (OpenID Connect Core section 3.1.3.7, step 12).
    public var requiresACR: Bool
    /// The choice whether the tokens are bound to a key of this machine (RFC 9449), and the place of the key.
    public var dpop: DPoPMode
    /// True to push the parameters of each authorization request to the server, so that no browser sees them (RFC 9126).
    ///
    /// When it is false, they are pushed to a server whose discovery document requires it. A push that fails is an error in both
    /// cases.
    public var pushesRequests: Bool

    /// The redirect URI of a client that never receives an authorization response.
    package static let noRedirectURI = "urn:ietf:wg:oauth:2.0:oob"

    /// Creates a client.
    /// - Parameters:
    ///   - clientID: The client ID on the server.
    ///   - redirectURI: The redirect URI, which receives authorization responses.
    ///   - scopes: The scopes to request.
    ///   - signOutRedirectURI: The address to which the server redirects the browser after logout.
    ///   - authorizationParameters: Additional parameters of the authorization request.
    ///   - authentication: The authentication of the client at the server. The default is that of a public client.
    ///   - idTokenSignedResponseAlg: The signature algorithm that ID tokens must have; nil for those that the server lists.
    ///   - trustedAudiences: The other audiences that an ID token may have.
    ///   - requiresACR: False to accept an ID token without `acr` although the client requested `acr_values`.
    ///   - dpop: The choice whether the tokens are bound to a key of this machine, and the place of the key.
    ///   - pushesRequests: True to push the parameters of each authorization request to the server.
    public init(
        clientID: String, redirectURI: String, scopes: [String], signOutRedirectURI: String? = nil,
        authorizationParameters: [String: String] = [:], authentication: ClientAuthentication = .none,
        idTokenSignedResponseAlg: String? = nil, trustedAudiences: [String] = [], requiresACR: Bool = true,
        dpop: DPoPMode = .none, pushesRequests: Bool = false
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.signOutRedirectURI = signOutRedirectURI
        self.authorizationParameters = authorizationParameters
        self.authentication = authentication
        self.idTokenSignedResponseAlg = idTokenSignedResponseAlg
        self.trustedAudiences = trustedAudiences
        self.requiresACR = requiresACR
        self.dpop = dpop
        self.pushesRequests = pushesRequests
    }

    /// Creates the client of a service, which gets tokens for itself and has no users that log in (RFC 6749 section 4.4).
    /// - Parameters:
    ///   - clientID: The client ID on the server.
    ///   - scopes: The scopes to request.
    ///   - authentication: The authentication of the client at the server, which can't be that of a public client.
    ///   - dpop: The choice whether the tokens are bound to a key of this machine, and the place of the key.
    public init(service clientID: String, scopes: [String], authentication: ClientAuthentication, dpop: DPoPMode = .none) {
        self.init(
            clientID: clientID, redirectURI: Self.noRedirectURI, scopes: scopes, authentication: authentication, dpop: dpop)
    }

    /// The scopes in the form that requests contain.
    package var scope: String { scopes.joined(separator: " ") }

    /// Returns the additional parameters of an authorization request, with those of one login.
    func extraParameters(adding parameters: [String: String]) -> [(name: String, value: String)] {
        authorizationParameters.merging(parameters) { $1 }.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }
}
