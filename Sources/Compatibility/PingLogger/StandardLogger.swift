import Foundation
import Logging

/// A logger that writes to swift-log, with the label `signet.ping`.
///
/// Where the lines go is the choice of the program, by `LoggingSystem.bootstrap`; the default of swift-log is standard error.
public final class StandardLogger: Logger {
    private let log: Logging.Logger

    /// Creates a logger.
    public convenience init() { self.init(to: Logging.Logger(label: "signet.ping")) }

    init(to log: Logging.Logger) { self.log = log }

    /// Logs a message with the level `debug`.
    public func d(_ message: String) { log.debug("\(message)") }
    /// Logs a message with the level `info`.
    public func i(_ message: String) { log.info("\(message)") }
    /// Logs a message with the level `warning`.
    public func w(_ message: String, error: (any Error)?) { log.warning("\(Self.line(message, error))") }
    /// Logs a message with the level `error`.
    public func e(_ message: String, error: (any Error)?) { log.error("\(Self.line(message, error))") }

    private static func line(_ message: String, _ error: (any Error)?) -> String {
        guard let error else { return message }
        return "\(message) (\(error.localizedDescription))"
    }
}

/// A ``StandardLogger`` without the levels `debug` and `info`.
public final class WarningLogger: Logger {
    private let standard: StandardLogger

    /// Creates a logger.
    public convenience init() { self.init(over: StandardLogger()) }

    init(over standard: StandardLogger) { self.standard = standard }

    /// Discards the message.
    public func d(_ message: String) {}
    /// Discards the message.
    public func i(_ message: String) {}
    /// Logs a message with the level `warning`.
    public func w(_ message: String, error: (any Error)?) { standard.w(message, error: error) }
    /// Logs a message with the level `error`.
    public func e(_ message: String, error: (any Error)?) { standard.e(message, error: error) }
}
