import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../access_token`: exchanges codes, refresh tokens, device codes, other tokens and a client's own credentials for
/// tokens (protocol/journey.md section 4.3).
struct TokenController: Sendable {
    let server: ServerContext

    func token(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try await server.credentials(request, form, in: realm)
        let exchange = try await TokenExchange(form, credentials, in: realm, at: server)
        let proof = try ReceivedProof(request, context, at: server)
        // The signatures take as long as the commit.
        let (outcome, texts) = try await server.store.write { tx -> Result<IssuedResponse, OAuthErrorResponse> in
            let client = try tx.client(credentials, in: realm)
            let grant = try Self.grantType(form, client)
            try tx.bindTokens(to: proof, of: client)
            if let exchange { return try tx.issue(exchange, form, to: client) }
            switch try Self.exchange(grant, form, client, &tx) {
            case .success(let issued): return .success(IssuedResponse(draft: try tx.draft(issued, client)))
            case .failure(let refusal): return .failure(refusal)
            }
        } preparing: { [signer = server.signer] outcome -> TokenDraft.Texts? in
            guard case .success(let response) = outcome else { return nil }
            return try await response.draft.signed(by: signer)
        }
        let response = try outcome.get()
        let issued = response.draft.issued
        if let grant = RegisteredClient.GrantType(rawValue: form["grant_type"] ?? "") { server.telemetry.count([.tokens(grant)]) }
        server.logger.info(
            "tokens given",
            metadata: ["client": "\(issued.grant.client.id)", "realm": "\(realm)", "user": "\(issued.grant.user.name)"])
        return try OAuthReply.make(.ok, response.body(texts), headers: try await server.nonceHeaders(for: proof))
    }

    /// Returns the grant of a request, which the client may use.
    /// - Throws: `unsupported_grant_type`, and `unauthorized_client` for a grant that the client may not use (RFC 6749 section 5.2).
    static func grantType(
        _ form: Parameters, _ client: RegisteredClient
    ) throws(OAuthErrorResponse) -> RegisteredClient.GrantType {
        guard let grant = RegisteredClient.GrantType(rawValue: try form.required("grant_type")) else {
            throw OAuthErrorResponse(.badRequest, "unsupported_grant_type", "Grant type is not supported")
        }
        guard client.grantTypes.contains(grant), client.isConfidential || !grant.needsConfidentialClient else {
            throw .unauthorizedClient
        }
        return grant
    }

    private static func exchange(
        _ grant: RegisteredClient.GrantType, _ form: Parameters, _ client: RegisteredClient, _ tx: inout ServerTransaction
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        let resources = form.list("resource")
        switch grant {
        case .authorizationCode:
            return try tx.tokens.redeem(
                try form.required("code"), for: client, redirectURI: form["redirect_uri"], verifier: form["code_verifier"],
                resources: resources)
        case .refreshToken:
            return try tx.tokens.refresh(
                try form.required("refresh_token"), for: client, scopes: form.words("scope"), resources: resources)
        case .deviceCode:
            let redeemed = try tx.deviceCodes.redeem(
                try form.required("device_code"), for: client, verifier: form["code_verifier"])
            switch redeemed {
            case .success(var opened):
                opened.type = grant.rawValue
                return try tx.tokens.open(opened, for: client, TokenTerms(resources: resources))
            case .failure(let refusal): return .failure(refusal)
            }
        case .backchannel:
            switch try tx.redeemBackchannelRequest(try form.required("auth_req_id"), for: client) {
            case .success(let approved): return try tx.tokens.open(approved, for: client, TokenTerms(resources: resources))
            case .failure(let refusal): return .failure(refusal)
            }
        case .clientCredentials:
            return try tx.tokens.open(
                try tx.ownGrant(of: client, form), for: client, TokenTerms(resources: resources, includesRefreshToken: false))
        case .tokenExchange:
            throw OAuthErrorResponse.invalidRequest("Missing parameter, 'subject_token'")
        }
    }
}

/// The response of the token endpoint (RFC 6749 section 5.1).
struct IssuedResponse: Sendable {
    let draft: TokenDraft
    /// The type of the token of an exchange (RFC 8693 section 2.2.1); nil for another grant.
    var issuedTokenType: TokenExchange.TokenType?

    /// Returns the members of the response.
    /// - Parameter texts: The signed tokens; nil when there was nothing to sign.
    /// - Returns: The members by name.
    func body(_ texts: TokenDraft.Texts?) -> [String: JSONValue] {
        let issued = draft.issued
        var body: [String: JSONValue] = [
            "access_token": .string(texts?.access ?? issued.accessToken), "token_type": .string(issued.grant.tokenType),
            "expires_in": .integer(Int64(issued.lifetime)), "scope": .string(issued.scopes.joined(separator: " ")),
        ]
        body["refresh_token"] = issued.refreshToken.map { .string($0) }
        body["id_token"] = texts?.id.map { .string($0) }
        guard let issuedTokenType else { return body }
        body["issued_token_type"] = .string(issuedTokenType.rawValue)
        // The token of an exchange is in `access_token`, whatever its type is (RFC 8693 section 2.2.1).
        let idToken = body.removeValue(forKey: "id_token")
        if issuedTokenType == .idToken, let idToken {
            body["access_token"] = idToken
            body["token_type"] = .string("N_A")
        }
        return body
    }
}

extension ServerTransaction {
    /// Returns a grant of a client that acts for itself (RFC 6749 section 4.4).
    ///
    /// The scopes of a login, `openid` and `offline_access`, have no meaning without a user and are left out.
    /// - Throws: `invalid_scope` when the client may not request a scope, or has none.
    fileprivate func ownGrant(of client: RegisteredClient, _ form: Parameters) throws(OAuthErrorResponse) -> Grant {
        let asked = form.words("scope")
        guard asked.allSatisfy(client.scopes.contains) else { throw .invalidScope("Unknown/invalid scope(s)") }
        let scopes = (asked.isEmpty ? client.scopes : asked).filter { !["openid", "offline_access"].contains($0) }
        guard !scopes.isEmpty else { throw .invalidScope("The client has no scope that means something without a user") }
        return Grant(
            client: client.key, user: UserKey(realm: client.key.realm, name: client.id), scopes: scopes, authenticatedAt: now,
            session: TokenHash(text: ""), nonce: nil, isWithoutUser: true,
            type: RegisteredClient.GrantType.clientCredentials.rawValue)
    }
}
