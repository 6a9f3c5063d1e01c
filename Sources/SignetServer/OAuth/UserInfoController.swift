import HTTPTypes
import Hummingbird
import SignetCore

/// `GET` and `POST /oauth2/.../userinfo`: returns the user's claims (OpenID Connect Core 1.0 section 5.3).
struct UserInfoController: Sendable {
    let server: ServerContext

    func userInfo(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        guard let token = try await token(request, context) else { throw OAuthErrorResponse.noToken }
        let (claims, isSigned) = try await server.store.read { tx -> ([String: JSONValue], Bool) in
            guard let access = try tx.tokens.access(token, in: realm),
                let record = try tx.directory[access.grant.user]
            else { throw OAuthErrorResponse.invalidToken("The access token is invalid or has expired") }
            guard access.scopes.contains("openid") else {
                throw OAuthErrorResponse(
                    .forbidden, "insufficient_scope", "The scope openid is needed",
                    headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\", scope=\"openid\""])
            }
            var claims = StandardClaims.claims(of: record, access.grant.user, scopes: access.scopes)
            if let requested = access.grant.claims?.userInfo {
                claims.merge(StandardClaims.claims(of: record, access.grant.user, requested: requested)) { own, _ in own }
            }
            guard tx.clients[access.grant.client]?.userInfoSignedResponse == true else { return (claims, false) }
            return (Self.signed(claims, for: access.grant.client, issuer: tx.time.issuer(of: realm)), true)
        }
        guard isSigned else { return try OAuthReply.make(.ok, claims) }
        return OAuthReply.token(try await server.signer.sign(claims))
    }

    /// Returns the claims of a signed response (OpenID Connect Core 1.0 section 5.3.2).
    ///
    /// Without the claims of tokens, which a user's attributes could otherwise imitate, it isn't accepted as an id_token.
    private static func signed(
        _ claims: [String: JSONValue], for client: ClientKey, issuer: String
    ) -> [String: JSONValue] {
        var signed = claims.filter { $0.key == "sub" || !ClaimsRequest.reservedNames.contains($0.key) }
        signed["iss"] = .string(issuer)
        signed["aud"] = .string(client.id)
        return signed
    }

    private func token(_ request: Request, _ context: AppRequestContext) async throws -> String? {
        if let token = request.credentials("Bearer") { return token }
        guard request.method == .post, request.header("content-type") != nil else { return nil }
        return try await request.form(context)["access_token"]
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

    /// Returns the names of the claims that only other scopes than these cover.
    static func names(outside scopes: [String]) -> Set<String> {
        byScope.reduce(into: Set()) { if !scopes.contains($1.key) { $0.formUnion($1.value) } }
    }

    /// Returns the claims to disclose.
    ///
    /// Standard claims need the scope that covers them; all other claims are always included.
    static func claims(of record: UserRecord, _ user: UserKey, scopes: [String]) -> [String: JSONValue] {
        let guarded = byScope.values.reduce(into: Set()) { $0.formUnion($1) }
        let open = scopes.reduce(into: Set()) { $0.formUnion(byScope[$1] ?? []) }
        var claims = record.claims.filter { !guarded.contains($0.key) || open.contains($0.key) }
        claims["sub"] = .string(user.name)
        if open.contains("name"), claims["name"] == nil { claims["name"] = .string(user.name) }
        return claims
    }

    /// Returns the claims that a client requested by name, as far as the user has them with an accepted value.
    ///
    /// A claim without an accepted value is left out, also when it is essential (OpenID Connect Core 1.0 section 5.5.1).
    static func claims(
        of record: UserRecord, _ user: UserKey, requested: [String: ClaimRequest]
    ) -> [String: JSONValue] {
        var claims: [String: JSONValue] = [:]
        for (name, request) in requested where !ClaimsRequest.reservedNames.contains(name) {
            var value = record.claims[name]
            if name == "name", value == nil { value = .string(user.name) }
            if let known = value, request.accepts(known) { claims[name] = known }
        }
        return claims
    }
}
