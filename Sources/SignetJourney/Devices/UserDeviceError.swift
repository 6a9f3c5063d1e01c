public import Foundation
public import SignetCore
public import SignetNetwork
import SignetOAuth
public import SignetStorage

/// The error of a request about the devices of a user.
public struct UserDeviceError: RetryableError, Hashable, CustomStringConvertible {
    /// The meaning of the error for the app.
    public struct Code: ErrorCode {
        /// No session is stored, or the server doesn't know the session any more.
        ///
        /// The user must log in. The stored items were kept.
        public static let loginRequired = Code(rawValue: "loginRequired")
        /// The user has no device of this kind with this ID, for example because it was removed in the meantime.
        public static let notFound = Code(rawValue: "notFound")
        /// The server has no devices of this kind, or doesn't allow the change of one.
        public static let notOffered = Code(rawValue: "notOffered")
        /// The name is empty or longer than ``DeviceClient/maxNameLength``.
        ///
        /// Nothing was sent.
        public static let invalidName = Code(rawValue: "invalidName")
        /// The server rejected the request.
        public static let refused = Code(rawValue: "refused")
        /// No response arrived, or the server failed or is overloaded.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The response isn't a valid response of AM, for example an HTML page or a redirect.
        public static let serverMisbehaved = Code(rawValue: "serverMisbehaved")
        /// The stored session can't be read.
        public static let storage = Code(rawValue: "storage")
        /// A setting of the profile is invalid.
        public static let notConfigured = Code(rawValue: "notConfigured")
        /// The caller canceled the operation.
        public static let cancelled = Code(rawValue: "cancelled")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .loginRequired, .notFound, .notOffered, .invalidName, .refused, .unreachable, .serverMisbehaved, .storage,
            .notConfigured, .cancelled,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The cause of an error that isn't an answer of the server.
    public enum Cause: Sendable, Hashable {
        /// The error of the network.
        case network(TransportError)
        /// The error of the storage.
        case storage(StoreError)
    }

    /// The meaning of the error for the app.
    public let code: Code
    /// The HTTP status; nil when the server sent no response.
    public let status: Int?
    /// The server's message, or Signet's own when the server sent none.
    public let message: String
    /// The cause; nil when the error is an answer of the server, and when the code contains all information.
    public let cause: Cause?
    /// The time that the server asks the client to wait before the next request; nil when the server doesn't state one.
    public let retryAfter: Duration?
    /// True when the same call may succeed later without a change.
    public let isRetryable: Bool

    /// The message and the status.
    public var description: String { message + (status.map { " (HTTP \($0))" } ?? "") }
}

extension UserDeviceError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension UserDeviceError {
    init(_ code: Code, _ message: String, status: Int? = nil, cause: Cause? = nil, isRetryable: Bool = false) {
        (self.code, self.message, self.status, self.cause) = (code, message, status, cause)
        (retryAfter, self.isRetryable) = (nil, isRetryable)
    }

    /// The error without a session.
    static let loginRequired = UserDeviceError(.loginRequired, "no session is stored; log in first")

    /// Returns the error of a successful response whose content isn't that of AM.
    static func unreadable(_ response: HTTPResponse) -> UserDeviceError {
        // A captive portal answers with its own page until the user has logged in there.
        UserDeviceError(
            .serverMisbehaved, "the answer is not that of an AM; check the address", status: response.status, isRetryable: true)
    }

    /// Creates the error of an unsuccessful response.
    /// - Parameters:
    ///   - response: The response.
    ///   - missing: The meaning of the status 404.
    ///   - now: The time of the response.
    init(_ response: HTTPResponse, missing: Code, now: Date) {
        let body = try? JSON.value(of: response.body)
        let isReadable = body?.object != nil
        code = Self.code(response.status, isReadable: isReadable, missing: missing)
        status = response.status
        cause = nil
        retryAfter = response.retryAfter(now: now)
        isRetryable = code == .unreachable || !isReadable && (200..<400).contains(response.status)
        let sent = [body?["message"]?.string, body?["reason"]?.string].lazy.compactMap(\.self).first { !$0.isEmpty }
        message =
            switch response.status {
            case 300..<400: "the server redirects to another address; check the configured address"
            case _ where !isReadable: "the answer is not JSON; check that the address is that of an AM"
            default: sent ?? "the server refused the request without a message"
            }
    }

    private static func code(_ status: Int, isReadable: Bool, missing: Code) -> Code {
        switch status {
        case 501 where isReadable: .notOffered
        case 429, 500...: .unreachable
        case _ where !isReadable, 300..<400: .serverMisbehaved
        case 401: .loginRequired
        case 404: missing
        default: .refused
        }
    }

    /// Converts an error of any lower layer.
    ///
    /// The errors of a storage or an interceptor may have any type.
    init(_ error: any Error) {
        switch error {
        case let error as UserDeviceError: self = error
        case let error as TransportError:
            self.init(
                error.code == .cancelled ? .cancelled : .unreachable, error.description, cause: .network(error),
                isRetryable: error.isRetryable)
        case let error as StoreError:
            self.init(.storage, error.description, cause: .storage(error), isRetryable: error.isRetryable)
        case let error as TokenError:
            if case .storage(let cause) = error.cause { self.init(cause) } else { self.init(.refused, error.description) }
        case let error as ProfileError: self.init(.notConfigured, error.description)
        case is CancellationError: self.init(.cancelled, "canceled")
        // The error may contain the data on which it failed, so only its type is reported.
        default: self.init(.refused, "an error of the app: \(type(of: error))")
        }
    }
}
