public import Foundation
import SignetCore
import SignetOAuth

/// The settings of the SDK, for ``FRAuth/start(options:)``.
///
/// They are the settings of `FRAuthConfig.plist`, with the string values that the ForgeRock SDK accepts. A start copies them: a
/// later change of this object takes effect at the next start.
open class FROptions: NSObject, Codable {
    /// The values.
    final var settings: FRSettings

    /// The name of the session cookie on a server with the default settings.
    public static let defaultCookieName = "iPlanetDirectoryPro"

    init(_ settings: FRSettings) {
        self.settings = settings
        super.init()
    }

    /// Creates settings, with the parameters in the order of the ForgeRock SDK.
    public init(
        url: String, realm: String, enableCookie: Bool = true, cookieName: String? = nil, timeout: String = "60",
        authenticateEndpoint: String? = nil, authorizeEndpoint: String? = nil, tokenEndpoint: String? = nil,
        revokeEndpoint: String? = nil, userinfoEndpoint: String? = nil, sessionEndpoint: String? = nil,
        endSessionEndpoint: String? = nil, authServiceName: String = "Login", registrationServiceName: String = "Registration",
        oauthThreshold: String? = nil, oauthClientId: String? = nil, oauthRedirectUri: String? = nil,
        oauthSignoutRedirectUri: String? = nil, oauthScope: String? = nil, keychainAccessGroup: String? = nil,
        sslPinningPublicKeyHashes: [String]? = nil
    ) {
        settings = FRSettings()
        super.init()
        self.url = url
        self.realm = realm
        self.enableCookie = enableCookie
        self.cookieName = cookieName ?? Self.defaultCookieName
        self.timeout = timeout
        self.authenticateEndpoint = authenticateEndpoint
        self.authorizeEndpoint = authorizeEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.revokeEndpoint = revokeEndpoint
        self.userinfoEndpoint = userinfoEndpoint
        self.sessionEndpoint = sessionEndpoint
        self.endSessionEndpoint = endSessionEndpoint
        self.authServiceName = authServiceName
        self.registrationServiceName = registrationServiceName
        self.oauthThreshold = oauthThreshold
        self.oauthClientId = oauthClientId
        self.oauthRedirectUri = oauthRedirectUri
        self.oauthSignoutRedirectUri = oauthSignoutRedirectUri
        self.oauthScope = oauthScope
        self.keychainAccessGroup = keychainAccessGroup
        self.sslPinningPublicKeyHashes = sslPinningPublicKeyHashes
    }

    /// Creates settings, with the parameters in the order of the ForgeRock documentation, where the OAuth 2.0 client comes before the journeys.
    @_disfavoredOverload
    public convenience init(
        url: String, realm: String, enableCookie: Bool = true, cookieName: String? = nil, timeout: String = "60",
        authenticateEndpoint: String? = nil, authorizeEndpoint: String? = nil, tokenEndpoint: String? = nil,
        revokeEndpoint: String? = nil, userinfoEndpoint: String? = nil, sessionEndpoint: String? = nil,
        endSessionEndpoint: String? = nil, oauthThreshold: String? = nil, oauthClientId: String? = nil,
        oauthRedirectUri: String? = nil, oauthSignoutRedirectUri: String? = nil, oauthScope: String? = nil,
        authServiceName: String = "Login", registrationServiceName: String = "Registration", keychainAccessGroup: String? = nil,
        sslPinningPublicKeyHashes: [String]? = nil
    ) {
        self.init(
            url: url, realm: realm, enableCookie: enableCookie, cookieName: cookieName, timeout: timeout,
            authenticateEndpoint: authenticateEndpoint, authorizeEndpoint: authorizeEndpoint, tokenEndpoint: tokenEndpoint,
            revokeEndpoint: revokeEndpoint, userinfoEndpoint: userinfoEndpoint, sessionEndpoint: sessionEndpoint,
            endSessionEndpoint: endSessionEndpoint, authServiceName: authServiceName,
            registrationServiceName: registrationServiceName, oauthThreshold: oauthThreshold, oauthClientId: oauthClientId,
            oauthRedirectUri: oauthRedirectUri, oauthSignoutRedirectUri: oauthSignoutRedirectUri, oauthScope: oauthScope,
            keychainAccessGroup: keychainAccessGroup, sslPinningPublicKeyHashes: sslPinningPublicKeyHashes)
    }

    /// Creates settings from a dictionary with the keys of `FRAuthConfig.plist`, such as `forgerock_url`.
    ///
    /// A missing value gets its default. A value of a wrong type is ignored, except that an integer is accepted where a string is
    /// expected. Unknown keys are ignored.
    public convenience init(config: [String: Any]) { self.init(FRSettings(config: config)) }

    /// Decodes settings from an object with the keys of `FRAuthConfig.plist`.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` when a value has a wrong type.
    public required init(from decoder: any Decoder) throws {
        settings = try FRSettings(document: JSONValue(from: decoder))
        super.init()
    }

    /// Encodes the settings as an object with the keys of `FRAuthConfig.plist`, without settings that are nil.
    open func encode(to encoder: any Encoder) throws { try settings.document.encode(to: encoder) }

    /// Returns the settings as a dictionary with the keys of `FRAuthConfig.plist`, without settings that are nil.
    public func optionsDictionary() -> [String: Any]? { settings.document.object?.mapValues(\.any) }

    /// Returns true for settings with the same values.
    override open func isEqual(_ object: Any?) -> Bool { (object as? FROptions)?.settings == settings }

    /// The hash of the address and the realm.
    override open var hash: Int { [url, realm].hashValue }
}

extension FROptions {
    /// The server's address up to its deployment path: `https://tenant.forgeblocks.com/am`.
    public var url: String {
        get { settings.url }
        set { settings.url = newValue }
    }

