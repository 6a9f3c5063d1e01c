public import FRCore
import Logging

/// The SDK's log, which has the SDK's errors as warnings, and the app's own messages.
///
/// It uses swift-log with the label `signet.frauthenticator`. The SDK logs no secrets; the app is responsible for its own
/// messages.
public enum FRALog {
    /// Sets the levels that are logged.
    ///
    /// The default is warnings and errors.
    public static func setLogLevel(_ logLevel: LogLevel) { FRAProcess.current.set(logLevel) }

    /// Logs a message that helps with debugging.
    /// - Parameters:
    ///   - message: The message.
    ///   - includeCallStack: True to log the place of the call too.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - function: The function of the call.
    public static func v(
        _ message: String, _ includeCallStack: Bool? = false, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.verbose, message, includeCallStack == true ? (file, line, function) : nil)
    }

    /// Logs an informational message; see ``v(_:_:file:line:function:)`` for the parameters.
    public static func i(
        _ message: String, _ includeCallStack: Bool? = false, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.info, message, includeCallStack == true ? (file, line, function) : nil)
    }

    /// Logs a warning; see ``v(_:_:file:line:function:)`` for the parameters.
    public static func w(
        _ message: String, _ includeCallStack: Bool? = false, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        write(.warning, message, includeCallStack == true ? (file, line, function) : nil)
    }

    /// Logs an error.
    /// - Parameters:
    ///   - message: The message.
    ///   - file: The file of the call, which is ignored, as the other places are.
    ///   - line: The line of the call.
    ///   - function: The function of the call.
    public static func e(_ message: String, file: String = #file, line: Int = #line, function: String = #function) {
        write(.error, message, nil)
    }

    private static func write(_ level: LogLevel, _ message: String, _ call: (file: String, line: Int, function: String)?) {
        let location = call.map { " [\($0.file.split(separator: "/").last ?? ""):\($0.line) : \($0.function)]" } ?? ""
        FRAProcess.current.write(level, message + location)
    }
}

extension FRAProcess {
    /// Logs a message if its level is enabled.
    ///
    /// Without a `logger`, the logger of the process is used.
    func write(_ level: LogLevel, _ message: String, to logger: Logger? = nil) {
        let (levels, defaultLogger) = logging
        guard levels.includes(level) else { return }
        (logger ?? defaultLogger).log(level: level.name, "\(message)")
    }
}

extension LogLevel {
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
