import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../access_token`: exchanges codes, refresh tokens and device codes for tokens (protocol/journey.md section
/// 4.3).
struct TokenController: Sendable {
    let server: ServerContext

    enum GrantType: String, CaseIterable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    }

    func token(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try ClientCredentials(request, form)
        typealias Outcome = Result<(IssuedTokens, [String: JSONValue]?), OAuthErrorResponse>
        // The signature takes as long as the commit.
        let (outcome, idToken) = try await server.store.write { tx -> Outcome in
            let client = try tx.client(credentials, in: realm)
            switch try Self.exchange(form, client, &tx) {
            case .success(let issued): return .success((issued, try tx.idTokenClaims(issued, client)))
            case .failure(let refusal): return .failure(refusal)
            }
        } preparing: { [signer = server.signer] outcome -> String? in
            guard case .success((_, let claims?)) = outcome else { return nil }
            return try await signer.sign(claims)
        }
        let issued = try outcome.get().0
        if let grant = GrantType(rawValue: form["grant_type"] ?? "") { server.telemetry.count([.tokens(grant)]) }
        server.logger.info(
            "tokens given",
            metadata: ["client": "\(issued.grant.client.id)", "realm": "\(realm)", "user": "\(issued.grant.user.name)"])
        var body: [String: JSONValue] = [
            "access_token": .string(issued.accessToken), "token_type": .string("Bearer"),
            "expires_in": .integer(Int64(issued.lifetime)), "scope": .string(issued.scopes.joined(separator: " ")),
        ]
        body["refresh_token"] = issued.refreshToken.map { .string($0) }
        body["id_token"] = idToken.map { .string($0) }
        return try OAuthReply.make(.ok, body)
    }

    private static func exchange(
        _ form: Parameters, _ client: RegisteredClient, _ tx: inout ServerTransaction
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        switch GrantType(rawValue: try form.required("grant_type")) {
        case .authorizationCode:
            return try tx.tokens.redeem(
                try form.required("code"), for: client, redirectURI: form["redirect_uri"], verifier: form["code_verifier"])
        case .refreshToken:
            return try tx.tokens.refresh(
                try form.required("refresh_token"), for: client, scopes: form.words("scope"))
        case .deviceCode:
            let grant = try tx.deviceCodes.redeem(
                try form.required("device_code"), for: client, verifier: form["code_verifier"])
            switch grant {
            case .success(let grant): return try tx.tokens.open(grant, for: client)
            case .failure(let refusal): return .failure(refusal)
            }
        case nil:
            throw OAuthErrorResponse(.badRequest, "unsupported_grant_type", "Grant type is not supported")
        }
    }
}

extension ServerTransaction {
    /// Returns the claims of the id_token; nil when the client didn't request the scope `openid`.
    fileprivate func idTokenClaims(
        _ issued: IssuedTokens, _ client: RegisteredClient
    ) throws -> [String: JSONValue]? {
        guard issued.scopes.contains("openid") else { return nil }
        var claims = try idTokenClaims(of: issued.grant, for: client, nonce: issued.isFirst ? issued.grant.nonce : nil)
        claims["at_hash"] = .string(TokenSigner.hash(ofAccessToken: issued.accessToken))
        return claims
    }

    /// Returns the claims of an id_token of a grant: those that every id_token contains, and those that the client requested.
    func idTokenClaims(of grant: Grant, for client: RegisteredClient, nonce: String?) throws -> [String: JSONValue] {
        let issuedAt = Int64(now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(time.issuer(of: grant.user.realm)), "sub": .string(grant.user.name), "aud": .string(client.id),
            "azp": .string(client.id), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + Int64(client.lifetimes(time).idToken)),
            "auth_time": .integer(Int64(grant.authenticatedAt.timeIntervalSince1970)),
            "sid": .string(grant.session.text), "jti": .string(RandomID.uuid()),
        ]
        if time.configuration.profile == .am {
            claims["realm"] = .string(grant.user.realm.description)
            claims["tokenName"] = .string("id_token")
        }
        if let journey = grant.journey { claims["acr"] = .string(journey) }
        if let nonce { claims["nonce"] = .string(nonce) }
        if let requested = grant.claims?.idToken, !requested.isEmpty, let record = try directory[grant.user] {
            claims.merge(StandardClaims.claims(of: record, grant.user, requested: requested)) { own, _ in own }
        }
        return claims
    }
}

extension RequestTime {
    /// Returns the issuer (`iss`) of a realm's tokens.
    func issuer(of realm: RealmPath) -> String { baseURL + realm.issuerPath }
}
