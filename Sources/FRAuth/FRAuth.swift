import SignetJourney

/// The SDK, started with settings: one in a process, as the documents have it. For several servers side by side use `Journey`.
///
///     try FRAuth.start(options: options)
public final class FRAuth: Sendable {
    /// The settings that the SDK runs with.
    public let options: FROptions
    let journeys: Journey
    let sessions: (any LegacySessions)?

    init(options: FROptions, journeys: Journey, sessions: (any LegacySessions)?) {
        self.options = options
        self.journeys = journeys
        self.sessions = sessions
    }

    /// What ``start(options:)`` has started; nil before.
    public static var shared: FRAuth? { FRAuthProcess.current.started }

    /// The name of the file that ``start(options:)`` reads when it is given no options, without its ending: `FRAuthConfig`.
    public static var configPlistFileName: String {
        get { FRAuthProcess.current.configFileName }
        set { FRAuthProcess.current.configFileName = newValue }
    }

    /// Starts the SDK, again if need be.
    ///
    /// The first time a session that was kept before stays. When the SDK has been started already and the address, the realm, the
    /// cookie's name, or the OAuth 2.0 client, its redirect address or its scopes change, the session and the tokens are removed, and
    /// revoked at the server. Every other change takes effect at once, which the original forgets. The same settings change nothing.
    /// - Parameter options: the settings; nil for those of `FRAuthConfig.plist` or `FRAuthConfig.json`, in the app's bundle, beside the
    ///   program or in the folder it was started in.
    /// - Throws: ``ConfigError/emptyConfiguration`` when there is no file, ``ConfigError/invalidConfiguration(_:)`` with the key that is
    ///   wrong. What was started before runs on then.
    public static func start(options: FROptions? = nil) throws {
        try FRAuthProcess.current.start(options)
    }

    /// A journey of the server.
    func service(_ index: AuthenticationIndex, options: JourneyOptions = JourneyOptions()) -> AuthService {
        AuthService(index: index, journeys: journeys, options: options, factory: FRAuthProcess.current.factory, endings: sessions)
    }
}

extension CallbackFactory {
    /// The factory of this process: what is registered here is used from the next step on.
    public static var shared: CallbackFactory {
        get { FRAuthProcess.current.factory }
        set { FRAuthProcess.current.factory = newValue }
    }
}
