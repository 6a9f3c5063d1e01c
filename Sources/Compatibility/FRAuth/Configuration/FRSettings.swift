/// The values of ``FROptions``.
///
/// The session of the SDK keeps them as a value, so that a later change of the app's object doesn't change it.
struct FRSettings: Sendable, Equatable {
    /// The server's address up to its deployment path: `https://tenant.forgeblocks.com/am`.
    var url: String = ""
    /// The realm.
    ///
    /// An empty string means the top-level realm; the ForgeRock SDK then requests an address that doesn't exist.
    var realm: String = ""
    /// True when the server's cookies are stored and sent.
    var enableCookie: Bool = true
    /// The name of the cookie that carries the session.
    var cookieName: String = FROptions.defaultCookieName
    /// The timeout of each request, in seconds.
    var timeout: String = "60"
    /// The endpoint for journeys, if it differs from the default; the same formats as ``authorizeEndpoint``.
    var authenticateEndpoint: String?
    /// The authorization endpoint, if it differs from the default: a path below ``url``, with or without a leading slash, or a
    /// whole address.
    var authorizeEndpoint: String?
    /// The token endpoint; the same formats as ``authorizeEndpoint``.
    var tokenEndpoint: String?
    /// The endpoint that revokes tokens; the same formats as ``authorizeEndpoint``.
    var revokeEndpoint: String?
    /// The userinfo endpoint, which returns the user's claims; the same formats as ``authorizeEndpoint``.
    var userinfoEndpoint: String?
    /// The endpoint for sessions; the same formats as ``authorizeEndpoint``.
    var sessionEndpoint: String?
    /// The endpoint that ends an OpenID session; the same formats as ``authorizeEndpoint``.
    var endSessionEndpoint: String?
    /// The name of the journey that logs the user in.
    var authServiceName: String = "Login"
    /// The name of the journey that registers a user.
    var registrationServiceName: String = "Registration"
    /// The number of seconds before its expiration at which a token is renewed; nil for 60.
    var oauthThreshold: String?
    /// The identifier of the OAuth 2.0 client.
    var oauthClientId: String?
    /// The redirect URI for the authorization response.
    var oauthRedirectUri: String?
    /// The redirect URI after a logout in a browser.
    var oauthSignoutRedirectUri: String?
    /// The scopes to request, separated by spaces.
    var oauthScope: String?
    /// The access group: apps of a user with the same group share a session.
    ///
    /// Nil for a session of this app alone.
    var keychainAccessGroup: String?
    /// The address that ``FROptions/discover(discoveryURL:transport:)`` was called with.
    ///
    /// The provider's signing keys are found through it. It has no key in `FRAuthConfig`.
    var discoveryURL: String?
    /// The pins of the server's public keys: each is the base64 of the SHA-256 of a SubjectPublicKeyInfo.
    ///
    /// Nil and empty pin nothing.
    var sslPinningPublicKeyHashes: [String]?
}
