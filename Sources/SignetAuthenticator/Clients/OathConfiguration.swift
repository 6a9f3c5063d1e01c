/// How an ``OathClient`` works.
///
///     let config = OathConfiguration.build { config in
///         config.storage = CustomStorage()
///         config.enableCredentialCache = false
///         config.logger = customLogger
///     }
///     let client = try await OathClient(configuration: config)
public final class OathConfiguration: ClientConfiguration {
    /// The defaults.
    public override init() { super.init() }

    /// A configuration as `configure` leaves it.
    public static func build(_ configure: (OathConfiguration) -> Void) -> sending OathConfiguration {
        let configuration = OathConfiguration()
        configure(configuration)
        return configuration
    }
}
