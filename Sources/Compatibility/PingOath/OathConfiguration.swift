public import SignetAuthenticator

/// The configuration of an ``OathClient``.
///
///     let config = OathConfiguration.build { config in
///         config.storage = CustomStorage()
///         config.enableCredentialCache = false
///         config.logger = customLogger
///     }
///     let client = try await OathClient(configuration: config)
public final class OathConfiguration: ClientConfiguration {
    /// Creates a configuration with the default values.
    public override init() { super.init() }

    /// Creates a configuration and passes it to `configure`.
    public static func build(_ configure: (OathConfiguration) -> Void) -> sending OathConfiguration {
        let configuration = OathConfiguration()
        configure(configuration)
        return configuration
    }
}
