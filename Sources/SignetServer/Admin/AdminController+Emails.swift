import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The emails that a request names.
struct EmailFilter: Sendable {
    /// The names of the conditions in a query.
    static let parameters = ["realm", "user", "to", "since"]

    var realm: RealmPath?
    var user: String?
    var to: String?
    var since: Date?

    func matches(_ entry: SentEmails.Entry) -> Bool {
        guard realm == nil || entry.user.realm == realm, user == nil || entry.user.name == user else { return false }
        if let to, !entry.isTo(to) { return false }
        if let since { return entry.message.map { since <= $0.sentAt } ?? false }
        return true
    }
}

extension AdminController {
    private func filter(_ query: AdminQuery) throws(APIError) -> EmailFilter {
        try EmailFilter(realm: realm(query), user: query.text("user"), to: query.text("to"), since: query.date("since"))
    }

    func emails(_ request: Request, context: AppRequestContext) async throws -> Response {
        let query = try AdminQuery(request, knows: EmailFilter.parameters + ["wait"])
        let filter = try filter(query)
        let wait = try query.seconds("wait", upTo: Self.maxWait)
        let end = ContinuousClock.now + .seconds(wait ?? 0)
        while true {
            let last = server.requestLog.last
            let found = try await server.store.read(skippingUnreadableRows: true) { tx in
                try tx.emails.newest(ConsoleFacts.rows).filter(filter.matches)
            }
            let rest = end - ContinuousClock.now
            guard found.isEmpty, rest > .zero else {
                return try reply(.object(["emails": .array(found.map { AdminJSON.email($0) })]))
            }
            var next = RequestLogFilter()
            (next.kind, next.after) = (.email, last)
            // A wait without an email ends with an empty list.
            _ = try? await server.requestLog.waitForEntry(matching: next, within: rest)
            try Task.checkCancellation()
        }
    }

    func deleteEmails(_ request: Request, context: AppRequestContext) async throws -> Response {
        let filter = try filter(AdminQuery(request, knows: EmailFilter.parameters))
        return try reply(.object(["deleted": .integer(Int64(try await operations.deleteEmails(where: filter.matches)))]))
    }

    func email(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let id = try context.parameter("id")
        let found = try await server.store.read(skippingUnreadableRows: true) { tx in
            try tx.emails.newest(ConsoleFacts.rows).first { $0.id == id }
        }
        guard let found else { throw APIError(.notFound, "There is no such email.") }
        return try reply(AdminJSON.email(found))
    }

    func deleteEmail(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let id = try context.parameter("id")
        guard try await operations.deleteEmails(where: { $0.id == id }) > 0 else {
            throw APIError(.notFound, "There is no such email.")
        }
        return try reply(.object([:]))
    }
}

extension AdminJSON {
    static func email(_ entry: SentEmails.Entry) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(entry.id), "user": .string(entry.user.name), "realm": .string(entry.user.realm.description),
            "userExists": .bool(entry.exists),
        ]
        members["link"] = entry.link.map { .string($0) }
        guard let message = entry.message else { return .object(members) }
        members["to"] = message.to.map { .string($0) }
        members["code"] = message.code.map { .string($0) }
        members["sentAt"] = .string(message.sentAt.ISO8601Format())
        members["subject"] = .string(message.subject)
        members["text"] = .string(message.text)
        members["html"] = .string(message.html)
        switch message.delivery {
        case .queued: members["delivery"] = .string("queued")
        case .delivered: members["delivery"] = .string("delivered")
        case .failed(let reason):
            members["delivery"] = .string("failed")
            members["reason"] = .string(reason)
        case nil: break
        }
        return .object(members)
    }
}
