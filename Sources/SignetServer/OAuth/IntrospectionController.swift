import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../introspect` (RFC 7662): describes a confidential client's own tokens.
///
/// A client with AM's scope `am-introspect-all-tokens` can inspect all tokens of its realm.
struct IntrospectionController: Sendable {
    static let allTokens = "am-introspect-all-tokens"
    let server: ServerContext

    func introspect(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try ClientCredentials(request, form)
        let body = try await server.store.read { tx in
            let client = try tx.client(credentials, in: realm)
            guard client.secret != nil else { throw OAuthErrorResponse.invalidClient(usedBasic: credentials.usedBasic) }
            let token = try form.required("token")
            return try Self.description(of: token, for: client, tx)
        }
        return try OAuthReply.make(.ok, body ?? ["active": .bool(false)])
    }

    private static func description(
        of token: String, for client: RegisteredClient, _ tx: ServerTransaction
    ) throws -> [String: JSONValue]? {
        let realm = client.key.realm
        let found: (grant: Grant, scopes: [String], issuedAt: Date, expiresAt: Date, type: String)
        if let access = try tx.tokens.access(token, in: realm) {
            found = (access.grant, access.scopes, access.issuedAt, access.expiresAt, "Bearer")
        } else if let (refresh, grant) = try tx.tokens.refresh(token, in: realm) {
            found = (grant, refresh.scopes, refresh.issuedAt, refresh.expiresAt, "refresh_token")
        } else {
            return nil
        }
        guard found.grant.client == client.key || client.scopes.contains(allTokens) else { return nil }
        let left = Int64(found.expiresAt.timeIntervalSince(tx.now))
        return [
            "active": .bool(true), "scope": .string(found.scopes.joined(separator: " ")), "realm": .string(realm.description),
            "client_id": .string(found.grant.client.id), "user_id": .string(found.grant.user.name),
            "username": .string(found.grant.user.name), "sub": .string(found.grant.user.name),
            "token_type": .string(found.type), "iss": .string(tx.time.issuer(of: realm)),
            "iat": .integer(Int64(found.issuedAt.timeIntervalSince1970)),
            "exp": .integer(Int64(found.expiresAt.timeIntervalSince1970)), "expires_in": .integer(max(0, left)),
            "auth_time": .integer(Int64(found.grant.authenticatedAt.timeIntervalSince1970)),
            "authGrantId": .string(found.grant.id),
        ]
    }
}
