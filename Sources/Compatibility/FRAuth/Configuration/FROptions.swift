/// The settings of the SDK, for ``FRAuth/start(options:)``.
///
/// They are the settings of `FRAuthConfig.plist`, with the string values that the ForgeRock SDK accepts.
public struct FROptions: Sendable, Equatable {
    /// The server's address up to its deployment path: `https://tenant.forgeblocks.com/am`.
    public var url: String
    /// The realm.
    ///
    /// An empty string means the top-level realm; the ForgeRock SDK then requests an address that doesn't exist.
    public var realm: String
    /// True when the server's cookies are stored and sent.
    public var enableCookie: Bool
    /// The name of the cookie that carries the session.
    public var cookieName: String
    /// The timeout of each request, in seconds.
    public var timeout: String
    /// The endpoint for journeys, if it differs from the default; the same formats as ``authorizeEndpoint``.
    public var authenticateEndpoint: String?
    /// The authorization endpoint, if it differs from the default: a path below ``url``, with or without a leading slash, or a
    /// whole address.
    public var authorizeEndpoint: String?
    /// The token endpoint; the same formats as ``authorizeEndpoint``.
    public var tokenEndpoint: String?
    /// The endpoint that revokes tokens; the same formats as ``authorizeEndpoint``.
    public var revokeEndpoint: String?
    /// The userinfo endpoint, which returns the user's claims; the same formats as ``authorizeEndpoint``.
    public var userinfoEndpoint: String?
    /// The endpoint for sessions; the same formats as ``authorizeEndpoint``.
    public var sessionEndpoint: String?
    /// The endpoint that ends an OpenID session; the same formats as ``authorizeEndpoint``.
    public var endSessionEndpoint: String?
    /// The name of the journey that logs the user in.
    public var authServiceName: String
    /// The name of the journey that registers a user.
    public var registrationServiceName: String
    /// The number of seconds before its expiration at which a token is renewed; nil for 60.
    public var oauthThreshold: String?
    /// The identifier of the OAuth 2.0 client.
    public var oauthClientId: String?
    /// The redirect URI for the authorization response.
    public var oauthRedirectUri: String?
    /// The redirect URI after a logout in a browser.
    public var oauthSignoutRedirectUri: String?
    /// The scopes to request, separated by spaces.
    public var oauthScope: String?
    /// The access group: apps of a user with the same group share a session.
    ///
    /// Nil for a session of this app alone.
    public var keychainAccessGroup: String?
    /// The address that ``discover(discoveryURL:transport:)`` was called with.
    ///
    /// The provider's signing keys are found through it. It has no key in `FRAuthConfig`.
    var discoveryURL: String?
    /// The pins of the server's public keys: each is the base64 of the SHA-256 of a SubjectPublicKeyInfo.
    ///
    /// Nil and empty pin nothing.
    public var sslPinningPublicKeyHashes: [String]?

    /// The name of the session cookie on a server with the default settings.
    public static let defaultCookieName = "iPlanetDirectoryPro"

    /// Creates settings, with the parameters in the order of the ForgeRock documentation.
    public init(
        url: String, realm: String, enableCookie: Bool = true, cookieName: String = FROptions.defaultCookieName,
        timeout: String = "60", authorizeEndpoint: String? = nil, tokenEndpoint: String? = nil, revokeEndpoint: String? = nil,
        userinfoEndpoint: String? = nil, sessionEndpoint: String? = nil, endSessionEndpoint: String? = nil,
        oauthThreshold: String? = nil, oauthClientId: String? = nil, oauthRedirectUri: String? = nil,
        oauthSignoutRedirectUri: String? = nil, oauthScope: String? = nil, authServiceName: String = "Login",
        registrationServiceName: String = "Registration", keychainAccessGroup: String? = nil,
        sslPinningPublicKeyHashes: [String]? = nil
    ) {
        self.url = url
        self.realm = realm
        self.enableCookie = enableCookie
        self.cookieName = cookieName
        self.timeout = timeout
        self.authorizeEndpoint = authorizeEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.revokeEndpoint = revokeEndpoint
        self.userinfoEndpoint = userinfoEndpoint
        self.sessionEndpoint = sessionEndpoint
        self.endSessionEndpoint = endSessionEndpoint
        self.oauthThreshold = oauthThreshold
        self.oauthClientId = oauthClientId
        self.oauthRedirectUri = oauthRedirectUri
        self.oauthSignoutRedirectUri = oauthSignoutRedirectUri
        self.oauthScope = oauthScope
        self.authServiceName = authServiceName
        self.registrationServiceName = registrationServiceName
        self.keychainAccessGroup = keychainAccessGroup
        self.sslPinningPublicKeyHashes = sslPinningPublicKeyHashes
    }

    /// Creates settings, with the parameters in the order of the ForgeRock SDK's initializer, where the journeys come before the
    /// OAuth 2.0 client.
    @_disfavoredOverload
    public init(
        url: String, realm: String, enableCookie: Bool = true, cookieName: String = FROptions.defaultCookieName,
        timeout: String = "60", authorizeEndpoint: String? = nil, tokenEndpoint: String? = nil, revokeEndpoint: String? = nil,
        userinfoEndpoint: String? = nil, sessionEndpoint: String? = nil, endSessionEndpoint: String? = nil,
        authServiceName: String = "Login", registrationServiceName: String = "Registration", oauthThreshold: String? = nil,
        oauthClientId: String? = nil, oauthRedirectUri: String? = nil, oauthSignoutRedirectUri: String? = nil,
        oauthScope: String? = nil, keychainAccessGroup: String? = nil, sslPinningPublicKeyHashes: [String]? = nil
    ) {
        self.init(
            url: url, realm: realm, enableCookie: enableCookie, cookieName: cookieName, timeout: timeout,
            authorizeEndpoint: authorizeEndpoint, tokenEndpoint: tokenEndpoint, revokeEndpoint: revokeEndpoint,
            userinfoEndpoint: userinfoEndpoint, sessionEndpoint: sessionEndpoint, endSessionEndpoint: endSessionEndpoint,
            oauthThreshold: oauthThreshold, oauthClientId: oauthClientId, oauthRedirectUri: oauthRedirectUri,
            oauthSignoutRedirectUri: oauthSignoutRedirectUri, oauthScope: oauthScope, authServiceName: authServiceName,
            registrationServiceName: registrationServiceName, keychainAccessGroup: keychainAccessGroup,
            sslPinningPublicKeyHashes: sslPinningPublicKeyHashes)
    }
}
