import Foundation
import SignetCore

/// The tokens that a client exchanges for another one (RFC 8693), as they were presented.
struct TokenExchange: Sendable {
    /// The type of a token (RFC 8693 section 3).
    enum TokenType: String, Sendable, CaseIterable {
        case accessToken = "urn:ietf:params:oauth:token-type:access_token"
        case idToken = "urn:ietf:params:oauth:token-type:id_token"
        case jwt = "urn:ietf:params:oauth:token-type:jwt"
    }

    /// A token whose signature, if it has one, is verified.
    fileprivate enum Token: Sendable {
        case access(PresentedToken)
        case identity(IDTokenHint)
        /// A token that isn't one of this server.
        case unknown
    }

    fileprivate let subject: Token
    fileprivate let actor: Token?

    /// Reads the tokens of a request.
    ///
    /// Returns nil for a request with another grant. The client is authenticated first.
    /// - Throws: ``OAuthErrorResponse`` for a missing parameter, a client that may not exchange tokens, and for a type of token that
    ///   can't be exchanged.
    init?(
        _ form: Parameters, _ credentials: ClientCredentials, in realm: RealmPath, at server: ServerContext
    ) async throws {
        guard form["grant_type"] == RegisteredClient.GrantType.tokenExchange.rawValue else { return nil }
        _ = try await server.store.read { tx in try TokenController.grantType(form, try tx.client(credentials, in: realm)) }
        subject = try await Self.token(
            try form.required("subject_token"), try form.required("subject_token_type"), "subject_token_type", at: server)
        guard let actor = form["actor_token"] else {
            guard form["actor_token_type"] == nil else {
                throw OAuthErrorResponse.invalidRequest("Missing parameter, 'actor_token'")
            }
            self.actor = nil
            return
        }
        self.actor = try await Self.token(actor, try form.required("actor_token_type"), "actor_token_type", at: server)
    }

    private static func token(
        _ text: String, _ type: String, _ name: String, at server: ServerContext
    ) async throws -> Token {
        switch TokenType(rawValue: type) {
        case .accessToken, .jwt: return .access(try await server.presented(text))
        case .idToken: return try await IDTokenHint(text, at: server).map { .identity($0) } ?? .unknown
        case nil: throw OAuthErrorResponse.invalidRequest("The \(name) is not supported")
        }
    }

    /// The maximum number of parties that act one for another.
    static let maxActors = 8
}

/// The party that a token is about.
private struct TokenParty {
    let client: ClientKey
    let user: UserKey
    /// The scopes that a new token may have: those of an access token, or those that count for an id_token.
    let scopes: [String]
    let authenticatedAt: Date
    let session: TokenHash
    let generation: String?
    let journey: String?
    let actor: JSONValue?
    let isWithoutUser: Bool
    let expiresAt: Date
}

extension ServerTransaction {
    /// Issues a token for the tokens of an exchange.
    ///
    /// It is valid for at most as long as the subject's token, and its scopes are among those of that token and those of the client.
    /// - Returns: The token, or a refusal, whose consequences are changes to commit.
    /// - Throws: ``OAuthErrorResponse``: `invalid_request` for a token that isn't valid or that the client may not exchange
    ///   (RFC 8693 section 2.2.2); `StoreError`.
    mutating func issue(
        _ exchange: TokenExchange, _ form: Parameters, to client: RegisteredClient
    ) throws -> Result<IssuedResponse, OAuthErrorResponse> {
        let type = try requestedType(form, client)
        let subject = try party(of: exchange.subject, "subject_token", for: client)
        let actor = try exchange.actor.map { try party(of: $0, "actor_token", for: client) }
        let grant = Grant(
            client: client.key, user: subject.user, scopes: try scopes(form, subject, client, type),
            authenticatedAt: subject.authenticatedAt, session: subject.session, nonce: nil, journey: subject.journey,
            generation: subject.generation, actor: try Self.chain(actor, subject),
            isWithoutUser: subject.isWithoutUser ? true : nil, type: RegisteredClient.GrantType.tokenExchange.rawValue)
        let terms = TokenTerms(
            resources: form.list("resource") + form.list("audience"), latestEnd: subject.expiresAt, includesRefreshToken: false)
        guard type == .idToken else {
            switch try tokens.open(grant, for: client, terms) {
            case .success(let issued): return .success(IssuedResponse(draft: try draft(issued, client), issuedTokenType: type))
            case .failure(let refusal): return .failure(refusal)
            }
        }
        guard !subject.isWithoutUser else { return .failure(.invalidRequest("There is no id_token without a user")) }
        guard terms.audience(of: grant, client) != nil else { return .failure(.invalidTarget) }
        return .success(IssuedResponse(draft: try idTokenDraft(grant, client, until: subject.expiresAt), issuedTokenType: type))
    }

