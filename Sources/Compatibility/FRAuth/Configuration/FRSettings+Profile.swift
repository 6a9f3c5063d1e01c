import SignetCore
import SignetNetwork
import SignetOAuth

extension FRSettings {
    /// Converts the settings to a profile of the engine.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` with the key and the problem.
    func profile(policy: EndpointPolicy) throws(ConfigError) -> ServerProfile {
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
            throw .invalidConfiguration(
                "\(Self.keys[error.key]?.rawValue ?? error.key): \(error)\(Self.remedy(for: error))")
        }
    }

    /// The setting that allows an address, if one does.
    private static func remedy(for error: ProfileError) -> String {
        error.fault.address?.code == .plainHTTP ? "; FRAuth.allowPlainHTTP(to:) allows it in a test network" : ""
    }

    private static let keys: [String: FROptionsKey] = [
        "url": .url, "cookieName": .cookieName, "timeout": .timeout, "refreshThreshold": .oauthThreshold,
        "authenticationService": .authServiceName,
        "registrationService": .registrationServiceName, "endpoints.authenticate": .authenticateEndpoint,
        "endpoints.authorize": .authorizeEndpoint, "endpoints.token": .tokenEndpoint, "endpoints.revoke": .revokeEndpoint,
        "endpoints.userInfo": .userinfoEndpoint, "endpoints.session": .sessionEndpoint,
        "endpoints.endSession": .endSessionEndpoint,
    ]

    func pins() throws(ConfigError) -> Set<PublicKeyPin> {
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
        // AM adds no `acr` to its id_tokens by default, and the ForgeRock SDK doesn't check it.
        return OAuthClient(
            clientID: oauthClientId, redirectURI: oauthRedirectUri, scopes: oauthScope.split(separator: " ").map { String($0) },
            signOutRedirectURI: oauthSignoutRedirectUri.flatMap { $0.isEmpty ? nil : $0 }, requiresACR: false)
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

    func seconds(_ key: FROptionsKey, _ text: String) throws(ConfigError) -> Duration {
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
    func endsSessions(of old: FRSettings) -> Bool {
        Self.normalized(url) != Self.normalized(old.url) || Realm(realm) != Realm(old.realm) || cookieName != old.cookieName
            || oauthClientId != old.oauthClientId || oauthRedirectUri != old.oauthRedirectUri || oauthScope != old.oauthScope
    }

    /// Returns a server's address in a normalized form, so that two spellings of it can be compared.
    private static func normalized(_ url: String) -> String {
        let url = String(url.trimmingWhitespace().reversed().drop { $0 == "/" }.reversed())
        return (try? Endpoint(unchecked: url))?.normalizedURL ?? url
    }
}
