/// A setting of a configuration that a reload compares.
struct ReloadableSetting: Sendable {
    /// The name in the configuration file.
    let name: String
    /// Returns a hash of the value in a configuration.
    let hash: @Sendable (ServerConfiguration) -> Int
    /// Sets the setting to its earlier value; nil when a reload can change the setting.
    let keep: (@Sendable (_ new: inout ServerConfiguration, _ old: ServerConfiguration) -> Void)?

    /// Creates a setting that a reload changes.
    private init<Value: Hashable & SendableMetatype>(
        _ name: String, _ value: @escaping @Sendable (ServerConfiguration) -> Value
    ) {
        self.name = name
        hash = { value($0).hashValue }
        keep = nil
    }

    /// Creates a setting that needs a restart, because a part of the server that it concerns exists since the start.
    private init<Value: Hashable & SendableMetatype>(
        _ name: String, atStart path: any WritableKeyPath<ServerConfiguration, Value> & Sendable
    ) {
        self.name = name
        hash = { $0[keyPath: path].hashValue }
        keep = { $0[keyPath: path] = $1[keyPath: path] }
    }

    /// All settings except users, clients and journeys.
    static let all: [ReloadableSetting] = [
        ReloadableSetting("profile") { $0.profile }, ReloadableSetting("defaultJourney") { $0.defaultJourney },
        ReloadableSetting("transactionJourney") { $0.transactionJourney }, ReloadableSetting("attributes") { $0.nodeContext },
        ReloadableSetting("scopeClaims") { $0.scopeClaims },
        ReloadableSetting("issuer") { $0.issuer }, ReloadableSetting("externalLoginPageURL") { $0.externalLoginPageURL },
        ReloadableSetting("cookieDomain") { $0.cookieDomain }, ReloadableSetting("cookieIsHTTPOnly") { $0.cookieIsHTTPOnly },
        ReloadableSetting("cookieSameSite") { $0.cookieSameSite },
        ReloadableSetting("loadBalancerCookie") { $0.loadBalancerCookie },
        ReloadableSetting("backgroundColor") { $0.backgroundColor }, ReloadableSetting("accentColor") { $0.accentColor },
        ReloadableSetting("logo") { $0.logo }, ReloadableSetting("languages") { $0.languages },
        ReloadableSetting("defaultLanguage") { $0.defaultLanguage },
        ReloadableSetting("sessionIdleTimeout") { $0.sessionIdleTimeout },
        ReloadableSetting("sessionMaxLifetime") { $0.sessionMaxLifetime },
        ReloadableSetting("sessionProperties") { $0.sessionProperties },
        ReloadableSetting("offersUserPicker") { $0.offersUserPicker },
        ReloadableSetting("configurationREST") { $0.configurationREST },
        ReloadableSetting("loginTraces", atStart: \.loginTraces), ReloadableSetting("journeyTimeout") { $0.journeyTimeout },
        ReloadableSetting("suspensionTimeout") { $0.suspensionTimeout }, ReloadableSetting("pushTimeout") { $0.pushTimeout },
        ReloadableSetting("devicePollInterval") { $0.devicePollInterval },
        ReloadableSetting("devicePendingStatus") { $0.devicePendingStatus },
        ReloadableSetting("authorizeErrors") { $0.authorizeErrors }, ReloadableSetting("pollInterval") { $0.pollInterval },
        ReloadableSetting("webAuthnRelyingParty") { $0.webAuthnRelyingParty },
        ReloadableSetting("webAuthnOrigins") { $0.webAuthnOrigins }, ReloadableSetting("lifetimes") { $0.lifetimes },
        ReloadableSetting("dpop") { $0.dpop },
        ReloadableSetting("rateLimits") { $0.limits.rateLimits }, ReloadableSetting("lockout") { $0.limits.lockout },
        ReloadableSetting("factorLockout") { $0.limits.factorLockout },
        ReloadableSetting("messages") { $0.limits.messages }, ReloadableSetting("loginFlows") { $0.limits.loginFlows },
        // The addresses, the sockets, and the clients of other servers.
        ReloadableSetting("contextPath", atStart: \.contextPath), ReloadableSetting("publicURL", atStart: \.publicURL),
        ReloadableSetting("realms", atStart: \.realms), ReloadableSetting("tls", atStart: \.tls),
        ReloadableSetting("cookieName", atStart: \.cookieName), ReloadableSetting("allowedHosts", atStart: \.allowedHosts),
        ReloadableSetting("corsOrigins", atStart: \.corsOrigins), ReloadableSetting("maxBodySize", atStart: \.maxBodySize),
        ReloadableSetting("maxHeaderSize", atStart: \.limits.maxHeaderSize),
        ReloadableSetting("headerTimeout", atStart: \.limits.headerTimeout),
        ReloadableSetting("bodyTimeout", atStart: \.limits.bodyTimeout),
        ReloadableSetting("idleTimeout", atStart: \.limits.idleTimeout),
        ReloadableSetting("maxConnections", atStart: \.limits.maxConnections), ReloadableSetting("sns", atStart: \.sns),
        ReloadableSetting("gateway", atStart: \.pushGateway), ReloadableSetting("email", atStart: \.smtp),
    ]
}
