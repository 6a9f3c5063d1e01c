/// A failed exchange. If ``Code/isBeforeRequest`` is true, the server received nothing of the request; otherwise it may have.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a transport error.
    public enum Code: String, Sendable, CaseIterable {
        /// No connection could be made.
        case connect
        /// The secure connection could not be made.
        case tls
        /// The response took longer than the request allows.
        case timeout
        /// The connection ended before the response did.
        case interrupted
        /// The server's answer is not HTTP.
        case notHTTP
        /// The response is larger than the transport's limit.
        case tooLarge
        /// The caller canceled the request, or closed the transport.
        case cancelled
        /// The request itself cannot be sent.
        case invalidRequest
        /// The server's certificate is valid, but its key isn't one of the request's pins.
        case wrongKey
        /// The request has pins, but this transport cannot check them or the address isn't https.
        case cannotPin

        /// True when the exchange failed before a byte of the request was sent.
        public var isBeforeRequest: Bool {
            switch self {
            case .connect, .tls, .invalidRequest, .wrongKey, .cannotPin: true
            case .timeout, .interrupted, .notHTTP, .tooLarge, .cancelled: false
            }
        }
    }

    /// The kind of the error.
    public let code: Code
    /// The host of the request; never the whole address.
    public let host: String
    /// A human-readable description of the error.
    public let reason: String

    /// True when the same request may succeed later without any change to it or to the setup.
    public var isRetryable: Bool {
        switch code {
        case .connect, .timeout, .interrupted: true
        case .tls, .notHTTP, .tooLarge, .cancelled, .invalidRequest, .wrongKey, .cannotPin: false
        }
    }

    /// The host and the reason.
    public var description: String { "\(host): \(reason)" }

    /// Creates an error. It is public so that an app's own transport can throw it.
    public init(_ code: Code, host: String, _ reason: String) {
        self.code = code
        self.host = host
        self.reason = reason
    }

    /// Returns the host of an address, for use in an error.
    static func host(of url: String) -> String {
        guard let slashes = url.firstRange(of: "://") else { return "?" }
        let authority = url[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return String(authority.split(separator: "@").last ?? "?")
    }
}
