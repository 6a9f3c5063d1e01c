import HTTPTypes
import Hummingbird
import Logging
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `POST /oauth2/.../token/revoke` (RFC 7009). The response for an unknown token, or for a token of another client, is the same
/// as for a revoked one.
struct RevocationResource: Sendable {
    let server: ServerContext

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        try reader.require(.post)
        let form = try await reader.form()
        let credentials = try ClientCredentials(reader, form)
        try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            tx.tokens.revoke(try form.required("token"), of: client.key)
        }
        server.logger.info("token revoked", metadata: ["client": "\(credentials.id)", "realm": "\(realm)"])
        return try OAuthReply.make(.ok, [:])
    }
}

/// `POST /oauth2/.../introspect` (RFC 7662): describes a confidential client's own tokens. A client with AM's scope
/// `am-introspect-all-tokens` can inspect all tokens of its realm.
struct IntrospectionResource: Sendable {
    static let allTokens = "am-introspect-all-tokens"
    let server: ServerContext

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        try reader.require(.post)
        let form = try await reader.form()
        let credentials = try ClientCredentials(reader, form)
        let body = try await server.store.read { tx in
            let client = try tx.client(credentials, in: realm)
            guard client.secret != nil else { throw OAuthErrorResponse.invalidClient(usedBasic: credentials.usedBasic) }
            let token = try form.required("token")
            return Self.description(of: token, for: client, tx)
        }
        return try OAuthReply.make(.ok, body ?? ["active": .bool(false)])
    }

    private static func description(
        of token: String, for client: RegisteredClient, _ tx: ServerTransaction
    ) -> [String: JSONValue]? {
        let realm = client.key.realm
        let found: (grant: Grant, scopes: [String], issuedAt: Date, expiresAt: Date, type: String)
        if let access = tx.tokens.access(token, in: realm) {
            found = (access.grant, access.scopes, access.issuedAt, access.expiresAt, "Bearer")
        } else if let (refresh, grant) = tx.tokens.refresh(token, in: realm) {
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

/// `GET` and `POST /oauth2/.../userinfo`: returns the user's claims (OpenID Connect Core 1.0 section 5.3).
struct UserInfoResource: Sendable {
    let server: ServerContext

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        guard let token = try await token(reader) else { throw OAuthErrorResponse.noToken }
        let claims = try await server.store.read { tx in
            guard let access = tx.tokens.access(token, in: realm),
                let person = tx.directory[access.grant.user]
            else { throw OAuthErrorResponse.invalidToken("The access token is invalid or has expired") }
            guard access.scopes.contains("openid") else {
                throw OAuthErrorResponse(
                    .forbidden, "insufficient_scope", "The scope openid is needed",
                    headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\", scope=\"openid\""])
            }
            return StandardClaims.claims(of: person, access.grant.user, scopes: access.scopes)
        }
        return try OAuthReply.make(.ok, claims)
    }

    private func token(_ reader: RequestReader) async throws -> String? {
        try reader.require(.get, .post)
        if let token = reader.credentials("Bearer") { return token }
        guard reader.request.method == .post, reader.header("content-type") != nil else { return nil }
        return try await reader.form()["access_token"]
    }
}

/// The claims of each scope (OpenID Connect Core 1.0 section 5.4).
enum StandardClaims {
    private static let byScope: [String: Set<String>] = [
        "profile": [
            "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
            "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
        ],
        "email": ["email", "email_verified"], "address": ["address"], "phone": ["phone_number", "phone_number_verified"],
    ]

    static let names = ["sub"] + byScope.values.flatMap { $0 }.sorted()

    /// Returns the claims to disclose. Standard claims need the scope that covers them; all other claims are always included.
    static func claims(of person: UserRecord, _ user: UserKey, scopes: [String]) -> [String: JSONValue] {
        let guarded = byScope.values.reduce(into: Set()) { $0.formUnion($1) }
        let open = scopes.reduce(into: Set()) { $0.formUnion(byScope[$1] ?? []) }
        var claims = person.claims.filter { !guarded.contains($0.key) || open.contains($0.key) }
        claims["sub"] = .string(user.name)
        if open.contains("name"), claims["name"] == nil { claims["name"] = .string(user.name) }
        return claims
    }
}
