public import Foundation
public import SignetCore
import SignetNetwork

/// The error of a step of a journey (protocol/journey.md section 2.5).
public struct JourneyError: RetryableError, Hashable, CustomStringConvertible {
    /// The kind of error.
    public struct Code: ErrorCode {
        /// The server rejected the login, for example because of a wrong password, a denied push notification, or a code that was
        /// already used.
        public static let loginFailed = Code(rawValue: "loginFailed")
        /// The journey took longer than the server allows; start it again.
        ///
        /// ``JourneySession/wait(maxDelay:timeout:)`` also reports its timeout with this code, without ending the journey.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The link to a suspended journey has expired or was already used.
        public static let suspensionExpired = Code(rawValue: "suspensionExpired")
        /// A value violates policy requirements; see ``JourneyError/failedPolicies``.
        public static let policyFailed = Code(rawValue: "policyFailed")
        /// The server rejected the request.
        public static let refused = Code(rawValue: "refused")
        /// The server failed or is overloaded.
        ///
        /// The same step may succeed later.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The response isn't a valid response of AM, for example an HTML page or a redirect.
        public static let serverMisbehaved = Code(rawValue: "serverMisbehaved")
        /// The step isn't the current one, because another step was answered in the meantime.
        ///
        /// Nothing was sent.
        public static let staleStep = Code(rawValue: "staleStep")
        /// The previous step is still being sent.
        ///
        /// Nothing was sent.
        public static let busy = Code(rawValue: "busy")
        /// The address has no `suspendedId`.
        ///
        /// Nothing was sent.
        public static let invalidResumeURI = Code(rawValue: "invalidResumeURI")
        /// The session token is empty or contains a character that can't be sent.
        ///
        /// Nothing was sent.
        public static let invalidRequest = Code(rawValue: "invalidRequest")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .loginFailed, .timedOut, .suspensionExpired, .policyFailed, .refused, .serverFailed, .serverMisbehaved, .staleStep,
            .busy, .invalidResumeURI, .invalidRequest,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The HTTP status; nil when no request was sent.
    public let status: Int?
    /// The server's message, or Signet's own when the server sends none.
    public let message: String
    /// The server's name for the status, for example `Unauthorized`.
    public let reason: String?
    /// Additional data from the server: `errorCode`, `failureUrl`, and the data that a script of the journey adds.
    public let detail: JSONValue?
    /// The violated policy requirements, by property.
    public let failedPolicies: [PolicyFailure]
    /// The time that the server asks the client to wait before the next request; nil when the server doesn't state one.
    public let retryAfter: Duration?
    /// True when the same step may succeed later without a change: the server failed, or the response isn't from the server, for
    /// example the login page of a captive portal.
    public let isRetryable: Bool
    /// True when the step contains a callback that can't be read, for example one without a type.
    package let isInvalidCallback: Bool

    /// The message and the status.
    public var description: String { message + (status.map { " (HTTP \($0))" } ?? "") }

    init(
        _ code: Code, status: Int? = nil, message: String, isRetryable: Bool = false, isInvalidCallback: Bool = false
    ) {
        self.code = code
        self.status = status
        self.message = message
        reason = nil
        detail = nil
        failedPolicies = []
        retryAfter = nil
        self.isRetryable = isRetryable
        self.isInvalidCallback = isInvalidCallback
    }

    /// Creates the error for an unsuccessful response.
    init(_ response: HTTPResponse) {
        let body = (try? JSON.value(of: response.body)) ?? .null
        let isReadable = body.object != nil
        let message = body["message"]?.string ?? ""
        code = Self.code(response.status, body, message, isReadable: isReadable)
        status = response.status
        reason = body["reason"]?.string
        detail = body["detail"]
        failedPolicies = PolicyFailure.list(body["detail"])
        retryAfter = response.retryAfter(now: SystemWallClock().now)
        isRetryable = code == .serverFailed || !isReadable && (200..<400).contains(response.status)
        isInvalidCallback = false
        self.message =
            switch response.status {
            case 300..<400: "the server redirects to another address; check the configured address"
            case _ where !isReadable: "the answer is not JSON; check that the address is that of an AM"
            // Drops the name of the Java class, which has no meaning for the user.
            case _ where code == .suspensionExpired: String(message.dropFirst(Self.suspension.count)).trimmingWhitespace()
            case _ where message.isEmpty: reason ?? "the server refused the request without a message"
            default: message
            }
    }

    private static let suspension = "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException:"

    private static func code(_ status: Int, _ body: JSONValue, _ message: String, isReadable: Bool) -> Code {
        switch status {
        case 429, 500...: return .serverFailed
        case _ where !isReadable: return .serverMisbehaved
        case 300..<400: return .serverMisbehaved
        // AM reports the timeout in the detail, OpenAM only by the status.
        case 408: return .timedOut
        case _ where body["detail"]?["errorCode"]?.string == "110": return .timedOut
        case 401 where message.hasPrefix(suspension): return .suspensionExpired
        case 401, 403:
            if body["detail"]?["failedPolicyRequirements"]?.array?.isEmpty == false { return .policyFailed }
            return status == 401 ? .loginFailed : .refused
        default: return .refused
        }
    }
}

extension JourneyError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
