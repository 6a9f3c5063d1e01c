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

    /// Issues a signed access token without a login, and answers as the token endpoint does.
    func issueToken(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        var body = try await AdminBody(request, context)
        var order = TokenOrder(subject: try body.required("subject", body.text("subject")))
        order.client = try body.text("client")
        order.realm = try body.text("realm").map { RealmPath($0) } ?? realm ?? .root
        order.scopes = try body.texts("scopes") ?? []
        order.audience = try body.texts("audience") ?? []
        order.claims = try body.object("claims") ?? [:]
        order.lifetime = try body.integer("seconds")
        if let name = try body.text("algorithm") {
            guard let algorithm = JWSAlgorithm(rawValue: name) else {
                let names = JWSAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw APIError(.badRequest, "'algorithm' is one of \(names).")
            }
            order.algorithm = algorithm
        }
        try body.end()
        let (token, issued) = try await operations.issueToken(order)
        return try reply(
            .object([
                "access_token": .string(token), "token_type": .string(issued.grant.tokenType),
                "expires_in": .integer(Int64(issued.lifetime)), "scope": .string(issued.scopes.joined(separator: " ")),
                "grant": .string(issued.grant.id),
            ]), .created)
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
            "scopes": .texts(token.scopes), "issuedAt": .string(token.issuedAt.ISO8601Format()),
            "expiresAt": .string(token.expiresAt.ISO8601Format()),
        ]
        if token.grant.isWithoutUser != true {
            members["user"] = .string(token.grant.user.name)
            members["session"] = .string(token.grant.session.text)
        }
        members["spentAt"] = token.spentAt.map { .string($0.ISO8601Format()) }
        return .object(members)
    }
}
