import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The logins that a request names.
struct LoginFilter: Sendable {
    /// The names of the conditions in a query.
    static let parameters = ["journey", "realm", "user", "state", "after"]
    /// The states that a login can have.
    static let states = ["success", "failure", "lockedOut", "timeout", "refused", "waiting", "expired"]

    var journey: String?
    var realm: RealmPath?
    var user: String?
    var state: String?
    /// Only logins with a higher number.
    var after: Int?

    func matches(_ trace: LoginTrace, at now: Date) -> Bool {
        guard journey == nil || trace.journey == journey, realm == nil || trace.realm == realm else { return false }
        guard user == nil || trace.user == user, state == nil || trace.state(at: now) == state else { return false }
        return after.map { trace.number > $0 } ?? true
    }
}

// The traces of logins.
extension AdminController {
    func logins(_ request: Request, context: AppRequestContext) async throws -> Response {
        let query = try AdminQuery(request, knows: LoginFilter.parameters + ["limit"])
        let filter = try LoginFilter(
            journey: query.text("journey"), realm: realm(query), user: query.text("user"), state: query.text("state"),
            after: query.number("after", 0...Int.max))
        if let state = filter.state, !LoginFilter.states.contains(state) {
            throw APIError(.badRequest, "'state' is one of \(LoginFilter.states.joined(separator: ", ")).")
        }
        let limit = try query.number("limit", 1...10_000) ?? 10_000
        let now = server.clock.now
        let found = server.logins.all.filter { filter.matches($0, at: now) }
        return try reply(
            .object([
                "count": .integer(Int64(found.count)), "last": .integer(Int64(server.logins.last)),
                "logins": .array(found.suffix(limit).map { AdminJSON.login($0, at: now) }),
            ]))
    }

    func login(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        guard let number = Int(try context.parameter("number")), let trace = server.logins[number] else {
            throw APIError(.notFound, "There is no such login.")
        }
        return try reply(AdminJSON.loginDetails(trace, at: server.clock.now))
    }

    /// Answers with the picture of a journey.
    func journeyGraph(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        guard let tree = server.trees[try context.parameter("journey")] else {
            throw APIError(.notFound, "There is no such journey.")
        }
        let bytes = Array(JourneyPicture(tree).svg.utf8)
        return Response(bytes, type: "image/svg+xml; charset=UTF-8", headers: [.cacheControl: "no-store"])
    }

    func clearLogins(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        server.logins.clear()
        return try reply(.object([:]))
    }
}

extension AdminJSON {
    static func login(_ trace: LoginTrace, at now: Date) -> JSONValue { .object(members(trace, at: now)) }

    static func loginDetails(_ trace: LoginTrace, at now: Date) -> JSONValue {
        var members = members(trace, at: now)
        members["visits"] = .array(trace.visits.map { visit($0) })
        members["omitted"] = .integer(Int64(trace.omitted))
        return .object(members)
    }

    private static func members(_ trace: LoginTrace, at now: Date) -> [String: JSONValue] {
        var client: [String: JSONValue] = [:]
        client["userAgent"] = trace.client.userAgent.map { .string($0) }
        client["address"] = trace.client.address.map { .string($0) }
        var members: [String: JSONValue] = [
            "number": .integer(Int64(trace.number)), "journey": .string(trace.journey), "realm": .string(trace.realm.description),
            "state": .string(trace.state(at: now)), "startedAt": .string(trace.startedAt.ISO8601Format()),
            "lastAt": .string(trace.lastAt.ISO8601Format()), "milliseconds": .number(trace.duration / .milliseconds(1)),
            "client": .object(client),
        ]
        members["user"] = trace.user.map { .string($0) }
        members["reason"] = trace.reason.map { .string($0) }
        if let last = trace.visits.last {
            members["node"] = .object([
                "journey": .string(last.path.tree), "id": .string(last.path.nodeID), "type": .string(last.type),
            ])
        }
        return members
    }

    private static func visit(_ visit: LoginTrace.Visit) -> JSONValue {
        var members: [String: JSONValue] = [
            "journey": .string(visit.path.tree), "id": .string(visit.path.nodeID), "type": .string(visit.type),
            "at": .string(visit.at.ISO8601Format()), "milliseconds": .number(visit.duration / .milliseconds(1)),
        ]
        members["outcome"] = visit.outcome.map { .string($0) }
        members["reason"] = visit.reason.map { .string($0) }
        if !visit.asked.isEmpty { members["asked"] = .texts(visit.asked) }
        if !visit.kept.isEmpty { members["kept"] = .texts(visit.kept) }
        if visit.count > 1 { members["count"] = .integer(Int64(visit.count)) }
        return .object(members)
    }
}
