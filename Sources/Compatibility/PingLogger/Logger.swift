/// A receiver of an SDK client's log lines, with the API of the Ping SDK.
///
/// The lines of the SDK have names of calls, ids and error codes. They never have names of users, URIs, secrets, codes, tokens or
/// the content of messages.
public protocol Logger: Sendable {
    /// Logs a message that helps with debugging.
    func d(_ message: String)
    /// Logs an informational message.
    func i(_ message: String)
    /// Logs a warning.
    /// - Parameters:
    ///   - message: The message.
    ///   - error: The error that the warning is about, if there is one.
    func w(_ message: String, error: (any Error)?)
    /// Logs an error.
    /// - Parameters:
    ///   - message: The message.
    ///   - error: The error that the message is about, if there is one.
    func e(_ message: String, error: (any Error)?)
}

/// A logger that discards all messages.
public final class NoneLogger: Logger {
    /// Creates a logger that discards all messages.
    public init() {}
    /// Discards the message.
    public func d(_ message: String) {}
    /// Discards the message.
    public func i(_ message: String) {}
    /// Discards the message.
    public func w(_ message: String, error: (any Error)?) {}
    /// Discards the message.
    public func e(_ message: String, error: (any Error)?) {}
}
