public import Foundation
public import SignetCore

/// A failed exchange.
///
/// If ``Code/isBeforeRequest`` is true, the server received nothing of the request; otherwise it may have.
public struct TransportError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of a transport error.
    public struct Code: ErrorCode {
        /// No connection could be made.
        public static let connect = Code(rawValue: "connect")
        /// The secure connection could not be made.
        public static let tls = Code(rawValue: "tls")
        /// The response took longer than the request allows.
        public static let timeout = Code(rawValue: "timeout")
        /// The connection ended before the response did.
        public static let interrupted = Code(rawValue: "interrupted")
        /// The server's answer is not HTTP.
        public static let notHTTP = Code(rawValue: "notHTTP")
        /// The response is larger than the transport's limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The caller canceled the request, or closed the transport.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The request itself cannot be sent.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// The server's certificate is valid, but its key isn't one of the request's pins.
        public static let wrongKey = Code(rawValue: "wrongKey")
        /// The request has pins, but this transport cannot check them or the address isn't https.
        public static let cannotPin = Code(rawValue: "cannotPin")

        /// True when the exchange failed before a byte of the request was sent.
        public var isBeforeRequest: Bool {
            [.connect, .tls, .invalidRequest, .wrongKey, .cannotPin].contains(self)
        }

        /// All codes of this version.
        public static let allCases: [Code] = [
            .connect, .tls, .timeout, .interrupted, .notHTTP, .tooLarge, .cancelled, .invalidRequest, .wrongKey, .cannotPin,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    public let code: Code
    /// The host of the request; never the whole address.
    public let host: String
    /// A human-readable description of the error.
    public let reason: String

    /// True when the same request may succeed later without any change to it or to the setup.
    public var isRetryable: Bool {
        [.connect, .timeout, .interrupted].contains(code)
    }

    /// The host and the reason.
    public var description: String { "\(host): \(reason)" }

    /// Creates an error.
    ///
    /// It is public so that an app's own transport can throw it.
    public init(_ code: Code, host: String, _ reason: String) {
        self.code = code
        self.host = host
        self.reason = reason
    }

    /// Returns the host of an address, for use in an error.
    package static func host(of url: String) -> String {
        guard let slashes = url.firstRange(of: "://") else { return "?" }
        let authority = url[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" }
        return String(authority.split(separator: "@").last ?? "?")
    }
}

extension TransportError {
    /// The reason for a certificate that does not have the host's name.
    package static let otherHostName = "the server's certificate is for another host name"
    /// The reason for a server that does not speak TLS at the port.
    package static let noTLS = "the server's answer at this port is not TLS"

    /// True when the secure connection may have failed because the authority of the server's certificate is not trusted here.
    package var mayConcernAuthority: Bool { code == .tls && reason != Self.otherHostName && reason != Self.noTLS }
}

extension TransportError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
