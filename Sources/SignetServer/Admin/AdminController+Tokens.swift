import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

// The access tokens and refresh tokens, which are listed without their values.
extension AdminController {
    func tokens(_ request: Request, context: AppRequestContext) async throws -> Response {
        let query = try AdminQuery(request, knows: ["realm", "user", "client"])
        let (realm, user, client) = (try realm(query), query.text("user"), query.text("client"))
        let all = try await server.store.read(skippingUnreadableRows: true) { tx in try tx.tokens.newest(ConsoleFacts.rows) }
        let found = all.filter { token in
            (realm == nil || token.grant.client.realm == realm) && (user == nil || token.grant.user.name == user)
                && (client == nil || token.grant.client.id == client)
        }
        return try reply(.object(["tokens": .array(found.map { AdminJSON.token($0) })]))
    }

    /// Revokes the grant of a token, and so all tokens of that login.
    func revokeTokens(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let grant = try context.parameter("grant")
        guard try await operations.revokeTokens(ofGrant: grant) else { throw APIError(.notFound, "There is no such grant.") }
        return try reply(.object([:]))
    }
}

extension AdminOperations {
    /// Revokes all tokens of a grant.
    ///
    /// Returns false when it doesn't exist.
    func revokeTokens(ofGrant grant: String) async throws -> Bool {
        let wasThere = try await server.store.write { tx in try tx.tokens.revoke(grant: grant) }
        if wasThere { server.logger.notice("the tokens of a login were revoked") }
        return wasThere
    }
}

extension AdminJSON {
    static func token(_ token: ListedToken) -> JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(token.isRefreshToken ? "refresh" : "access"), "grant": .string(token.grant.id),
            "client": .string(token.grant.client.id), "realm": .string(token.grant.client.realm.description),
            "user": .string(token.grant.user.name), "scopes": .texts(token.scopes), "session": .string(token.grant.session.text),
            "issuedAt": .string(token.issuedAt.ISO8601Format()), "expiresAt": .string(token.expiresAt.ISO8601Format()),
        ]
        members["spentAt"] = token.spentAt.map { .string($0.ISO8601Format()) }
        return .object(members)
    }
}
