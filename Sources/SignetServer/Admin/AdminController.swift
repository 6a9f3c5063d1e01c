import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `/admin`: the JSON API with which tests in any language control the server (docs/reference/admin.md). It is for programs on this machine
/// that know the token; for other clients the address doesn't exist.
///
/// A request is parsed first and carried out afterwards. Each parser takes the query parameters that it knows and returns a
/// closure that does the work. Before that closure runs, one check rejects remaining query parameters, so that no call can ignore
/// an unknown parameter.
struct AdminController: Sendable {
    /// The work of a parsed request.
    typealias Call = () async throws -> Response

    /// The minimum length of a token, in bytes. A shorter token is never accepted.
    static let shortestToken = 16

    let server: ServerContext

    var operations: AdminOperations { AdminOperations(server: server) }

    /// Answers a request to the administration API.
    /// - Parameters:
    ///   - path: The part of the path after `/admin`.
    ///   - isLocal: True when the client is a program on this machine.
    func respond(to reader: RequestReader, path: Substring, isLocal: Bool) async throws -> Response {
        guard let token = server.configuration.adminToken, token.count >= Self.shortestToken, isLocal else {
            throw APIError.resourceNotFound
        }
        guard let shown = reader.credentials("Bearer"), ConstantTime.areEqual(Array(shown.utf8), token.bytes) else {
            throw APIError(
                .unauthorized, "The administration wants its token.", headers: [.wwwAuthenticate: "Bearer realm=\"signet-admin\""]
            )
        }
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let segment = part.percentDecoded() else { throw APIError.resourceNotFound }
            segments.append(segment)
        }
        do {
            return try await answer(reader, segments, token)
        } catch let error as FaultError {
            throw APIError(.badRequest, "\(error)")
        }
    }

    private func answer(_ reader: RequestReader, _ path: [String], _ token: Secret) async throws -> Response {
        var query = try AdminQuery(reader)
        let call = try call(reader, path, &query, token)
        try query.end()
        return try await call()
    }

    private func call(
        _ reader: RequestReader, _ path: [String], _ query: inout AdminQuery, _ token: Secret
    ) throws -> Call {
        let rest = Array(path.dropFirst())
        switch path.first {
        case nil:
            try reader.require(.get)
            return {
                let broken = try await server.store.queue.broken.entries
                return try reply(
                    .object([
                        "url": .string(server.baseURL), "clock": AdminJSON.clock(server.clock),
                        "brokenRows": .array(broken.map { AdminJSON.brokenRow($0) }),
                    ]))
            }
        case "clock": return try clock(reader, rest)
        case "faults": return try faults(reader, rest)
        case "request-log" where rest.isEmpty: return try requestLog(reader, &query)
        case "sessions": return try sessions(reader, rest, &query)
        case "users": return try users(reader, rest, &query)
        case "emails" where rest.isEmpty: return try emails(reader, &query)
        case "pushes" where rest.isEmpty:
            try reader.require(.get)
            return { try await pushes() }
        case "snapshot" where rest.isEmpty: return try snapshot(reader, token)
        case "reset" where rest.isEmpty:
            try reader.require(.post)
            return {
                try await AdminBody(reader).end()
                try await operations.reset()
                return try reply(.object([:]))
            }
        default: throw APIError.resourceNotFound
        }
    }

    func reply(_ body: JSONValue, _ status: HTTPResponse.Status = .ok) throws -> Response {
        var response = try JSONReply.make(status, body)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Returns the realm that a query names.
    func realm(_ query: inout AdminQuery) throws(APIError) -> RealmPath? {
        guard let realm = query.text("realm").map({ RealmPath($0) }) else { return nil }
        guard server.has(realm) else { throw APIError(.notFound, "There is no such realm.") }
        return realm
    }

    // MARK: Clock

    private func clock(_ reader: RequestReader, _ path: [String]) throws -> Call {
        let change: () async throws -> Void
        switch (reader.request.method, path) {
        case (.get, []): change = {}
        case (.put, []):
            change = {
                var body = try await AdminBody(reader)
                let moment = try body.moment("now")
                let stops = try body.truth("stopped")
                try body.end()
                guard moment != nil || stops != nil else { throw APIError(.badRequest, "'now' or 'stopped' is missing.") }
                if let moment { try await operations.setClock(to: moment) }
                if let stops { try await operations.change(clock: stops ? .stop : .resume) }
            }
        case (.post, ["advance"]):
            change = {
                var body = try await AdminBody(reader)
                let seconds = try body.required("seconds", body.number("seconds"))
                try body.end()
                try await operations.moveClock(by: seconds)
            }
        case (.post, ["resume"]):
            change = {
                try await AdminBody(reader).end()
                try await operations.change(clock: .resume)
            }
        case (.delete, []):
            change = {
                try await AdminBody(reader).end()
                try await operations.change(clock: .reset)
            }
        case (_, []): throw APIError.methodNotAllowed([.get, .put, .delete])
        case (_, ["advance"]), (_, ["resume"]): throw APIError.methodNotAllowed([.post])
        default: throw APIError.resourceNotFound
        }
        return {
            try await change()
            return try reply(AdminJSON.clock(server.clock))
        }
    }

    // MARK: Faults

    private func faults(_ reader: RequestReader, _ path: [String]) throws -> Call {
        switch (reader.request.method, path.count) {
        case (.get, 0):
            return {
                try reply(
                    .object([
                        "faults": .array(server.faults.entries.map { AdminJSON.fault($0) }),
                        "kinds": .array(FaultKind.examples.map { .string($0.name) }),
                        "routes": .array(server.faults.routes.map { .string($0) }),
                    ]))
            }
        case (.post, 0):
            return {
                var body = try await AdminBody(reader)
                let rule = try FaultRule(&body, now: server.clock.now)
                try body.end()
                try operations.enable(rule)
                let entry = server.faults.entries.last { $0.rule.name == rule.name }
                return try reply(entry.map { AdminJSON.fault($0) } ?? .object([:]), .created)
            }
        case (.delete, 0):
            return {
                server.faults.disableAll()
                return try reply(.object([:]))
            }
        case (.delete, 1):
            return {
                guard operations.disable(path[0]) else { throw APIError(.notFound, "No fault of this name is on.") }
                return try reply(.object([:]))
            }
        case (_, 0): throw APIError.methodNotAllowed([.get, .post, .delete])
        case (_, 1): throw APIError.methodNotAllowed([.delete])
        default: throw APIError.resourceNotFound
        }
    }

    // MARK: Request log

    /// The longest time that a request can wait for an entry, in seconds of the machine's time.
    private static let longestWait = 60.0

    private func requestLog(_ reader: RequestReader, _ query: inout AdminQuery) throws -> Call {
        if reader.request.method == .delete {
            return {
                server.requestLog.clear()
                return try reply(.object([:]))
            }
        }
        try reader.require(.get, .delete)
        let filter = try RequestLogFilter(&query)
        let limit = try query.number("limit", 1...RequestLog.size) ?? RequestLog.size
        let wait = try query.seconds("wait", upTo: Self.longestWait)
        return {
            if let wait {
                // A wait without a match ends with an empty list.
                _ = try? await server.requestLog.waitForEntry(matching: filter, within: .seconds(wait))
            }
            let last = server.requestLog.last
            let entries = server.requestLog.entries(matching: filter)
            return try reply(
                .object([
                    "count": .integer(Int64(entries.count)), "last": .integer(Int64(last)),
                    "entries": .array(entries.suffix(limit).map { AdminJSON.entry($0) }),
                ]))
        }
    }

    // MARK: Sessions

    private func sessions(_ reader: RequestReader, _ path: [String], _ query: inout AdminQuery) throws -> Call {
        let realm = try realm(&query)
        let user = query.text("user").map { UserKey(realm: realm ?? .root, name: $0) }
        guard realm == nil || user != nil else { throw APIError(.badRequest, "'realm' says where a 'user' is: name one.") }
        guard path.isEmpty || user == nil else { throw APIError(.badRequest, "The session is named already: leave 'user' out.") }
        switch (reader.request.method, path.count) {
        case (.get, 0):
            return {
                let all = try await server.store.read(skippingUnreadableRows: true) { tx in
                    user.map { tx.sessions.sessions(of: $0) }
                        ?? tx.sessions.newest(ConsoleFacts.rows)
                }.sorted { $0.session.startedAt < $1.session.startedAt }
                return try reply(.object(["sessions": .array(all.map { AdminJSON.session($0.key, $0.session) })]))
            }
        case (.delete, 0):
            return { try reply(.object(["ended": .integer(Int64(try await operations.endSessions(of: user)))])) }
        case (.delete, 1):
            return {
                let key = TokenHash(text: path[0])
                switch try await operations.endSession(key) {
                case .session(let session): return try reply(AdminJSON.session(key, session))
                case .broken: return try reply(.object(["key": .string(key.text), "broken": .bool(true)]))
                case nil: throw APIError(.notFound, "There is no such session.")
                }
            }
        case (_, 0): throw APIError.methodNotAllowed([.get, .delete])
        case (_, 1): throw APIError.methodNotAllowed([.delete])
        default: throw APIError.resourceNotFound
        }
    }

    private func emails(_ reader: RequestReader, _ query: inout AdminQuery) throws -> Call {
        try reader.require(.get)
        let realm = try realm(&query)
        let name = query.text("user")
        return {
            let emails = try await server.store.read(skippingUnreadableRows: true) { tx in tx.outbox.newest(ConsoleFacts.rows) }
                .filter { (realm == nil || $0.user.realm == realm) && (name == nil || $0.user.name == name) }
            let told = emails.map { email -> JSONValue in
                .object([
                    "user": .string(email.user.name), "realm": .string(email.user.realm.description),
                    "link": .string(email.link),
                ])
            }
            return try reply(.object(["emails": .array(told)]))
        }
    }

    private func pushes() async throws -> Response {
        let pushes = try await server.store.read(skippingUnreadableRows: true) { [streams = server.streams] tx in
            tx.pushes.newest(ConsoleFacts.rows).sorted { $0.sentAt > $1.sentAt }
                .map { AdminJSON.push(ConsoleFacts.PushRow($0, tx, streams)) }
        }
        return try reply(.object(["pushes": .array(pushes)]))
    }
}

// MARK: - Snapshots

extension AdminController {
    /// The maximum size of a snapshot to restore, in bytes.
    private static let largestSnapshot = 64 * 1024 * 1024

    /// Exports or restores the state. Snapshots are sealed with a key from the administration token, so a client of the API can
    /// read them.
    private func snapshot(_ reader: RequestReader, _ token: Secret) throws -> Call {
        let key = Sealing.derive("signet server administration snapshots", from: token)
        guard reader.request.method != .get else {
            return {
                let bytes = try await server.snapshot().sealed(with: key)
                return Response(
                    status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            }
        }
        try reader.require(.get, .put)
        return { try await restore(reader, key) }
    }

    private func restore(_ reader: RequestReader, _ key: Secret) async throws -> Response {
        let bytes = try await RequestReader(
            request: reader.request, largestBody: Self.largestSnapshot, telemetry: server.telemetry, notes: reader.notes
        ).body()
        let snapshot: StateSnapshot
        do {
            snapshot = try StateSnapshot(sealed: bytes, key: key)
        } catch let error as StoreError {
            throw APIError(.badRequest, "\(error)")
        }
        try await operations.restore(snapshot)
        return try reply(.object(["rows": .integer(Int64(snapshot.count))]))
    }
}
