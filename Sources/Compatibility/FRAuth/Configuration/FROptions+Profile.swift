package import SignetCore
public import SignetNetwork
package import SignetOAuth

extension FROptions {
    /// Converts the settings to a profile of the engine.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` with the key and the problem.
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
                // Journeys that were set up for the ForgeRock SDK may check this value.
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

    /// The error for an incomplete OAuth 2.0 client; nil when the settings have a client.
    ///
    /// A client needs an identifier, a redirect URI and scopes.
    var missingClient: ConfigError? {
        let settings: [(FROptionsKey, String?)] = [
            (.oauthClientId, oauthClientId), (.oauthRedirectUri, oauthRedirectUri), (.oauthScope, oauthScope),
        ]
        let missing = settings.filter { $0.1?.trimmingWhitespace().isEmpty ?? true }.map(\.0.rawValue)
        if missing.isEmpty { return nil }
        return missing.count == settings.count
            ? .invalidSDKState : .invalidConfiguration("an OAuth 2.0 client needs \(missing.joined(separator: " and ")), too")
    }

    /// The OAuth 2.0 client of the settings; nil when the settings have none.
    private var client: OAuthClient? {
        guard missingClient == nil, let oauthClientId, let oauthRedirectUri, let oauthScope else { return nil }
        return OAuthClient(
            clientID: oauthClientId, redirectURI: oauthRedirectUri, scopes: oauthScope.split(separator: " ").map { String($0) },
            signOutRedirectURI: oauthSignoutRedirectUri.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// The validated access group; nil when the session belongs to this app alone.
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

    /// The addresses that replace the default endpoints.
    ///
    /// Leading slashes are removed, so that an address with or without one works. The ForgeRock SDK appends a relative address to
    /// the server's address and omits a missing slash.
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

    /// Returns true when a session and tokens from the settings `old` must not be used with these settings.
    ///
    /// That is so when one of the six settings that the ForgeRock documentation names differs: the address, the realm, the
    /// cookie's name, or the client's identifier, redirect URI or scopes. Two spellings of the same realm or address are equal.
    package func endsSessions(of old: FROptions) -> Bool {
        Self.normalized(url) != Self.normalized(old.url) || Realm(realm) != Realm(old.realm) || cookieName != old.cookieName
            || oauthClientId != old.oauthClientId || oauthRedirectUri != old.oauthRedirectUri || oauthScope != old.oauthScope
    }

    /// Returns a server's address in a normalized form, so that two spellings of it can be compared.
    private static func normalized(_ url: String) -> String {
        let url = String(url.trimmingWhitespace().reversed().drop { $0 == "/" }.reversed())
        return (try? Endpoint(unchecked: url))?.normalizedURL ?? url
    }

    /// Returns these settings with the endpoints from an OpenID provider's discovery document; see `ServerProfile.discovering`.
    ///
    /// The ForgeRock SDK changes the settings in place. An endpoint that is already set is kept.
    ///
    /// With a ``oauthSignoutRedirectUri`` the user is sent to the provider's `end_session_endpoint` to log out. Without one,
    /// Ping's own endpoint to end a session (`ping_end_idp_session_endpoint`) is used if the document contains it.
    /// - Parameters:
    ///   - discoveryURL: The address of the discovery document.
    ///   - transport: The transport for the request; nil for a new connection. The pins and the timeout of these settings apply
    ///     to it.
    /// - Returns: A copy with the address of the document and the endpoints. When ``url`` is empty, it also has the URL and,
    ///   unless one is set, the realm of the document's issuer.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)``; ``NetworkError``, ``OAuth2Error`` or ``AuthApiError`` when the server
    ///   answers with something other than the document.
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
