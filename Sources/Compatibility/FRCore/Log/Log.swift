import Foundation
import Logging
import SignetCore

/// A receiver of log messages.
public protocol FRLogger: Sendable {
    /// Receives a message that helps with debugging.
    func logVerbose(timePrefix: String, logPrefix: String, message: String)
    /// Receives an informational message.
    func logInfo(timePrefix: String, logPrefix: String, message: String)
    /// Receives a message about a request or an answer.
    func logNetwork(timePrefix: String, logPrefix: String, message: String)
    /// Receives a warning.
    func logWarning(timePrefix: String, logPrefix: String, message: String)
    /// Receives an error.
    func logError(timePrefix: String, logPrefix: String, message: String)
}

/// The log of the SDK and of the app.
///
/// Without a logger of the app, messages go to swift-log with the label `signet.frcore`. The SDK logs no secrets; the app is
/// responsible for its own messages.
public enum Log {
    /// The version of the ForgeRock SDK whose interface this module has.
    public static let sdkVersion = "4.9.1"

    /// Sets the levels that are logged.
    ///
    /// By default, no level is.
    public static func setLogLevel(_ logLevel: LogLevel) {
        FRCoreProcess.current.state.withLock { $0.logLevel = logLevel }
    }

    /// Sets the receiver of messages, in place of the former one.
    public static func setCustomLogger(_ logger: any FRLogger) {
        FRCoreProcess.current.state.withLock { $0.loggers = [logger] }
    }

    /// Logs a message that helps with debugging.
    /// - Parameters:
    ///   - message: The message.
    ///   - includeCallStack: True to log the place of the call too.
    ///   - module: The name of the module; nil for this one.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - function: The function of the call.
    public static func v(
        _ message: String, _ includeCallStack: Bool? = true, module: String? = nil, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.verbose, message, includeCallStack == true ? Call(file: file, line: line, function: function) : nil, module)
    }

    /// Logs an informational message; see ``v(_:_:module:file:line:function:)`` for the parameters.
    public static func i(
        _ message: String, _ includeCallStack: Bool? = true, module: String? = nil, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.info, message, includeCallStack == true ? Call(file: file, line: line, function: function) : nil, module)
    }

    /// Logs a warning; see ``v(_:_:module:file:line:function:)`` for the parameters.
    public static func w(
        _ message: String, _ includeCallStack: Bool? = true, module: String? = nil, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.warning, message, includeCallStack == true ? Call(file: file, line: line, function: function) : nil, module)
    }

    /// Logs an error; see ``v(_:_:module:file:line:function:)`` for the parameters.
    public static func e(
        _ message: String, module: String? = nil, file: String = #file, line: Int = #line, function: String = #function
    ) {
        write(.error, message, Call(file: file, line: line, function: function), module)
    }

    private struct Call {
        let file: String
        let line: Int
        let function: String
    }

    private static func write(_ level: LogLevel, _ message: String, _ call: Call?, _ module: String?) {
        let (levels, loggers) = FRCoreProcess.current.state.withLock { ($0.logLevel, $0.loggers) }
        guard levels.includes(level) else { return }
        let time = SystemWallClock().now.formatted(.iso8601)
        let location = call.map { " [\($0.file.split(separator: "/").last ?? ""):\($0.line) : \($0.function)]" } ?? ""
        let prefix = (module ?? "[FRCore][\(sdkVersion)]") + location
        for logger in loggers {
            switch level {
            case .verbose: logger.logVerbose(timePrefix: time, logPrefix: prefix, message: message)
            case .info: logger.logInfo(timePrefix: time, logPrefix: prefix, message: message)
            case .warning: logger.logWarning(timePrefix: time, logPrefix: prefix, message: message)
            default: logger.logError(timePrefix: time, logPrefix: prefix, message: message)
            }
        }
    }
}

/// The receiver that passes messages to swift-log.
struct SystemLogger: FRLogger {
    private let logger = Logger(label: "signet.frcore")

    func logVerbose(timePrefix: String, logPrefix: String, message: String) { logger.debug("\(logPrefix) \(message)") }
    func logInfo(timePrefix: String, logPrefix: String, message: String) { logger.info("\(logPrefix) \(message)") }
    func logNetwork(timePrefix: String, logPrefix: String, message: String) { logger.debug("\(logPrefix) \(message)") }
    func logWarning(timePrefix: String, logPrefix: String, message: String) { logger.warning("\(logPrefix) \(message)") }
    func logError(timePrefix: String, logPrefix: String, message: String) { logger.error("\(logPrefix) \(message)") }
}
