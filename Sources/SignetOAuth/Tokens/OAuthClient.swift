/// The app as an OAuth 2.0 client: a public client, without a client secret.
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

    /// Creates a client.
    public init(
        clientID: String, redirectURI: String, scopes: [String], signOutRedirectURI: String? = nil,
        authorizationParameters: [String: String] = [:]
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.signOutRedirectURI = signOutRedirectURI
        self.authorizationParameters = authorizationParameters
    }

    /// The scopes in the form that requests contain.
    package var scope: String { scopes.joined(separator: " ") }

    /// Returns the additional parameters of an authorization request, with those of one login.
    func extraParameters(adding parameters: [String: String]) -> [(name: String, value: String)] {
        authorizationParameters.merging(parameters) { $1 }.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }
}
