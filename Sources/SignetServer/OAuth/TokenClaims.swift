import Foundation
import SignetCore

/// The claims of tokens.
enum TokenClaims {
    /// The claims of tokens and of introspection that the server sets itself.
    ///
    /// No claim of the configuration replaces them.
    static let reservedNames = ClaimsRequest.reservedNames.union([
        "client_id", "scope", "active", "token_type", "expires_in", "grant_type", "authGrantId", "act", "may_act",
        "authorization_details", "user_id", "username",
    ])

    /// Returns the claim `aud`: a string for one audience, and a list for others (RFC 7519 section 4.1.3).
    static func audience(_ audience: [String]) -> JSONValue {
        audience.count == 1 ? .string(audience[0]) : .texts(audience)
    }

    /// Returns the fixed claims of a client, with the claims of a user in the place of `${user.NAME}`.
    static func claims(of client: RegisteredClient, for record: UserRecord?) -> [String: JSONValue] {
        guard !client.claims.isEmpty else { return [:] }
        return client.claims.filter { !reservedNames.contains($0.key) }.compactMapValues { filled($0, record) }
    }

    private static func filled(_ value: JSONValue, _ record: UserRecord?) -> JSONValue? {
        switch value {
        case .string(let text):
            guard text.hasPrefix("${user."), text.hasSuffix("}") else { return value }
            return record?.claims[String(text.dropFirst("${user.".count).dropLast())]
        case .array(let elements): return .array(elements.compactMap { filled($0, record) })
        case .object(let members): return .object(members.compactMapValues { filled($0, record) })
        default: return value
        }
    }
}

/// Tokens of a client before they are signed.
struct TokenDraft: Sendable {
    let issued: IssuedTokens
    let client: RegisteredClient
    /// The claims of a JWT access token; nil for an opaque one.
    let accessClaims: [String: JSONValue]?
    /// The claims of the id_token, without the hash of the access token; nil for none.
    let idClaims: [String: JSONValue]?

    /// The texts of signed tokens.
    struct Texts: Sendable {
        let access: String
        let id: String?
    }

    /// Signs the tokens.
    ///
    /// The id_token contains the hash of the access token, which is therefore signed first.
    /// - Parameter signer: The signer.
    /// - Returns: The access token and the id_token.
    /// - Throws: An error when the keys cannot be read.
    func signed(by signer: TokenSigner) async throws -> Texts {
        var access = issued.accessToken
        if let accessClaims {
            access = try await signer.sign(
                accessClaims, with: client.accessTokenSigningAlgorithm, type: TokenSigner.accessTokenType)
        }
        guard var claims = idClaims else { return Texts(access: access, id: nil) }
        claims["at_hash"] = .string(TokenSigner.hash(ofAccessToken: access, client.idTokenSigningAlgorithm))
        return Texts(access: access, id: try await signer.sign(claims, with: client.idTokenSigningAlgorithm))
    }
}

extension ServerTransaction {
    /// Returns the claims of issued tokens.
    ///
    /// The client gets an id_token when it requested the scope `openid` and there is a user.
    func draft(_ issued: IssuedTokens, _ client: RegisteredClient) throws -> TokenDraft {
        let hasUser = issued.grant.isWithoutUser != true
        var idClaims: [String: JSONValue]?
        if hasUser, issued.scopes.contains("openid") {
            idClaims = try idTokenClaims(of: issued.grant, for: client, nonce: issued.isFirst ? issued.grant.nonce : nil)
        }
        let isJWT = client.accessTokens == .jwt
        return TokenDraft(
            issued: issued, client: client, accessClaims: isJWT ? try accessTokenClaims(issued, client) : nil, idClaims: idClaims)
    }

    /// Returns the claims of a JWT access token (RFC 9068 section 2.2), in the profile of AM with those that AM adds.
    private func accessTokenClaims(_ issued: IssuedTokens, _ client: RegisteredClient) throws -> [String: JSONValue] {
        let (grant, issuedAt) = (issued.grant, Int64(now.timeIntervalSince1970))
        let record = grant.isWithoutUser == true ? nil : try directory[grant.user]
        var claims = TokenClaims.claims(of: client, for: record)
        if let record {
            let covered = time.configuration.claimsByScope.accessTokenClaims(of: record, scopes: issued.scopes)
            claims.merge(covered.filter { !TokenClaims.reservedNames.contains($0.key) }) { $1 }
        }
        var own: [String: JSONValue] = [
            "iss": .string(time.issuer(of: grant.client.realm)), "sub": .string(grant.user.name),
            "aud": TokenClaims.audience(issued.audience.isEmpty ? [client.id] : issued.audience),
            "client_id": .string(client.id), "iat": .integer(issuedAt), "nbf": .integer(issuedAt),
            "exp": .integer(issuedAt + Int64(issued.lifetime)), "jti": .string(issued.accessToken),
            "scope": .string(issued.scopes.joined(separator: " ")),
        ]
        if grant.isWithoutUser != true {
            own["auth_time"] = .integer(Int64(grant.authenticatedAt.timeIntervalSince1970))
            own["acr"] = grant.journey.map { .string($0) }
        }
        own["act"] = grant.actor
        if !client.mayAct.isEmpty {
            own["may_act"] = .object(["client_id": client.mayAct.count == 1 ? .string(client.mayAct[0]) : .texts(client.mayAct)])
        }
        if let key = grant.dpopKey { own["cnf"] = .object(["jkt": .string(key)]) }
        if time.configuration.profile == .am {
            own["realm"] = .string(grant.client.realm.description)
            own["tokenName"] = .string("access_token")
            own["token_type"] = .string(grant.tokenType)
            own["authGrantId"] = .string(grant.id)
            own["grant_type"] = .string(grant.type ?? RegisteredClient.GrantType.authorizationCode.rawValue)
            own["expires_in"] = .integer(Int64(issued.lifetime))
        }
        return claims.merging(own) { $1 }
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
        claims["act"] = grant.actor
        let requested = grant.claims?.idToken ?? [:]
        guard !requested.isEmpty || !client.claims.isEmpty, let record = try directory[grant.user] else { return claims }
        claims.merge(ScopeClaims.claims(of: record, grant.user, requested: requested)) { own, _ in own }
        claims.merge(TokenClaims.claims(of: client, for: record)) { own, _ in own }
        return claims
    }
}

extension RequestTime {
    /// Returns the issuer (`iss`) of a realm's tokens.
    func issuer(of realm: RealmPath) -> String { baseURL + realm.issuerPath }
}
