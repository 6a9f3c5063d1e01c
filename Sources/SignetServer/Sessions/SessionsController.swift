import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../sessions?_action=...`: logout, information about a session (protocol/journey.md section 1.7), and its properties.
struct SessionsController: Sendable {
    static let versions = [APIVersion(5, 1), APIVersion(4, 0), APIVersion(3, 1), APIVersion(2, 1), APIVersion(1, 2)]
    /// The properties that the server sets itself.
    static let ownProperties: Set = ["AMCtxId", "Service"]
    let server: ServerContext

    enum Action: String {
        case logout
        case getSessionInfo
        case getSessionProperties
        case updateSessionProperties
        case validate
    }

    func act(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let version = try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.versions)
        let body = try await request.json(context)
        let action: Action = try request.action()
        // An explicit token takes precedence over the session token of the request itself.
        let presented = context.route == .session ? try context.parameter("token") : nil
        // The body of an update has the names of properties only.
        let listed = action == .updateSessionProperties ? nil : body["tokenId"]?.string
        let named = [presented, listed, request.query("tokenId")].compactMap { $0 }
        let own = request.sessionTokens(server.configuration.cookieName)
        let tokens = named.isEmpty ? own : Array(named.prefix(1))
        switch action {
        case .logout: return try await logOut(tokens, realm, version)
        case .getSessionInfo:
            // A token in the request identifies the session to describe, not the caller, as at AM. From version 4.0 on, a caller
            // without a session of its own describes the one whose token it has, as AM 7 and 8 answer to frodo.
            if !named.isEmpty, !own.isEmpty || version.major < 4 { _ = try await callerSession(own, realm) }
            return try await information(tokens, realm, version)
        case .getSessionProperties:
            let caller = try await callerSession(own, realm, named: named)
            let names = try asked(body["properties"])
            return try JSONReply.make(.ok, values(of: names, in: caller.session), version: version)
        case .updateSessionProperties:
            let changes = try newValues(in: body)
            let caller = try await callerSession(own, realm, named: named)
            let changed = try await server.store.write { tx in
                try tx.sessions.setProperties(changes, of: caller.token, in: realm)
            }
            guard let changed else { throw APIError.accessDenied }
            return try JSONReply.make(.ok, values(of: permitted, in: changed), version: version)
        case .validate: return try await validate(tokens, realm, version)
        }
    }

    // MARK: Properties

    /// The properties that users may read and change.
    private var permitted: [String] { server.configuration.sessionProperties.filter { !Self.ownProperties.contains($0) } }

    /// Returns the caller's session.
    ///
    /// A user can only read and change the properties of this session: ``APIError/forbidden`` if `named` contains another token.
    private func callerSession(_ own: [String], _ realm: RealmPath, named: [String] = []) async throws -> PresentedSession {
        guard let found = try await server.store.read({ try $0.findSessionOrAdministrator(own, in: realm) }) else {
            throw APIError.accessDenied
        }
        guard named.allSatisfy({ ConstantTime.areEqual($0, found.token) }) else { throw APIError.forbidden }
        return found
    }

    /// Returns the names that a request lists; all permitted ones if it lists none.
    private func asked(_ list: JSONValue?) throws -> [String] {
        guard let list else { return permitted }
        guard let elements = list.array else { throw APIError(.badRequest, "Bad Request") }
        return try elements.map { element in
            guard let name = element.string else { throw APIError(.badRequest, "Bad Request") }
            guard permitted.contains(name) else { throw APIError.forbidden }
            return name
        }
    }

    /// Returns the new values in the body of an update.
    private func newValues(in body: JSONValue) throws -> [String: String] {
        guard let members = body.object, !members.isEmpty else { throw APIError(.badRequest, "Bad Request") }
        return try Dictionary(
            uniqueKeysWithValues: members.map { name, value in
                guard permitted.contains(name) else { throw APIError.forbidden }
                guard let text = value.string, text.utf8.count <= Self.maxValueLength else {
                    throw APIError(.badRequest, "Bad Request")
                }
                return (name, text)
            })
    }

    /// The maximum length of a value that a user sets, in bytes.
    private static let maxValueLength = 1024

    /// Returns properties by name, each missing one as an empty text.
    private func values(of names: [String], in session: SSOSession) -> [String: JSONValue] {
        Dictionary(names.map { ($0, .string(session.properties[$0] ?? "")) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Other actions

    private func logOut(_ tokens: [String], _ realm: RealmPath, _ version: APIVersion) async throws -> Response {
        let (ended, cookie) = try await server.store.write { tx in
            let presented = try tx.session(tokens, in: realm)
            let ended = try presented.flatMap { try tx.endSession(TokenHash($0.token)) }
            return (ended, SessionCookie(tx.time))
        }
        guard let ended else { throw APIError.accessDenied }
        server.logger.info("logged out", metadata: ["realm": "\(realm)", "user": "\(ended.user.name)"])
        return try JSONReply.make(
            .ok, JSONValue.object(["result": .string("Successfully logged out")]), headers: HTTPFields([cookie.expired]),
            version: version)
    }

    /// Returns information about a session, without extending its idle time.
    private func information(_ tokens: [String], _ realm: RealmPath, _ version: APIVersion) async throws -> Response {
        guard let found = try await server.store.read({ try $0.findSessionOrAdministrator(tokens, in: realm) }) else {
            throw APIError.accessDenied
        }
        let (key, session) = (TokenHash(found.token), found.session)
        let body: [String: JSONValue] = [
            "username": .string(session.user.name), "universalId": .string(session.user.universalID),
            "realm": .string(session.user.realm.description), "latestAccessTime": .string(session.lastAccess.ISO8601Format()),
            "maxIdleExpirationTime": .string(session.idleEnd.ISO8601Format()),
            "maxSessionExpirationTime": .string(session.end.ISO8601Format()),
            "properties": .object(
                session.properties.mapValues { .string($0) }.merging([
                    "AMCtxId": .string(key.text), "Service": .string(session.trees.sorted().joined(separator: "|")),
                ]) { $1 }),
        ]
        return try JSONReply.make(.ok, body, version: version)
    }

    private func validate(_ tokens: [String], _ realm: RealmPath, _ version: APIVersion) async throws -> Response {
        guard let found = try await server.store.read({ try $0.findSession(tokens, in: realm) }) else {
            return try JSONReply.make(.ok, ["valid": JSONValue.bool(false)], version: version)
        }
        let body: [String: JSONValue] = [
            "valid": .bool(true), "uid": .string(found.session.user.name), "realm": .string(realm.description),
            "sessionUid": .string(TokenHash(found.token).text),
        ]
        return try JSONReply.make(.ok, body, version: version)
    }
}

extension UserKey {
    /// The user's distinguished name, as in AM.
    var universalID: String {
        let organization = realm.names.reversed().map { "o=\($0)," }.joined()
        return "id=\(name),ou=user,\(organization)\(organization.isEmpty ? "" : "ou=services,")ou=am-config"
    }
}