    /// The realm.
    ///
    /// An empty string means the top-level realm; the ForgeRock SDK then requests an address that doesn't exist.
    public var realm: String {
        get { settings.realm }
        set { settings.realm = newValue }
    }

    /// True when the server's cookies are stored and sent.
    public var enableCookie: Bool {
        get { settings.enableCookie }
        set { settings.enableCookie = newValue }
    }

    /// The name of the cookie that carries the session.
    public var cookieName: String {
        get { settings.cookieName }
        set { settings.cookieName = newValue }
    }

    /// The timeout of each request, in seconds.
    public var timeout: String {
        get { settings.timeout }
        set { settings.timeout = newValue }
    }

    /// The endpoint for journeys, if it differs from the default; the same formats as ``authorizeEndpoint``.
    public var authenticateEndpoint: String? {
        get { settings.authenticateEndpoint }
        set { settings.authenticateEndpoint = newValue }
    }

    /// The authorization endpoint, if it differs from the default: a path below ``url``, with or without a leading slash, or a
    /// whole address.
    public var authorizeEndpoint: String? {
        get { settings.authorizeEndpoint }
        set { settings.authorizeEndpoint = newValue }
    }

    /// The token endpoint; the same formats as ``authorizeEndpoint``.
    public var tokenEndpoint: String? {
        get { settings.tokenEndpoint }
        set { settings.tokenEndpoint = newValue }
    }

    /// The endpoint that revokes tokens; the same formats as ``authorizeEndpoint``.
    public var revokeEndpoint: String? {
        get { settings.revokeEndpoint }
        set { settings.revokeEndpoint = newValue }
    }

    /// The userinfo endpoint, which returns the user's claims; the same formats as ``authorizeEndpoint``.
    public var userinfoEndpoint: String? {
        get { settings.userinfoEndpoint }
        set { settings.userinfoEndpoint = newValue }
    }

    /// The endpoint for sessions; the same formats as ``authorizeEndpoint``.
    public var sessionEndpoint: String? {
        get { settings.sessionEndpoint }
        set { settings.sessionEndpoint = newValue }
    }

    /// The endpoint that ends an OpenID session; the same formats as ``authorizeEndpoint``.
    public var endSessionEndpoint: String? {
        get { settings.endSessionEndpoint }
        set { settings.endSessionEndpoint = newValue }
    }

    /// The name of the journey that logs the user in.
    public var authServiceName: String {
        get { settings.authServiceName }
        set { settings.authServiceName = newValue }
    }

    /// The name of the journey that registers a user.
    public var registrationServiceName: String {
        get { settings.registrationServiceName }
        set { settings.registrationServiceName = newValue }
    }

    /// The number of seconds before its expiration at which a token is renewed; nil for 60.
    public var oauthThreshold: String? {
        get { settings.oauthThreshold }
        set { settings.oauthThreshold = newValue }
    }

    /// The identifier of the OAuth 2.0 client.
    public var oauthClientId: String? {
        get { settings.oauthClientId }
        set { settings.oauthClientId = newValue }
    }

    /// The redirect URI for the authorization response.
    public var oauthRedirectUri: String? {
        get { settings.oauthRedirectUri }
        set { settings.oauthRedirectUri = newValue }
    }

    /// The redirect URI after a logout in a browser.
    public var oauthSignoutRedirectUri: String? {
        get { settings.oauthSignoutRedirectUri }
        set { settings.oauthSignoutRedirectUri = newValue }
    }

    /// The scopes to request, separated by spaces.
    public var oauthScope: String? {
        get { settings.oauthScope }
        set { settings.oauthScope = newValue }
    }

    /// The access group: apps of a user with the same group share a session.
    ///
    /// Nil for a session of this app alone.
    public var keychainAccessGroup: String? {
        get { settings.keychainAccessGroup }
        set { settings.keychainAccessGroup = newValue }
    }

    /// The pins of the server's public keys: each is the base64 of the SHA-256 of a SubjectPublicKeyInfo.
    ///
    /// Nil and empty pin nothing.
    public var sslPinningPublicKeyHashes: [String]? {
        get { settings.sslPinningPublicKeyHashes }
        set { settings.sslPinningPublicKeyHashes = newValue }
    }
}

// MARK: Endpoints

extension FROptions {
    /// Returns the setting of the endpoint for journeys, or without one its path below ``url``.
    public func getAuthenticateEndpoint() -> String { authenticateEndpoint ?? path(.authenticate) }
    /// Returns the setting of the authorization endpoint, or without one its path below ``url``.
    public func getAuthorizeEndpoint() -> String { authorizeEndpoint ?? path(.authorize) }
    /// Returns the setting of the token endpoint, or without one its path below ``url``.
    public func getTokenEndpoint() -> String { tokenEndpoint ?? path(.token) }
    /// Returns the setting of the endpoint that revokes tokens, or without one its path below ``url``.
    public func getRevokeEndpoint() -> String { revokeEndpoint ?? path(.revoke) }
    /// Returns the setting of the userinfo endpoint, or without one its path below ``url``.
    public func getUserinfoEndpoint() -> String { userinfoEndpoint ?? path(.userInfo) }
    /// Returns the setting of the endpoint for sessions, or without one its path below ``url``.
    public func getSessionEndpoint() -> String { sessionEndpoint ?? path(.session) }
    /// Returns the setting of the endpoint that ends an OpenID session, or without one its path below ``url``.
    public func getEndSessionEndpoint() -> String { endSessionEndpoint ?? path(.endSession) }

    private func path(_ endpoint: ServerEndpoint) -> String { "/" + endpoint.path(realm: Realm(realm).path(.full)) }
}