    /// Returns an id_token that comes alone; nothing is stored for it.
    private func idTokenDraft(_ grant: Grant, _ client: RegisteredClient, until end: Date) throws -> TokenDraft {
        var claims = try idTokenClaims(of: grant, for: client, nonce: nil)
        let seconds = Int64(now.timeIntervalSince1970)
        let expiry = min(claims["exp"]?.lenientInteger ?? seconds, Int64(end.timeIntervalSince1970))
        claims["exp"] = .integer(expiry)
        let issued = IssuedTokens(
            grant: grant, scopes: grant.scopes, audience: [client.id], accessToken: RandomID.token(), refreshToken: nil,
            lifetime: Int(expiry - seconds), isFirst: true)
        return TokenDraft(issued: issued, client: client, accessClaims: nil, idClaims: claims)
    }

    private func requestedType(
        _ form: Parameters, _ client: RegisteredClient
    ) throws(OAuthErrorResponse) -> TokenExchange.TokenType {
        guard let name = form["requested_token_type"] else { return .accessToken }
        guard let type = TokenExchange.TokenType(rawValue: name), type != .jwt || client.accessTokens == .jwt else {
            throw .invalidRequest("The requested_token_type is not supported")
        }
        return type
    }

    /// Returns the party of a token that the client may exchange: its own, or one of a client that permits it
    /// (``RegisteredClient/mayAct``).
    private func party(of token: TokenExchange.Token, _ name: String, for client: RegisteredClient) throws -> TokenParty {
        guard let party = try party(of: token, in: client.key.realm) else {
            throw OAuthErrorResponse.invalidRequest("The \(name) is invalid, expired or revoked")
        }
        let permits = clients[party.client]?.mayAct.contains(client.id) == true
        guard party.client == client.key || permits else {
            throw OAuthErrorResponse.invalidRequest("The client may not exchange this \(name)")
        }
        return party
    }

    private func party(of token: TokenExchange.Token, in realm: RealmPath) throws -> TokenParty? {
        switch token {
        case .access(let presented):
            guard let access = try tokens.access(presented, in: realm), access.grant.dpopKey == nil else { return nil }
            let grant = access.grant
            return TokenParty(
                client: grant.client, user: grant.user, scopes: access.scopes, authenticatedAt: grant.authenticatedAt,
                session: grant.session, generation: grant.generation, journey: grant.journey, actor: grant.actor,
                isWithoutUser: grant.isWithoutUser == true, expiresAt: access.expiresAt)
        case .identity(let hint):
            // The session must continue: nothing else ends the validity of an id_token before it expires.
            guard hint.user.realm == realm, now < hint.expiresAt, let id = hint.session, let session = try sessions.find(id),
                session.user == hint.user
            else { return nil }
            let client = ClientKey(realm: realm, id: hint.clientID)
            return TokenParty(
                client: client, user: hint.user, scopes: try permittedScopes(of: client, for: hint.user),
                authenticatedAt: hint.authenticatedAt, session: id, generation: session.generation, journey: hint.journey,
                actor: hint.actor, isWithoutUser: false, expiresAt: hint.expiresAt)
        case .unknown: return nil
        }
    }

    /// Returns the scopes that count as those of a client's id_token, which names none: the scopes that the client may have, without
    /// those that need a consent that the user has not given.
    private func permittedScopes(of key: ClientKey, for user: UserKey) throws -> [String] {
        guard let client = clients[key] else { return [] }
        guard client.requiresConsent else { return client.scopes }
        return try client.scopes.filter { try consents.covers([$0], by: key, of: user) }
    }

    /// Returns the scopes of the new token, never more than those of the subject's token.
    private func scopes(
        _ form: Parameters, _ subject: TokenParty, _ client: RegisteredClient, _ type: TokenExchange.TokenType
    ) throws(OAuthErrorResponse) -> [String] {
        // A token of an exchange is never renewed.
        let allowed = client.scopes.filter { scope in
            scope != "offline_access" && subject.scopes.contains(scope) && !(subject.isWithoutUser && scope == "openid")
        }
        let asked = form.words("scope")
        guard asked.allSatisfy(allowed.contains) else {
            throw .invalidScope("The requested scope exceeds the scope of the subject_token or of the client")
        }
        let scopes = asked.isEmpty ? allowed : asked
        guard !scopes.isEmpty || type == .idToken else { throw .invalidScope("The client and the subject_token share no scope") }
        return scopes
    }

    /// Returns the claim `act`: the actor, and in it the party that acted before (RFC 8693 section 4.1).
    private static func chain(_ actor: TokenParty?, _ subject: TokenParty) throws(OAuthErrorResponse) -> JSONValue? {
        guard let actor else { return subject.actor }
        var (count, earlier) = (1, subject.actor)
        while let next = earlier {
            count += 1
            earlier = next["act"]
        }
        guard count <= TokenExchange.maxActors else { throw .invalidRequest("Too many parties act one for another") }
        var members: [String: JSONValue] = ["sub": .string(actor.user.name)]
        if !actor.isWithoutUser { members["client_id"] = .string(actor.client.id) }
        members["act"] = subject.actor
        return .object(members)
    }
}
