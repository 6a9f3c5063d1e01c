import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore
import SignetStorage

/// `/admin`: the JSON API with which tests in any language control the server (docs/reference/admin.md).
///
/// Each handler first reads the query with the names that it knows, so that no request can contain an ignored parameter.
struct AdminController: Sendable {
    let server: ServerContext

    var operations: AdminOperations { AdminOperations(server: server) }

    func reply(_ body: JSONValue, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let bytes = JSON.encode(body)
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if status == .ok { headers[.eTag] = "\"\(Base64.encode(Array(SHA256.hash(data: bytes).prefix(12)), as: .url))\"" }
        return Response(bytes, type: "application/json; charset=UTF-8", status, headers: headers)
    }

    /// Returns the realm that a query names.
    func realm(_ query: AdminQuery) throws(APIError) -> RealmPath? {
        guard let realm = query.text("realm").map({ RealmPath($0) }) else { return nil }
        guard server.has(realm) else { throw APIError(.notFound, "There is no such realm.") }
        return realm
    }

    // MARK: Server

    func overview(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let unreadableRows = try await server.store.queue.unreadableRows.entries
        let counts = try await server.store.read(skippingUnreadableRows: true) { tx in
            let limit = ConsoleFacts.maxCounted
            let tokens = try tx.tokens.counts(limit)
            return [
                "users": try tx.directory.count(limit: limit), "sessions": try tx.sessions.count(limit: limit),
                "accessTokens": tokens.access, "refreshTokens": tokens.refresh,
            ]
        }
        return try reply(
            .object([
                "url": .string(server.baseURL), "clock": AdminJSON.clock(server.clock),
                "realms": .texts(server.realms.map(\.description).sorted()),
                "defaultJourney": .string(server.configuration.defaultJourney),
                "counts": .object(counts.mapValues { .integer(Int64($0)) }),
                "unreadableRows": .array(unreadableRows.map { AdminJSON.unreadableRow($0) }),
            ]))
    }

    func reset(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        try await AdminBody(request, context).end()
        try await operations.reset()
        return try reply(.object([:]))
    }

    // MARK: Clock

    func clock(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        return try reply(AdminJSON.clock(server.clock))
    }

    func setClock(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        var body = try await AdminBody(request, context)
        let date = try body.date("now")
        let stops = try body.bool("stopped")
        try body.end()
        guard date != nil || stops != nil else { throw APIError(.badRequest, "'now' or 'stopped' is missing.") }
        if let date { try await operations.setClock(to: date) }
        if let stops { try await operations.change(clock: stops ? .stop : .resume) }
        return try reply(AdminJSON.clock(server.clock))
    }

    func advanceClock(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        var body = try await AdminBody(request, context)
        let seconds = try body.required("seconds", body.number("seconds"))
        try body.end()
        try await operations.moveClock(by: seconds)
        return try reply(AdminJSON.clock(server.clock))
    }

    /// Returns a handler that changes the clock without parameters.
    func changeClock(_ change: AdjustableClock.Change.Kind) -> RouteHandler {
        { request, context in
            _ = try AdminQuery(request)
            try await AdminBody(request, context).end()
            try await operations.change(clock: change)
            return try reply(AdminJSON.clock(server.clock))
        }
    }

    // MARK: Faults

    func faults(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        return try reply(
            .object([
                "faults": .array(server.faults.entries.map { AdminJSON.fault($0) }),
                "kinds": .array(FaultKind.examples.map { .string($0.name) }),
                "routes": .array(server.faults.routes.map { .string($0) }),
            ]))
    }

    func enableFault(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        var body = try await AdminBody(request, context)
        let rule = try FaultRule(&body, now: server.clock.now)
        try body.end()
        try operations.enable(rule)
        let entry = server.faults.entries.last { $0.rule.name == rule.name }
        return try reply(entry.map { AdminJSON.fault($0) } ?? .object([:]), .created)
    }

    func disableFaults(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        server.faults.disableAll()
        return try reply(.object([:]))
    }

    func disableFault(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        guard operations.disable(try context.parameter("name")) else {
            throw APIError(.notFound, "No fault with this name is enabled.")
        }
        return try reply(.object([:]))
    }

    // MARK: Request log

    /// The longest time that a request can wait for an entry, in seconds of the machine's time.
    static let maxWait = 60.0

    func requestLog(_ request: Request, context: AppRequestContext) async throws -> Response {
        let query = try AdminQuery(request, knows: RequestLogFilter.parameters + ["limit", "wait"])
        let filter = try RequestLogFilter(query)
        let limit = try query.number("limit", 1...RequestLog.size) ?? RequestLog.size
        if let wait = try query.seconds("wait", upTo: Self.maxWait) {
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

    func clearRequestLog(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        server.requestLog.clear()
        return try reply(.object([:]))
    }

    // MARK: Sessions

    /// Returns the user whose sessions a query names; nil for all users.
    private func sessionOwner(_ request: Request) throws -> UserKey? {
        let query = try AdminQuery(request, knows: ["realm", "user"])
        let realm = try realm(query)
        let user = query.text("user").map { UserKey(realm: realm ?? .root, name: $0) }
        guard realm == nil || user != nil else { throw APIError(.badRequest, "'realm' needs 'user', a user of that realm.") }
        return user
    }

    func sessions(_ request: Request, context: AppRequestContext) async throws -> Response {
        let user = try sessionOwner(request)
        let all = try await server.store.read(skippingUnreadableRows: true) { tx in
            try user.map { try tx.sessions.sessions(of: $0) }
                ?? tx.sessions.newest(ConsoleFacts.rows)
        }.sorted { $0.session.startedAt < $1.session.startedAt }
        return try reply(.object(["sessions": .array(all.map { AdminJSON.session($0.key, $0.session) })]))
    }

    func endSessions(_ request: Request, context: AppRequestContext) async throws -> Response {
        let user = try sessionOwner(request)
        return try reply(.object(["ended": .integer(Int64(try await operations.endSessions(of: user)))]))
    }

    func endSession(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let key = TokenHash(text: try context.parameter("key"))
        switch try await operations.endSession(key) {
        case .session(let session): return try reply(AdminJSON.session(key, session))
        case .unreadable: return try reply(.object(["key": .string(key.text), "unreadable": .bool(true)]))
        case nil: throw APIError(.notFound, "There is no such session.")
        }
    }

    // MARK: Messages

    func pushes(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let pushes = try await server.store.read(skippingUnreadableRows: true) { [streams = server.streams] tx in
            try tx.pushes.newest(ConsoleFacts.rows).sorted { $0.sentAt > $1.sentAt }
                .map { AdminJSON.push(try ConsoleFacts.PushRow($0, tx, streams)) }
        }
        return try reply(.object(["pushes": .array(pushes)]))
    }
}

// MARK: - Snapshots

extension AdminController {
    /// The maximum size of a snapshot to restore, in bytes.
    private static let maxSnapshotSize = 64 * 1024 * 1024

    /// The key of snapshots.
    ///
    /// It is derived from the administration token, so a client of the API can read them.
    private var snapshotKey: Secret {
        get throws {
            guard let token = server.configuration.adminToken else { throw APIError.resourceNotFound }
            return Sealing.derive("signet server administration snapshots", from: token)
        }
    }

    func snapshot(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let bytes = try await server.store.queue.snapshot().sealed(with: snapshotKey)
        return Response(bytes, type: "application/octet-stream", headers: [.cacheControl: "no-store"])
    }

    func restore(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        var context = context
        context.maxUploadSize = Self.maxSnapshotSize
        let (bytes, key) = (try await request.bytes(context), try snapshotKey)
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
