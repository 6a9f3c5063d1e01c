/// Why no response came. Whether the server saw the request is known only for ``Code/connect`` and ``Code/tls``: it did not.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable, CaseIterable {
        /// No connection could be made.
        case connect
        /// The secure connection could not be made.
        case tls
        /// It took longer than the request allows.
        case timeout
        /// The connection ended before the response did.
        case interrupted
        /// What came is not HTTP.
        case notHTTP
        /// The response is larger than the transport's limit.
        case tooLarge
        /// The caller gave up.
        case cancelled
        /// The request itself cannot be sent.
        case invalidRequest
    }

    /// What went wrong.
    public let code: Code
    /// The host that was asked; never the whole address.
    public let host: String
    /// What is wrong, in words.
    public let reason: String

    /// Whether the same request may succeed later without anybody doing anything.
    public var isRetryable: Bool {
        switch code {
        case .connect, .timeout, .interrupted: true
        case .tls, .notHTTP, .tooLarge, .cancelled, .invalidRequest: false
        }
    }

    /// The host and the reason.
    public var description: String { "\(host): \(reason)" }

    /// An error of a transport; public so that an app's own transport can throw it.
    public init(_ code: Code, host: String, _ reason: String) {
        self.code = code
        self.host = host
        self.reason = reason
    }
}
