/// Why no response came. Where ``Code/isBeforeRequest`` says so, the server saw nothing of the request; else that is unknown.
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
        /// The server is who it says it is, and its key is none of those that the request insists on.
        case wrongKey
        /// The request insists on keys, and this transport, or this address, cannot promise any.
        case cannotPin

        /// Whether it went wrong before a byte of the request left.
        public var isBeforeRequest: Bool {
            switch self {
            case .connect, .tls, .invalidRequest, .wrongKey, .cannotPin: true
            case .timeout, .interrupted, .notHTTP, .tooLarge, .cancelled: false
            }
        }
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
        case .tls, .notHTTP, .tooLarge, .cancelled, .invalidRequest, .wrongKey, .cannotPin: false
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

    /// The host of an address, for an error.
    static func host(of url: String) -> String {
        guard let slashes = url.firstRange(of: "://") else { return "?" }
        let authority = url[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return String(authority.split(separator: "@").last ?? "?")
    }
}
