public import FRCore

/// FRCore's log, for messages with the module's name FRAuth.
///
/// The levels and the logger are those of `Log`.
public enum FRLog {
    private static var module: String { "[FRAuth][\(Log.sdkVersion)]" }

    /// Sets the levels that are logged.
    ///
    /// By default, no level is.
    public static func setLogLevel(_ logLevel: LogLevel) { Log.setLogLevel(logLevel) }

    /// Sets the receiver of messages, in place of the former one.
    public static func setCustomLogger(_ logger: any FRLogger) { Log.setCustomLogger(logger) }

    /// Logs a message that helps with debugging.
    /// - Parameters:
    ///   - message: The message.
    ///   - subModule: The part of the app, which is put before the message.
    ///   - includeCallStack: True to log the place of the call too.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - function: The function of the call.
    public static func v(
        _ message: String, subModule: String? = nil, _ includeCallStack: Bool? = true, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        Log.v(text(message, subModule), includeCallStack, module: module, file: file, line: line, function: function)
    }

    /// Logs an informational message; see ``v(_:subModule:_:file:line:function:)`` for the parameters.
    public static func i(
        _ message: String, subModule: String? = nil, _ includeCallStack: Bool? = true, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        Log.i(text(message, subModule), includeCallStack, module: module, file: file, line: line, function: function)
    }

    /// Logs a warning; see ``v(_:subModule:_:file:line:function:)`` for the parameters.
    public static func w(
        _ message: String, subModule: String? = nil, _ includeCallStack: Bool? = true, file: String = #file, line: Int = #line,
        function: String = #function
    ) {
        Log.w(text(message, subModule), includeCallStack, module: module, file: file, line: line, function: function)
    }

    /// Logs an error; see ``v(_:subModule:_:file:line:function:)`` for the parameters.
    public static func e(
        _ message: String, subModule: String? = nil, file: String = #file, line: Int = #line, function: String = #function
    ) {
        Log.e(text(message, subModule), module: module, file: file, line: line, function: function)
    }

    private static func text(_ message: String, _ subModule: String?) -> String {
        subModule.map { "\($0) \(message)" } ?? message
    }
}
