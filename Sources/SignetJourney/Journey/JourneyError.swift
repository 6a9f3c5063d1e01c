public import SignetCore
import SignetNetwork

/// Why a step of a journey did not succeed (protocol/journey.md section 2.5).
public struct JourneyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: String, Sendable, CaseIterable {
        /// The server said no: a wrong password, a denied push, a code that was used.
        case loginFailed
        /// The journey took longer than the server waits; start again.
        case timedOut
        /// The link that a journey was to go on with has expired, or was used.
        case suspensionExpired
        /// What was entered keeps not every rule; ``JourneyError/failedPolicies`` says which.
        case policyFailed
        /// The server refused the request itself.
        case refused
        /// The server has a failure of its own, or too much to do; the same step may succeed later.
        case serverFailed
        /// The server answered with what no AM answers.
        case serverMisbehaved
        /// The step is not the one that the server waits for: another was answered meanwhile. Nothing was sent.
        case staleStep
        /// The step before is still on its way. Nothing was sent.
        case busy
        /// The address to go on with has no `suspendedId`. Nothing was sent.
        case invalidResumeURI
        /// The session token or the service has a character that cannot be sent. Nothing was sent.
        case invalidRequest
    }

    /// What happened.
    public let code: Code
    /// The HTTP status; nil when the server was not asked.
    public let status: Int?
    /// The server's own words, or ours where it has none.
    public let message: String
    /// The server's word for the status, for example `Unauthorized`.
    public let reason: String?
    /// What else the server says: `errorCode`, `failureUrl` and what a script of a journey puts there.
    public let detail: JSONValue?
    /// The rules that were not kept, by property.
    public let failedPolicies: [PolicyFailure]
    /// How long the server asks to wait before the next request, if it does.
    public let retryAfter: Duration?
    /// Whether the same step may succeed later without anybody doing anything: the server has a failure of its own, or what came is
    /// nothing of the server's, such as the page of a network that wants a login.
    public let isRetryable: Bool

    /// The message and the status.
    public var description: String { message + (status.map { " (HTTP \($0))" } ?? "") }

    init(_ code: Code, status: Int? = nil, message: String, isRetryable: Bool = false) {
        self.code = code
        self.status = status
        self.message = message
        reason = nil
        detail = nil
        failedPolicies = []
        retryAfter = nil
        self.isRetryable = isRetryable
    }

    /// The meaning of an answer that is no success.
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
        self.message =
            switch response.status {
            case 300..<400: "the server sends to another address; is this one right?"
            case _ where !isReadable: "the answer is not JSON; is this an AM?"
            // The name of a Java class says nothing to anybody.
            case _ where code == .suspensionExpired: String(message.dropFirst(Self.suspension.count)).trimmingWhitespace()
            case _ where message.isEmpty: reason ?? "the server said no"
            default: message
            }
    }

    private static let suspension = "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException:"

    private static func code(_ status: Int, _ body: JSONValue, _ message: String, isReadable: Bool) -> Code {
        switch status {
        case 429, 500...: return .serverFailed
        case _ where !isReadable: return .serverMisbehaved
        case 300..<400: return .serverMisbehaved
        // AM says it in the detail; OpenAM with the status alone.
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
