/// A receiver of a client's log lines. Forward them to the logging system of the app:
///
///     struct Lines: ClientLogger {
///         func log(_ level: ClientLogLevel, _ line: String) { logger.log(level: level == .error ? .error : .debug, "\(line)") }
///     }
///
/// A line contains the name of the call, ids and error codes. It never contains names of users, URIs, secrets, codes, tokens or
/// the content of messages.
public protocol ClientLogger: Sendable {
    /// Receives a log line.
    func log(_ level: ClientLogLevel, _ line: String)
}

/// The severity of a log line.
public enum ClientLogLevel: String, Sendable, Hashable, CaseIterable {
    /// A call has succeeded.
    case debug
    /// A call was rejected, or has succeeded only in part.
    case warning
    /// A call has failed.
    case error
}
