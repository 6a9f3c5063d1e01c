/// The settings of the SDK, for ``FRAuth/start(options:)``. They are those of `FRAuthConfig.plist`, and the texts are those that the
/// original takes.
public struct FROptions: Sendable, Equatable {
    /// The server's address up to its deployment path: `https://tenant.forgeblocks.com/am`.
    public var url: String
    /// The realm. Empty is the top one, where the original asks an address that no server has.
    public var realm: String
    /// Whether cookies of the server are kept and sent.
    public var enableCookie: Bool
    /// The name of the cookie that carries the session.
    public var cookieName: String
    /// Seconds for each request.
    public var timeout: String
    /// Where journeys are walked, if not at the usual address; as ``authorizeEndpoint``.
    public var authenticateEndpoint: String?
    /// Where to authorize, if not at the usual address: below ``url``, with or without a slash in front, or a whole address.
    public var authorizeEndpoint: String?
    /// Where tokens are; as ``authorizeEndpoint``.
    public var tokenEndpoint: String?
    /// Where tokens are revoked; as ``authorizeEndpoint``.
    public var revokeEndpoint: String?
    /// Where the claims of a person are; as ``authorizeEndpoint``.
    public var userinfoEndpoint: String?
    /// Where sessions are; as ``authorizeEndpoint``.
    public var sessionEndpoint: String?
    /// Where an OpenID session ends; as ``authorizeEndpoint``.
    public var endSessionEndpoint: String?
    /// The journey that logs in.
    public var authServiceName: String
    /// The journey that registers.
    public var registrationServiceName: String
    /// Seconds before its end that a token is renewed; nil for 60.
    public var oauthThreshold: String?
    /// The OAuth 2.0 client.
    public var oauthClientId: String?
    /// Where the authorization comes back to.
    public var oauthRedirectUri: String?
    /// Where a log-out in a browser comes back to.
    public var oauthSignoutRedirectUri: String?
    /// What to ask for, with spaces between.
    public var oauthScope: String?
    /// The keychain's access group, on Apple's systems.
    public var keychainAccessGroup: String?
    /// Where the server describes itself, as ``discover(discoveryURL:transport:)`` was told: its keys are found there. No key of a
    /// configuration stands for it.
    var discoveryURL: String?
    /// The keys that the server may have: base64 of SHA-256 of a SubjectPublicKeyInfo. Nil and empty pin nothing.
    public var sslPinningPublicKeyHashes: [String]?

    /// The name of the cookie in a server that nobody has configured.
    public static let defaultCookieName = "iPlanetDirectoryPro"

    /// Settings, in the order in which the documents give them.
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

    /// Settings, in the order of the original's initialiser, where the journeys come before the OAuth 2.0 client.
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
