import HTTPTypes
import Hummingbird
import SignetCore

/// `GET` and `POST /oauth2/.../userinfo`: returns the user's claims (OpenID Connect Core 1.0 section 5.3).
struct UserInfoController: Sendable {
    let server: ServerContext

    func userInfo(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        guard let sent = try await SentAccessToken(request, context, at: server) else { throw OAuthErrorResponse.noToken }
        let token = try await server.presented(sent.text)
        let (claims, algorithm): ([String: JSONValue], JWSAlgorithm?)
        if let proof = sent.proof {
            (claims, algorithm) = try await server.store.write { tx in
                let key = try tx.accept(proof)
                return try Self.claims(for: token, sentWith: key, in: realm, tx)
            }
        } else {
            (claims, algorithm) = try await server.store.read { tx in try Self.claims(for: token, sentWith: nil, in: realm, tx) }
        }
        var response: Response
        if let algorithm {
            response = OAuthReply.token(try await server.signer.sign(claims, with: algorithm))
        } else {
            response = try OAuthReply.make(.ok, claims)
        }
        for field in try await server.nonceHeaders(for: sent.proof) { response.headers.append(field) }
        return response
    }

    /// Returns the claims for an access token, and the algorithm of their signature, which is nil for JSON without one.
    private static func claims(
        for token: PresentedToken, sentWith key: String?, in realm: RealmPath, _ tx: ServerTransaction
    ) throws -> ([String: JSONValue], JWSAlgorithm?) {
        guard let access = try tx.tokens.access(token, in: realm), access.grant.isWithoutUser != true,
            let record = try tx.directory[access.grant.user]
        else {
            let message = "The access token is invalid or has expired"
            guard key != nil else { throw OAuthErrorResponse.invalidToken(message) }
            throw DPoPEndpoint.resource.refusal(code: "invalid_token", message)
        }
        try access.check(sentWith: key)
        guard access.scopes.contains("openid") else {
            throw OAuthErrorResponse(
                .forbidden, "insufficient_scope", "The scope openid is needed",
                headers: [.wwwAuthenticate: "\(access.grant.tokenType) error=\"insufficient_scope\", scope=\"openid\""])
        }
        var claims = tx.time.configuration.claimsByScope.claims(of: record, access.grant.user, scopes: access.scopes)
        if let requested = access.grant.claims?.userInfo {
            claims.merge(ScopeClaims.claims(of: record, access.grant.user, requested: requested)) { own, _ in own }
        }
        guard let algorithm = tx.clients[access.grant.client]?.userInfoSigningAlgorithm else { return (claims, nil) }
        return (Self.signed(claims, for: access.grant.client, issuer: tx.time.issuer(of: realm)), algorithm)
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
}
