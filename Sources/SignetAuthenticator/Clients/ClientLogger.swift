/// Takes the lines that a client writes about its work. Hand them to the logging of the app:
///
///     struct Lines: ClientLogger {
///         func log(_ level: ClientLogLevel, _ line: String) { logger.log(level: level == .error ? .error : .debug, "\(line)") }
///     }
///
/// A line names the call, ids and codes of errors. Names of people, URIs, secrets, codes, tokens and content of messages are in
/// none.
public protocol ClientLogger: Sendable {
    /// Takes a line.
    func log(_ level: ClientLogLevel, _ line: String)
}

/// How much a line matters.
public enum ClientLogLevel: String, Sendable, Hashable, CaseIterable {
    /// A call has done what it should.
    case debug
    /// A call was refused, or could not do all it should.
    case warning
    /// A call has failed.
    case error
}
