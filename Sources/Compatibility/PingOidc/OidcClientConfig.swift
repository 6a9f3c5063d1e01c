package import SignetCore
package import SignetOAuth
public import SignetStorage

/// The values of an ``OidcClientConfig``.
public struct OidcClientSettings: Sendable {
    /// The addresses of the server; nil for those of the document at ``discoveryEndpoint``.
    public var openId: OpenIdConfiguration?
    /// The time before its expiration at which a token is renewed, in seconds.
    public var refreshThreshold: Int64 = 0
    /// The logger.
    public var logger: any Logger = LogManager.logger
    /// The address of the server's OpenID configuration.
    public var discoveryEndpoint = ""
    /// The client ID of the app.
    public var clientId = ""
    /// The scopes to request.
    public var scopes: Set<String> = []
    /// The redirect URI of the app.
    public var redirectUri = ""
    /// The address or name that the server proposes to the user (`login_hint`).
    public var loginHint: String?
    /// Not used: each request has a random `state` of its own.
    public var state: String?
    /// Not used: each request has a random `nonce` of its own.
    public var nonce: String?
    /// The presentation of the server's pages (`display`).
    public var display: String?
    /// The pages that the server must show or must not show (`prompt`).
    public var prompt: String?
    /// The languages of the server's pages (`ui_locales`).
    public var uiLocales: String?
    /// The requested levels of authentication (`acr_values`).
    public var acrValues: String?
    /// More parameters of the authorization request.
    ///
    /// They can't replace those that protect it.
    public var additionalParameters: [String: String] = [:]
    /// The HTTP client; nil for the workflow's, or for a new one.
    public var httpClient: HttpClient?
    /// The hosts that plain `http` is allowed to, in addition to loopback addresses.
    ///
    /// A workflow adds those of its own settings.
    public var plainHTTPHosts: Set<String> = []
}

/// The settings of an OAuth 2.0 client: the members of ``OidcClientSettings``, and the storage of the tokens.
///
///     config.module(OidcModule.config) { oidc in
///         oidc.clientId = "app"
///         oidc.discoveryEndpoint = "https://am.example.com/am/oauth2/alpha/.well-known/openid-configuration"
///         oidc.scopes = ["openid"]
///         oidc.redirectUri = "com.example.app://callback"
///     }
///
/// The settings are read when they are first used.
@dynamicMemberLookup
public final class OidcClientConfig: Sendable {
    private let state = Mutex(OidcClientSettings())
    /// The setting for ``storage``.
    package let tokens = StorageSetting<Token>(account: account, isDefault: true)

    /// The name of the tokens in the user's vault.
    ///
    /// The identity of the server and the client completes it.
    package static let account = "ACCESS_TOKEN_STORAGE"

    /// Creates settings without a client.
    public init() {}

    /// A member of the settings.
    public subscript<Value: Sendable>(dynamicMember path: WritableKeyPath<OidcClientSettings, Value>) -> Value {
        get { settings[keyPath: path] }
        set {
            var changed = settings
            changed[keyPath: path] = newValue
            state.withLock { $0 = changed }
        }
    }

    /// All settings.
    package var settings: OidcClientSettings { state.withLock { $0 } }

    /// The storage for the tokens.
    ///
    /// The default is the user's vault. The app must not use a storage elsewhere after it assigned it.
    public var storage: any Storage<Token> {
        get { tokens.storage }
        set { tokens.storage = newValue }
    }

    /// Adds a scope to those to request.
    public func scope(_ scope: String) { state.withLock { _ = $0.scopes.insert(scope) } }

    /// Returns a copy of the settings, with the same storage.
    public func clone() -> OidcClientConfig {
        let (copy, settings) = (OidcClientConfig(), settings)
        copy.state.withLock { $0 = settings }
        if !tokens.isDefault { copy.storage = storage }
        return copy
    }
}

extension OidcClientSettings {
    /// The client in the form of the engine; nil when the settings name none.
    package var client: OAuthClient? {
        guard !clientId.isEmpty else { return nil }
        let named = [
            "login_hint": loginHint, "display": display, "prompt": prompt, "ui_locales": uiLocales, "acr_values": acrValues,
        ]
        // AM adds no `acr` to its id_tokens by default, and Ping's SDK doesn't check it.
        return OAuthClient(
            clientID: clientId, redirectURI: redirectUri, scopes: scopes.sorted(),
            authorizationParameters: additionalParameters.merging(named.compactMapValues(\.self)) { $1 }, requiresACR: false)
    }

    /// The addresses in the form of the engine, to complete those of a profile.
    package var overrides: EndpointOverrides {
        var addresses: EndpointOverrides = [:]
        if !discoveryEndpoint.isEmpty { addresses[.discovery] = discoveryEndpoint }
        guard let openId else { return addresses }
        let named: [(ServerEndpoint, String?)] = [
            (.authorize, openId.authorizationEndpoint), (.token, openId.tokenEndpoint), (.userInfo, openId.userinfoEndpoint),
            (.revoke, openId.revocationEndpoint), (.endSession, openId.endSessionEndpoint),
        ]
        for (endpoint, address) in named where address?.isEmpty == false { addresses[endpoint] = address }
        return addresses
    }
}

/// The storage of a configuration as the engine's storage of tokens.
package struct TokenSlot: Storage {
    private let tokens: StorageSetting<Token>

    /// Creates the storage for a configuration.
    package init(_ config: OidcClientConfig) { tokens = config.tokens }

    package func save(item: AccessToken) async throws { try await tokens.save(item: Token(item)) }
    package func get() async throws -> AccessToken? { try await tokens.get()?.record }
    package func delete() async throws { try await tokens.delete() }
}
