import HTTPTypes
import Hummingbird
import SignetCore

/// A request that is not granted, in the form that every CREST client reads: `{"code","reason","message","detail"}`
/// (protocol/journey.md section 2.5).
struct Refusal: Error, Sendable, Hashable {
    let status: HTTPResponse.Status
    let message: String
    var detail: [String: JSONValue]?
    var headers: HTTPFields = [:]
    /// Why, for the log; the client does not see it.
    var reason: String?

    init(_ status: HTTPResponse.Status, _ message: String, detail: [String: JSONValue]? = nil, headers: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.detail = detail
        self.headers = headers
    }

    var body: JSONValue {
        var body: [String: JSONValue] = [
            "code": .integer(Int64(status.code)), "reason": .string(status.reasonPhrase), "message": .string(message),
        ]
        if let detail { body["detail"] = .object(detail) }
        return .object(body)
    }

    /// AM's answer to every push request that it does not take: it never says why.
    static let badRequest = Refusal(.badRequest, "Bad request.")
    static func tooLarge(_ limit: Int) -> Refusal {
        Refusal(.contentTooLarge, "The request's body is larger than \(limit) bytes.")
    }

    static let accessDenied = Refusal(.unauthorized, "Access Denied")
    static let resourceNotFound = Refusal(.notFound, "Resource not found.")
    static let journeyTimedOut = Refusal(.unauthorized, "Session has timed out", detail: ["errorCode": .string("110")])
    static let unwritable = Refusal(.internalServerError, "The step cannot be written.")
    static let noSuchJourney = Refusal(.badRequest, "No Configuration found")
    static let foreignJourney = Refusal(.badRequest, "Authentication Error: the journey belongs to another realm")
    static let invalidAuthID = Refusal(.badRequest, "Authentication Error: Invalid AuthId Signature")

    /// What is asked for cannot be read, or was not written; nothing is half done.
    static let stateFailed = Refusal(
        .serviceUnavailable, "The state of the server cannot be used now. Try again later.", headers: [.retryAfter: "1"])

    static let lockedOut = Refusal(.unauthorized, "User Locked Out.", detail: ["failureUrl": .string("")])
    static let suspensionNotFound = Refusal(
        .unauthorized,
        "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found. It may have expired.")

    /// Identity management does not take an object: the attribute, and what it does not comply with.
    static func policyFailure(_ attribute: String, _ policies: [AttributePolicy]) -> Refusal {
        Refusal(
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

    static func loginFailure(because reason: String, tree: String) -> Refusal {
        var refusal = Refusal(.unauthorized, "Login failure", detail: ["failureUrl": .string("")])
        refusal.reason = "\(tree): \(reason)"
        return refusal
    }

    static func unknownRealm(_ realm: RealmPath) -> Refusal {
        Refusal(.notFound, "Realm \"\(realm)\" not found")
    }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Refusal {
        Refusal(
            .methodNotAllowed, "The method is not supported here.",
            headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")])
    }
}

/// A walk that failed keeps the refusal, to show it again.
extension Refusal: Codable {
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
