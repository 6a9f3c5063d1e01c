import Foundation
import SignetCore
import SignetStorage

/// Encodes the responses of the administration API as JSON.
///
/// Members without a value are omitted.
enum AdminJSON {
    static func clock(_ clock: AdjustableClock) -> JSONValue {
        let now = clock.now
        return .object([
            "now": .string(now.ISO8601Format()), "seconds": .number(now.timeIntervalSince1970), "offset": .number(clock.offset),
            "stopped": .bool(clock.isStopped),
        ])
    }

    static func fault(_ entry: FaultTable.Entry) -> JSONValue {
        let rule = entry.rule
        var members: [String: JSONValue] = [
            "name": .string(rule.name), "kind": .string(rule.kind.name), "applied": .integer(Int64(entry.applied)),
        ]
        if rule.route != .everywhere { members["route"] = .string(rule.route.text) }
        if let client = rule.client { members["client"] = .object([client.kind.rawValue: .string(client.value)]) }
        members["remaining"] = entry.remaining.map { .integer(Int64($0)) }
        if case .until(let end) = rule.extent { members["until"] = .string(end.ISO8601Format()) }
        members["executed"] = rule.isExecuted.map { .bool($0) }
        switch rule.kind {
        case .latency(let duration), .slowBody(let duration):
            members["milliseconds"] = .integer(Int64(duration / .milliseconds(1)))
        case .status(let status, let retryAfter):
            members["status"] = .integer(Int64(status))
            members["retryAfter"] = retryAfter.map { .integer(Int64($0)) }
        case .cut(let bytes), .truncated(let bytes): members["bytes"] = bytes.map { .integer(Int64($0)) }
        default: break
        }
        return .object(members)
    }

    static func entry(_ entry: RequestLogEntry) -> JSONValue {
        var members: [String: JSONValue] = [
            "number": .integer(Int64(entry.number)), "at": .string(entry.at.ISO8601Format()),
            "faults": .array(entry.faults.map { .string($0) }),
        ]
        switch entry.event {
        case .request(let request): members.merge(self.request(request)) { $1 }
        case .push(let push):
            members["kind"] = .string("push")
            members["step"] = .string(push.step.rawValue)
            members["messageId"] = .string(push.messageID)
            members["device"] = push.device.map { .string($0) }
            members["stream"] = push.stream.map { .integer(Int64($0)) }
            members["reason"] = push.reason.map { .string($0) }
        case .email(let email):
            members["kind"] = .string("email")
            members["user"] = .string(email.user)
            members["realm"] = .string(email.realm)
        case .sns(let request):
            members["kind"] = .string("sns")
            members["action"] = .string(request.action)
            members["status"] = .integer(Int64(request.status))
            members["milliseconds"] = .number(request.duration / .milliseconds(1))
        case .logout(let logout):
            members["kind"] = .string("logout")
            members["client"] = .object(["oauth": .string(logout.client)])
            members["realm"] = .string(logout.realm)
            members["attempt"] = .integer(Int64(logout.attempt))
            members["status"] = .integer(Int64(logout.status))
            members["milliseconds"] = .number(logout.duration / .milliseconds(1))
        }
        return .object(members)
    }

    private static func request(_ request: RequestLogEntry.Request) -> [String: JSONValue] {
        var client: [String: JSONValue] = [:]
        client["oauth"] = request.client.oauth.map { .string($0) }
        client["device"] = request.client.device.map { .string($0) }
        client["userAgent"] = request.client.userAgent.map { .string($0) }
        client["address"] = request.client.address.map { .string($0) }
        var members: [String: JSONValue] = [
            "kind": .string("request"), "method": .string(request.method), "path": .string(request.path),
            "status": .integer(Int64(request.status)), "milliseconds": .number(request.duration / .milliseconds(1)),
            "client": .object(client),
            "parameters": .object(
                Dictionary(
                    request.parameters.map { ($0.name, $0.value.map { .string($0) } ?? .null) },
                    uniquingKeysWith: { first, _ in first })),
        ]
        members["resource"] = request.resource.map { .string($0) }
        members["problem"] = request.problem.map { .string($0) }
        return members
    }

    /// Describes an unreadable row.
    ///
    /// Its name is not secret, because the database stores it in clear text.
    static func unreadableRow(_ entry: UnreadableRows.Entry) -> JSONValue {
        .object([
            "kind": .string(entry.key.kind), "name": .string(entry.key.name), "reason": .string("\(entry.error)"),
        ])
    }

    static func session(_ key: TokenHash, _ session: SSOSession) -> JSONValue {
        .object([
            "key": .string(key.text), "user": .string(session.user.name), "realm": .string(session.user.realm.description),
            "journeys": .array(session.trees.sorted().map { .string($0) }),
            "startedAt": .string(session.startedAt.ISO8601Format()), "idleEnd": .string(session.idleEnd.ISO8601Format()),
            "end": .string(session.end.ISO8601Format()),
        ])
    }

    static func push(_ row: ConsoleFacts.PushRow) -> JSONValue {
        let push = row.push
        var members: [String: JSONValue] = [
            "messageId": .string(push.messageID), "device": .string(push.mechanismUID), "realm": .string(push.realm.description),
            "state": .string(row.state), "sentAt": .string(push.sentAt.ISO8601Format()),
            "deadline": .string(push.deadline.ISO8601Format()), "streams": .integer(Int64(row.streams)),
        ]
        members["user"] = row.user.map { .string($0.name) }
        members["number"] = push.number.map { .integer(Int64($0)) }
        switch row.progress {
        case .onStream: members["delivery"] = .string("stream")
        case .queued: members["delivery"] = .string("queued")
        case .sent(let id):
            members["delivery"] = .string("sent")
            members["snsMessageId"] = .string(id)
        case .undeliverable(let reason):
            members["delivery"] = .string("undeliverable")
            members["reason"] = .string(reason)
        }
        return .object(members)
    }
}
