import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../sessions?_action=...`: logout, and information about a session (protocol/journey.md section 1.7).
struct SessionsController: Sendable {
    static let versions = [APIVersion(3, 1), APIVersion(2, 1), APIVersion(1, 2)]
    let server: ServerContext

    enum Action: String {
        case logout
        case getSessionInfo
        case validate
    }

    func act(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let version = try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.versions)
        let body = try await request.json(context)
        guard let name = request.query("_action"), !name.isEmpty else { throw APIError.badRequest }
        guard let action = Action(rawValue: name) else {
            throw APIError(.notImplemented, "The action is not supported here.")
        }
        // An explicit token takes precedence over the session token of the request itself.
        let shown = context.route == .session ? try context.parameter("token") : nil
        let named = [shown, body["tokenId"]?.string, request.query("tokenId")].compactMap { $0 }
        let tokens = named.isEmpty ? request.sessionTokens(server.configuration.cookieName) : Array(named.prefix(1))
        if action == .getSessionInfo, !named.isEmpty {
            // A token in the request identifies the session to describe, not the caller, as at AM.
            let own = request.sessionTokens(server.configuration.cookieName)
            guard try await find(own, realm) != nil else { throw APIError.accessDenied }
        }
        switch action {
        case .logout: return try await logOut(tokens, realm, version)
        case .getSessionInfo: return try await information(tokens, realm, version)
        case .validate: return try await validate(tokens, realm, version)
        }
    }

    private func logOut(_ tokens: [String], _ realm: RealmPath, _ version: APIVersion) async throws -> Response {
        let (ended, cookie) = try await server.store.write { tx in
            let shown = try tx.session(tokens, in: realm)
            let ended = try shown.flatMap { try tx.sessions.end(TokenHash($0.token)) }
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
        guard let (key, session) = try await find(tokens, realm) else { throw APIError.accessDenied }
        let body: [String: JSONValue] = [
            "username": .string(session.user.name), "universalId": .string(session.user.universalID),
            "realm": .string(realm.description), "latestAccessTime": .string(session.lastAccess.ISO8601Format()),
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
        guard let (key, session) = try await find(tokens, realm) else {
            return try JSONReply.make(.ok, ["valid": JSONValue.bool(false)], version: version)
        }
        let body: [String: JSONValue] = [
            "valid": .bool(true), "uid": .string(session.user.name), "realm": .string(realm.description),
            "sessionUid": .string(key.text),
        ]
        return try JSONReply.make(.ok, body, version: version)
    }

    private func find(_ tokens: [String], _ realm: RealmPath) async throws -> (TokenHash, SSOSession)? {
        try await server.store.read { tx in
            for key in tokens.map({ TokenHash($0) }) {
                guard let session = try tx.sessions.find(key), session.user.realm == realm else { continue }
                return (key, session)
            }
            return nil
        }
    }
}

extension UserKey {
    /// The user's distinguished name, as in AM.
    var universalID: String {
        let organization = realm.names.reversed().map { "o=\($0)," }.joined()
        return "id=\(name),ou=user,\(organization)\(organization.isEmpty ? "" : "ou=services,")ou=am-config"
    }
}
