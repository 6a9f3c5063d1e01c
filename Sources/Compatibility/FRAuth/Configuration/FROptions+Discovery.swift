import FRCore
package import SignetCore
public import SignetNetwork
package import SignetOAuth

extension FROptions {
    /// Converts the settings to a profile of the engine.
    /// - Throws: ``ConfigError/invalidConfiguration(_:)`` with the key and the problem.
    package func profile(policy: EndpointPolicy = FRAuthProcess.current.policy) throws(ConfigError) -> ServerProfile {
        try settings.profile(policy: policy)
    }

    /// Returns true when a session and tokens from the settings `old` must not be used with these settings.
    ///
    /// That is so when one of the six settings that the ForgeRock documentation names differs: the address, the realm, the
    /// cookie's name, or the client's identifier, redirect URI or scopes. Two spellings of the same realm or address are equal.
    package func endsSessions(of old: FROptions) -> Bool { settings.endsSessions(of: old.settings) }

    /// Sets the endpoints from an OpenID provider's discovery document; see `ServerProfile.discovering`.
    ///
    /// With a ``oauthSignoutRedirectUri`` the user is sent to the provider's `end_session_endpoint` to log out. Without one,
    /// Ping's own endpoint to end a session (`ping_end_idp_session_endpoint`) is used if the document contains it.
    ///
    /// When ``url`` is empty, it becomes the issuer of the document or, for an AM, the server's address; then also the realm, unless
    /// one is set, becomes that of the issuer. The document must name the issuer that its address contains. The process's
    /// interceptors see the request.
    /// - Parameters:
    ///   - discoveryURL: The address of the discovery document.
    ///   - transport: The transport for the request; nil for that of the SDK. The pins and the timeout of these settings apply to
    ///     it.
    /// - Returns: This object.
    /// - Throws: ``OAuth2Error/other(_:)`` for a text that is not an address; ``ConfigError/invalidConfiguration(_:)``; `NetworkError`,
    ///   ``OAuth2Error`` or ``AuthApiError`` when the server answers with something other than the document. The settings are then
    ///   unchanged.
    @discardableResult
    public func discover(discoveryURL: String, transport: (any HTTPTransport)? = nil) async throws -> FROptions {
        guard discoveryURL.isValidUrl else { throw OAuth2Error.other(nil) }
        let process = FRAuthProcess.current
        settings = try await settings.discovering(
            at: discoveryURL, over: transport ?? process.transport, policy: process.policy,
            interceptors: process.core.legacyInterceptors)
        return self
    }
}

extension FRSettings {
    /// Returns these settings with the endpoints from a discovery document.
    /// - Throws: The errors of ``FROptions/discover(discoveryURL:transport:)``.
    func discovering(
        at discoveryURL: String, over transport: any HTTPTransport, policy: EndpointPolicy,
        interceptors: [any SignetNetwork.RequestInterceptor]
    ) async throws -> FRSettings {
        var settings = self
        settings.discoveryURL = discoveryURL
        do {
            let found: ServerProfile
            if url.isEmpty {
                let (pins, timeout) = (try pins(), try seconds(.timeout, timeout))
                found = try await ServerProfile.discovered(
                    ofAnyProviderAt: discoveryURL, over: transport, policy: policy, interceptors: interceptors
                ) {
                    $0.pins = pins
                    $0.timeout = timeout
                }
                settings.url = found.url.url
                if realm.isEmpty, found.realm != .root { settings.realm = found.realm.description }
            } else {
                settings.forgetDiscoverable()
                found = try await settings.profile(policy: policy).discovering(
                    at: discoveryURL, over: transport, interceptors: interceptors)
            }
            settings.authorizeEndpoint = found.address(of: .authorize)
            settings.tokenEndpoint = found.address(of: .token)
            settings.userinfoEndpoint = found.address(of: .userInfo)
            settings.revokeEndpoint = found.address(of: .revoke)
            let signsOutInBrowser = oauthSignoutRedirectUri?.isEmpty == false
            settings.endSessionEndpoint =
                (signsOutInBrowser ? nil : found.providerEndSession) ?? found.address(of: .endSession)
        } catch {
            throw LegacyErrors.error(error)
        }
        return settings
    }

    /// Removes the endpoints that a discovery document replaces.
    private mutating func forgetDiscoverable() {
        (authorizeEndpoint, tokenEndpoint, userinfoEndpoint, revokeEndpoint, endSessionEndpoint) = (nil, nil, nil, nil, nil)
    }
}
