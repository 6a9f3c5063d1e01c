import Foundation
import HTTPTypes
import Logging
public import SignetCore

/// An access token that a tester requests without a login.
struct TokenOrder: Sendable {
    /// The `client_id` of a token for which no client is named.
    static let defaultClient = "signet-tests"
    /// The maximum lifetime in seconds: a century.
    static let maxLifetime = 3_153_600_000

    var subject: String
    /// The client; nil for ``defaultClient``, which need not exist.
    var client: String?
    var realm = RealmPath.root
    var scopes: [String] = []
    var audience: [String] = []
    var claims: [String: JSONValue] = [:]
    /// The lifetime in seconds; nil for that of the client.
    var lifetime: Int?
    /// The algorithm; nil for that of the client.
    var algorithm: JWSAlgorithm?
}

extension AdminOperations {
    /// Issues a signed access token without a login.
    ///
    /// It is stored like other tokens, so it can be introspected, listed and revoked.
    /// - Parameter order: The token.
    /// - Returns: The JWT, and what is stored about it.
    /// - Throws: ``APIError`` when the realm or the client doesn't exist or the account is locked; `StoreError`.
    func issueToken(_ order: TokenOrder) async throws -> (token: String, issued: IssuedTokens) {
        guard server.has(order.realm) else { throw APIError.unknownRealm(order.realm) }
        guard order.lifetime.map({ (1...TokenOrder.maxLifetime).contains($0) }) ?? true else {
            throw APIError(.badRequest, "'seconds' is a number from 1 to \(TokenOrder.maxLifetime).")
        }
        let (draft, token) = try await server.store.write { tx in
            try tx.draft(of: order)
        } preparing: { [signer = server.signer] draft in
            try await draft.signed(by: signer).access
        }
        server.logger.notice("an access token was issued for a test", metadata: ["realm": "\(order.realm)"])
        return (token, draft.issued)
    }
}

extension ServerTransaction {
    /// Returns the tokens of an order, which are stored.
    fileprivate mutating func draft(of order: TokenOrder) throws -> TokenDraft {
        let user = UserKey(realm: order.realm, name: order.subject)
        let record = try directory[user]
        guard record?.isLocked != true else { throw APIError(.conflict, "The account is locked: no token of it is valid.") }
        var client = RegisteredClient(id: order.client ?? TokenOrder.defaultClient) { $0.realm = order.realm.description }
        if order.client != nil {
            guard let found = clients[client.key] else { throw APIError(.notFound, "There is no such client.") }
            client = found
        }
        client.accessTokens = .jwt
        client.accessTokenSigningAlgorithm = order.algorithm ?? client.accessTokenSigningAlgorithm
        // No session ends the token.
        client.backchannelLogoutURI = nil
        let grant = Grant(
            client: client.key, user: user, scopes: order.scopes, authenticatedAt: now, session: TokenHash(text: ""), nonce: nil,
            generation: record?.generation, resources: order.audience.isEmpty ? nil : order.audience,
            isWithoutUser: record == nil ? true : nil)
        let terms = TokenTerms(lifetime: order.lifetime, includesRefreshToken: false)
        switch try tokens.open(grant, for: client, terms) {
        case .failure(let refusal): throw APIError(.conflict, refusal.message)
        case .success(let issued):
            let draft = try draft(issued, client)
            return TokenDraft(
                issued: issued, client: client, accessClaims: draft.accessClaims?.merging(order.claims) { $1 }, idClaims: nil)
        }
    }
}

extension DevServer {
    /// Issues a signed access token without a login, for the test of a service that accepts the server's tokens (RFC 9068).
    ///
    /// The service verifies it with the keys at `connect/jwk_uri`, or at `introspect`.
    ///
    ///     let token = try await server.issueToken(subject: "demo", scopes: ["read"], claims: ["role": "admin"])
    ///
    /// - Parameters:
    ///   - subject: The user, or any other name for the claim `sub`.
    ///   - client: The ID of a client, for the claim `client_id`; nil for `signet-tests`, which need not exist.
    ///   - realm: The realm of the user and of the client, as a path.
    ///   - scopes: The scopes of the token.
    ///   - audience: The claim `aud`; empty for the client.
    ///   - claims: Further claims. They replace those of the server, so that a test can make a token that a service must refuse.
    ///   - lifetime: The lifetime of the token, at least a second; nil for that of the client.
    ///   - algorithm: The algorithm of the signature; nil for that of the client.
    /// - Returns: The JWT.
    /// - Throws: An error when the client doesn't exist or the user's account is locked; `StoreError` when the server's state cannot
    ///   be read or written.
    public func issueToken(
        subject: String, client: String? = nil, realm: String = "/", scopes: [String] = [], audience: [String] = [],
        claims: [String: JSONValue] = [:], lifetime: Duration? = nil, algorithm: JWSAlgorithm? = nil
    ) async throws -> String {
        let order = TokenOrder(
            subject: subject, client: client, realm: RealmPath(realm), scopes: scopes, audience: audience, claims: claims,
            lifetime: lifetime.map { Int($0.components.seconds) }, algorithm: algorithm)
        return try await AdminOperations(server: context).issueToken(order).token
    }
}
