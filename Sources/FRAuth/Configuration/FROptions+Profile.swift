package import SignetCore
package import SignetJourney
public import SignetNetwork

extension FROptions {
    /// The engine's profile of these settings.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` that names the key and what is wrong.
    package func profile(policy: EndpointPolicy = .secure) throws(ConfigError) -> ServerProfile {
        let timeout = try seconds(.timeout, timeout)
        let threshold = try oauthThreshold.map { text throws(ConfigError) in try seconds(.oauthThreshold, text) }
        let pins = try pins()
        do {
            return try ServerProfile(url: url, realm: Realm(realm), endpoints: overrides, policy: policy) { profile in
                profile.cookieName = cookieName
                profile.timeout = timeout
                profile.refreshThreshold = threshold ?? .seconds(60)
                profile.pins = pins
                profile.authenticationService = authServiceName
                profile.registrationService = registrationServiceName
                profile.keepsCookies = enableCookie
                profile.client = client
                // Journeys of servers that were set up for the original may look for it.
                profile.requestedWith = "forgerock-sdk"
            }
        } catch {
            throw .invalidConfiguration("\(Self.keys[error.key]?.rawValue ?? error.key): \(error)")
        }
    }

    private static let keys: [String: FROptionsKey] = [
        "url": .url, "cookieName": .cookieName, "timeout": .timeout, "refreshThreshold": .oauthThreshold,
        "authenticationService": .authServiceName,
        "registrationService": .registrationServiceName, "endpoints.authenticate": .authenticateEndpoint,
        "endpoints.authorize": .authorizeEndpoint, "endpoints.token": .tokenEndpoint, "endpoints.revoke": .revokeEndpoint,
        "endpoints.userInfo": .userinfoEndpoint, "endpoints.session": .sessionEndpoint,
        "endpoints.endSession": .endSessionEndpoint,
    ]

    private func pins() throws(ConfigError) -> Set<PublicKeyPin> {
        do {
            return Set(try (sslPinningPublicKeyHashes ?? []).map { try PublicKeyPin($0) })
        } catch {
            throw .invalidConfiguration("\(FROptionsKey.sslPinningPublicKeyHashes.rawValue): \(error)")
        }
    }

    /// Why there is no OAuth 2.0 client in the settings; nil when there is one. It takes all three of its settings.
    var missingClient: ConfigError? {
        let settings: [(FROptionsKey, String?)] = [
            (.oauthClientId, oauthClientId), (.oauthRedirectUri, oauthRedirectUri), (.oauthScope, oauthScope),
        ]
        let missing = settings.filter { $0.1?.trimmingWhitespace().isEmpty ?? true }.map(\.0.rawValue)
        if missing.isEmpty { return nil }
        return missing.count == settings.count
            ? .invalidSDKState : .invalidConfiguration("an OAuth 2.0 client needs \(missing.joined(separator: " and ")), too")
    }

    /// The OAuth 2.0 client of the settings; nil when they have none.
    private var client: OAuthClient? {
        guard missingClient == nil, let oauthClientId, let oauthRedirectUri, let oauthScope else { return nil }
        return OAuthClient(
            clientID: oauthClientId, redirectURI: oauthRedirectUri, scopes: oauthScope.split(separator: " ").map { String($0) },
            signOutRedirectURI: oauthSignoutRedirectUri.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// The access group, checked; nil for a session of the app's own.
    /// - Throws: ``ConfigError/invalidAccessGroup(_:)``.
    var accessGroup: String? {
        get throws(ConfigError) {
            guard let keychainAccessGroup else { return nil }
            let isPlain = keychainAccessGroup.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains($0)
            }
            guard !keychainAccessGroup.isEmpty, isPlain else { throw .invalidAccessGroup(keychainAccessGroup) }
            return keychainAccessGroup
        }
    }

    private func seconds(_ key: FROptionsKey, _ text: String) throws(ConfigError) -> Duration {
        guard let seconds = Double(text.trimmingWhitespace()), (0...86_400).contains(seconds) else {
            throw .invalidConfiguration("\(key.rawValue) must be a number of seconds, a day at most")
        }
        return .seconds(seconds)
    }

    /// The original puts what is no whole address behind the server's, and forgets the slash where there is none.
    private var overrides: EndpointOverrides {
        var overrides: EndpointOverrides = [:]
        let written: [(ServerEndpoint, String?)] = [
            (.authenticate, authenticateEndpoint), (.authorize, authorizeEndpoint), (.token, tokenEndpoint),
            (.revoke, revokeEndpoint), (.userInfo, userinfoEndpoint), (.session, sessionEndpoint),
            (.endSession, endSessionEndpoint),
        ]
        for (endpoint, text) in written {
            guard let text = text?.trimmingWhitespace(), !text.isEmpty else { continue }
            overrides[endpoint] = String(text.drop { $0 == "/" })
        }
        overrides[.discovery] = discoveryURL
        return overrides
    }

    /// Whether a session and tokens that were got with `old` may not be used with these settings: the six that the documents name. Two
    /// ways of writing one realm, or one address, are no change.
    package func endsSessions(of old: FROptions) -> Bool {
        Self.place(url) != Self.place(old.url) || Realm(realm) != Realm(old.realm) || cookieName != old.cookieName
            || oauthClientId != old.oauthClientId || oauthRedirectUri != old.oauthRedirectUri || oauthScope != old.oauthScope
    }

    /// Where a server is, however that is written.
    private static func place(_ url: String) -> String {
        let url = String(url.trimmingWhitespace().reversed().drop { $0 == "/" }.reversed())
        return (try? Endpoint(unchecked: url))?.place ?? url
    }

    /// The settings with the addresses that an OpenID provider gives of itself; see `ServerProfile.discovering`. The original changes
    /// itself; this returns what is changed. An address that was set before goes before it.
    ///
    /// Where there is a ``oauthSignoutRedirectUri`` people are sent to the provider to log out; otherwise Ping's own address to end a
    /// session is taken if it gives one.
    /// - Parameters:
    ///   - discoveryURL: where the document is.
    ///   - transport: what the request goes through; nil for a connection of its own. The settings' keys and time count for it.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)``; ``NetworkError``, ``OAuth2Error``, ``AuthApiError`` for what a server said in
    ///   place of the document.
    public func discover(discoveryURL: String, transport: (any HTTPTransport)? = nil) async throws -> FROptions {
        let transport = transport ?? AsyncHTTPTransport()
        var options = self
        options.discoveryURL = discoveryURL
        do {
            let found: ServerProfile
            if url.isEmpty {
                let (pins, timeout) = (try pins(), try seconds(.timeout, timeout))
                found = try await ServerProfile.discovered(at: discoveryURL, over: transport) {
                    $0.pins = pins
                    $0.timeout = timeout
                }
                options.url = found.url.url
                if realm.isEmpty { options.realm = found.realm.description }
            } else {
                found = try await profile().discovering(at: discoveryURL, over: transport)
            }
            options.authorizeEndpoint = authorizeEndpoint ?? found.address(of: .authorize)
            options.tokenEndpoint = tokenEndpoint ?? found.address(of: .token)
            options.userinfoEndpoint = userinfoEndpoint ?? found.address(of: .userInfo)
            options.revokeEndpoint = revokeEndpoint ?? found.address(of: .revoke)
            let signsOutInBrowser = oauthSignoutRedirectUri?.isEmpty == false
            options.endSessionEndpoint =
                endSessionEndpoint ?? (signsOutInBrowser ? nil : found.providerEndSession) ?? found.address(of: .endSession)
        } catch {
            throw LegacyErrors.error(error)
        }
        return options
    }
}
