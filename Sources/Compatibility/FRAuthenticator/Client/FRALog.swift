import Logging

/// The SDK's log, which has the SDK's errors as warnings, and the app's own messages.
///
/// It uses swift-log with the label `signet.frauthenticator`. The SDK logs no secrets; the app is responsible for its own
/// messages.
public enum FRALog {
    /// The set of levels that are logged.
    public struct LogLevel: OptionSet, Sendable, Hashable {
        /// The bit set, with one bit for each level.
        public let rawValue: Int

        /// Creates a set of levels from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// No level.
        public static let none: LogLevel = []
        /// The level of ``FRALog/v(_:)``.
        public static let verbose = LogLevel(rawValue: 1)
        /// The level of ``FRALog/i(_:)``.
        public static let info = LogLevel(rawValue: 2)
        /// The level of ``FRALog/w(_:)`` and of the SDK's own errors.
        public static let warning = LogLevel(rawValue: 4)
        /// The level of ``FRALog/e(_:)``.
        public static let error = LogLevel(rawValue: 8)
        /// All levels.
        public static let all: LogLevel = [.verbose, .info, .warning, .error]
    }

    /// Sets the levels that are logged.
    ///
    /// The default is warnings and errors.
    public static func setLogLevel(_ logLevel: LogLevel) { FRAProcess.current.set(logLevel) }

    /// Logs a message that helps with debugging.
    public static func v(_ message: String) { FRAProcess.current.write(.verbose, message) }
    /// Logs an informational message.
    public static func i(_ message: String) { FRAProcess.current.write(.info, message) }
    /// Logs a warning.
    public static func w(_ message: String) { FRAProcess.current.write(.warning, message) }
    /// Logs an error.
    public static func e(_ message: String) { FRAProcess.current.write(.error, message) }
}

extension FRAProcess {
    /// Logs a message if its level is enabled.
    ///
    /// Without a `logger`, the logger of the process is used.
    func write(_ level: FRALog.LogLevel, _ message: String, to logger: Logger? = nil) {
        let (levels, usual) = logging
        guard levels.contains(level) else { return }
        (logger ?? usual).log(level: level.name, "\(message)")
    }
}

extension FRALog.LogLevel {
    /// The corresponding level in swift-log.
    fileprivate var name: Logger.Level {
        switch self {
        case .verbose: .debug
        case .info: .info
        case .warning: .warning
        default: .error
        }
    }
}
