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
        let credentials = try await server.credentials(request, form, in: realm, at: .introspection)
        let token = try await server.presented(form["token"] ?? "")
        let body = try await server.store.read { tx in
            let client = try tx.client(credentials, in: realm)
            guard client.isConfidential else { throw OAuthErrorResponse.invalidClient(usedBasic: credentials.usedBasic) }
            _ = try form.required("token")
            return try Self.description(of: token, for: client, tx)
        }
        return try OAuthReply.make(.ok, body ?? ["active": .bool(false)])
    }

    private static func description(
        of token: PresentedToken, for client: RegisteredClient, _ tx: ServerTransaction
    ) throws -> [String: JSONValue]? {
        let realm = client.key.realm
        let found: (grant: Grant, scopes: [String], issuedAt: Date, expiresAt: Date, type: String)
        var audience: [String]?
        if let access = try tx.tokens.access(token, in: realm) {
            found = (access.grant, access.scopes, access.issuedAt, access.expiresAt, access.grant.tokenType)
            audience = access.audience ?? [access.grant.client.id]
        } else if let (refresh, grant) = try tx.tokens.refresh(token.text, in: realm) {
            found = (grant, refresh.scopes, refresh.issuedAt, refresh.expiresAt, "refresh_token")
        } else {
            return nil
        }
        guard found.grant.client == client.key || client.scopes.contains(allTokens) else { return nil }
        let left = Int64(found.expiresAt.timeIntervalSince(tx.now))
        var description: [String: JSONValue] = [
            "active": .bool(true), "scope": .string(found.scopes.joined(separator: " ")), "realm": .string(realm.description),
            "client_id": .string(found.grant.client.id), "user_id": .string(found.grant.user.name),
            "username": .string(found.grant.user.name), "sub": .string(found.grant.user.name),
            "token_type": .string(found.type), "iss": .string(tx.time.issuer(of: realm)),
            "iat": .integer(Int64(found.issuedAt.timeIntervalSince1970)),
            "exp": .integer(Int64(found.expiresAt.timeIntervalSince1970)), "expires_in": .integer(max(0, left)),
            "auth_time": .integer(Int64(found.grant.authenticatedAt.timeIntervalSince1970)),
            "authGrantId": .string(found.grant.id),
        ]
        description["aud"] = audience.map { TokenClaims.audience($0) }
        description["act"] = found.grant.actor
        description["cnf"] = found.grant.dpopKey.map { .object(["jkt": .string($0)]) }
        if found.grant.isWithoutUser == true { for name in ["user_id", "username", "auth_time"] { description[name] = nil } }
        return description
    }
}
