/// The module that obtains OAuth 2.0 tokens for the session of a journey.
///
/// It does nothing without a client ID.
public enum OidcModule {
    /// The module.
    public static let config: Module<OidcClientConfig> = Module.of(OidcClientConfig.init) { setup in
        let (workflow, config) = (setup.workflow, setup.config)
        setup.initialize { workflow.sharedContext.set(key: SharedContext.Keys.oidcClientConfigKey, value: config) }
    }
}

extension SharedContext.Keys {
    /// The name of the configuration of ``OidcModule``.
    static let oidcClientConfigKey = "com.pingidentity.journey.OidcClientConfig"
}
