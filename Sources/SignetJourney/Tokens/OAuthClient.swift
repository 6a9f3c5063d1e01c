/// The app, as an OAuth 2.0 server knows it: a public client, without a secret of its own.
public struct OAuthClient: Sendable, Hashable {
    /// Its name at the server.
    public let clientID: String
    /// Where the server sends answers to. Nothing needs to listen there unless a browser is to come.
    public let redirectURI: String
    /// What is asked for.
    public let scopes: [String]
    /// Where a browser goes after it has logged out.
    public let signOutRedirectURI: String?
    /// More parameters of the authorization request, for example `acr_values`. What protects the request cannot be replaced.
    public let authorizationParameters: [String: String]

    /// A client as given.
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

    /// The scopes as requests carry them.
    package var scope: String { scopes.joined(separator: " ") }

    package var extraParameters: [(name: String, value: String)] {
        authorizationParameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }
}
