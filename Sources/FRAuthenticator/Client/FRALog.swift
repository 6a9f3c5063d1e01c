import Logging

/// The SDK's log: its failures, as warnings, and what the app writes beside them. It goes where the app has sent swift-log's lines of
/// the label `signet.frauthenticator`. The SDK writes nothing secret; what the app writes is the app's own.
public enum FRALog {
    /// Which lines are written.
    public struct LogLevel: OptionSet, Sendable, Hashable {
        /// One bit for each level.
        public let rawValue: Int

        /// The levels with these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Nothing is written.
        public static let none: LogLevel = []
        /// ``FRALog/v(_:)``
        public static let verbose = LogLevel(rawValue: 1)
        /// ``FRALog/i(_:)``
        public static let info = LogLevel(rawValue: 2)
        /// ``FRALog/w(_:)``, and what the SDK could not do.
        public static let warning = LogLevel(rawValue: 4)
        /// ``FRALog/e(_:)``
        public static let error = LogLevel(rawValue: 8)
        /// Everything is written.
        public static let all: LogLevel = [.verbose, .info, .warning, .error]
    }

    /// Has only lines of these levels written. Until it is called, warnings and errors are.
    public static func setLogLevel(_ logLevel: LogLevel) { FRAProcess.current.set(logLevel) }

    /// Writes a line that only helps to find a fault.
    public static func v(_ message: String) { FRAProcess.current.write(.verbose, message) }
    /// Writes a line that informs.
    public static func i(_ message: String) { FRAProcess.current.write(.info, message) }
    /// Writes a line of something that is not as it should be.
    public static func w(_ message: String) { FRAProcess.current.write(.warning, message) }
    /// Writes a line of something that has failed.
    public static func e(_ message: String) { FRAProcess.current.write(.error, message) }
}

extension FRAProcess {
    /// Writes a line, if lines of its level are asked for.
    /// - Parameter logger: Where to; nil for where the process writes.
    func write(_ level: FRALog.LogLevel, _ message: String, to logger: Logger? = nil) {
        let (levels, usual) = logging
        guard levels.contains(level) else { return }
        (logger ?? usual).log(level: level.name, "\(message)")
    }
}

extension FRALog.LogLevel {
    /// The name of one level in swift-log.
    fileprivate var name: Logger.Level {
        switch self {
        case .verbose: .debug
        case .info: .info
        case .warning: .warning
        default: .error
        }
    }
}
