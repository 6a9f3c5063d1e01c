import SignetCore

/// The loggers of the Ping SDK, and the one that new configurations take.
public enum LogManager {
    private static let current = Mutex<any Logger>(NoneLogger())

    /// The logger of configurations that are created from now on.
    ///
    /// The default is ``none``.
    public static var logger: any Logger {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// A logger that discards all messages.
    public static var none: any Logger { NoneLogger() }
    /// A logger that writes all messages to swift-log.
    public static var standard: any Logger { StandardLogger() }
    /// A logger that writes warnings and errors to swift-log.
    public static var warning: any Logger { WarningLogger() }
}
