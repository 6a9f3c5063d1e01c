import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// An error response in the form that every CREST client reads: `{"code","reason","message","detail"}` (protocol/journey.md
/// section 2.5).
struct APIError: Error, Sendable, Hashable {
    let status: HTTPResponse.Status
    let message: String
    var detail: [String: JSONValue]?
    var headers: HTTPFields = [:]
    /// The reason for the log; the client doesn't receive it.
    var reason: String?

    init(_ status: HTTPResponse.Status, _ message: String, detail: [String: JSONValue]? = nil, headers: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.detail = detail
        self.headers = headers
    }

    /// The level at which a failed login is logged: a node that cannot run is the fault of the configuration, and no user's.
    var logLevel: Logger.Level { status == .notImplemented ? .warning : .info }

    var body: JSONValue {
        var body: [String: JSONValue] = [
            "code": .integer(Int64(status.code)), "reason": .string(status.reasonPhrase), "message": .string(message),
        ]
        if let detail { body["detail"] = .object(detail) }
        return .object(body)
    }

    /// AM's response to every push request that it rejects.
    ///
    /// It never contains the reason.
    static let badRequest = APIError(.badRequest, "Bad request.")
    static func tooLarge(_ limit: Int) -> APIError {
        APIError(.contentTooLarge, "The request's body is larger than \(limit) bytes.")
    }

    static let accessDenied = APIError(.unauthorized, "Access Denied")
    static let forbidden = APIError(.forbidden, "Forbidden")
    static let unsupportedAction = APIError(.notImplemented, "The action is not supported here.")
    static let resourceNotFound = APIError(.notFound, "Resource not found.")
    static let journeyTimedOut = APIError(.unauthorized, "Session has timed out", detail: ["errorCode": .string("110")])
    static let unwritable = APIError(.internalServerError, "The step cannot be written.")
    static let noSuchJourney = APIError(.badRequest, "No Configuration found")
    static let foreignJourney = APIError(.badRequest, "Authentication Error: the journey belongs to another realm")
    static let invalidAuthID = APIError(.badRequest, "Authentication Error: Invalid AuthId Signature")

    /// The state could not be read or written.
    ///
    /// The failed transaction left nothing half done.
    static let stateFailed = APIError(
        .serviceUnavailable, "The state of the server cannot be used now. Try again later.", headers: [.retryAfter: "1"])

    /// AM's response to a login whose push message cannot be delivered.
    static let authenticationError = APIError(.internalServerError, "Authentication Error!!")

    static let lockedOut = APIError(.unauthorized, "User Locked Out.", detail: ["failureUrl": .string("")])
    static let suspensionNotFound = APIError(
        .unauthorized,
        "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found. It may have expired.")

    /// Returns the error with which identity management rejects an object: the attribute, and the policies that its value
    /// violates.
    static func policyFailure(_ attribute: String, _ policies: [AttributePolicy]) -> APIError {
        APIError(
            .forbidden, "Policy validation failed",
            detail: [
                "result": .bool(false),
                "failedPolicyRequirements": .array([
                    .object([
                        "property": .string(attribute),
                        "policyRequirements": .array(policies.map(\.requirementAndParameters)),
                    ])
                ]),
            ])
    }

    /// The session that the client wants to upgrade does not exist in the realm.
    static let noSessionToUpgrade = APIError(.badRequest, "Session upgrade failed: there is no such session.")
    /// Another user than that of the session to upgrade has completed the journey.
    static let upgradeByOtherUser = APIError(
        .badRequest, "Session Upgrade fails since user is different than original authenticated user",
        detail: ["failureUrl": .string("")])

    /// Returns the error of a failed login.
    /// - Parameters:
    ///   - reason: The reason for the log.
    ///   - tree: The name of the journey.
    ///   - failuresLeft: The number of wrong passwords after which the account is locked, to warn of it in AM's words; nil for no
    ///     warning.
    /// - Returns: An error with status 401.
    static func loginFailure(because reason: String, tree: String, failuresLeft: Int? = nil) -> APIError {
        let warning = failuresLeft.map {
            "Authentication Failed Warning: You will be locked out after \($0) more failure(s)."
        }
        var refusal = APIError(.unauthorized, warning ?? "Login failure", detail: ["failureUrl": .string("")])
        refusal.reason = "\(tree): \(reason)"
        return refusal
    }

    static func unknownRealm(_ realm: RealmPath) -> APIError {
        APIError(.notFound, "Realm \"\(realm)\" not found")
    }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> APIError {
        APIError(
            .methodNotAllowed, "The method is not supported here.",
            headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")])
    }
}

/// A failed login flow stores its error, so that its page can show it again.
extension APIError: Codable {
    private enum CodingKeys: CodingKey {
        case status, phrase, message, detail, headers, reason
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = HTTPResponse.Status(
            code: try container.decode(Int.self, forKey: .status),
            reasonPhrase: try container.decode(String.self, forKey: .phrase))
        message = try container.decode(String.self, forKey: .message)
        detail = try container.decodeIfPresent([String: JSONValue].self, forKey: .detail)
        headers = try container.decode(HTTPFields.self, forKey: .headers)
        reason = try container.decodeIfPresent(String.self, forKey: .reason)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.code, forKey: .status)
        try container.encode(status.reasonPhrase, forKey: .phrase)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encode(headers, forKey: .headers)
        try container.encodeIfPresent(reason, forKey: .reason)
    }
}
