import Foundation
import SignetCore

/// The authorization that a user gave a client.
///
/// Revoking it revokes all tokens of that login.
struct Grant: Codable, Sendable, Hashable {
    var id = RandomID.token()
    let client: ClientKey
    let user: UserKey
    let scopes: [String]
    let authenticatedAt: Date
    /// The session that the user was logged in with.
    let session: TokenHash
    let nonce: String?
    /// The journey that the client requested with `acr_values` and the user has completed: the claim `acr`.
    var journey: String?
    /// The id of the user's password at the login (``UserRecord/generation``).
    var generation: String?
    /// The claims that the client requested by name; nil when it requested none.
    var claims: ClaimsRequest?

    /// True when the tokens outlive the session (OpenID Connect Core 1.0 section 11).
    var isOffline: Bool { scopes.contains("offline_access") }
}

/// An authorization code that was not exchanged yet.
struct AuthorizationCode: Codable, Sendable, Hashable {
    let grant: Grant
    /// The redirect URI; nil when the request had none.
    let redirectURI: String?
    /// The PKCE challenge, with the method S256.
    let challenge: String?
}

/// The stored data of an access token.
struct AccessGrant: Codable, Sendable, Hashable {
    let grant: Grant
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
}

/// The stored data of a refresh token.
struct RefreshGrant: Codable, Sendable, Hashable {
    let grantID: String
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
    /// The time at which it was exchanged for another one.
    var spentAt: Date?
}

/// Newly issued tokens.
struct IssuedTokens: Sendable, Hashable {
    let grant: Grant
    let scopes: [String]
    let accessToken: String
    /// Nil when the client keeps its refresh token, or gets none.
    let refreshToken: String?
    /// The lifetime of the access token, in seconds.
    let lifetime: Int
    /// True for the first tokens of a login.
    ///
    /// Only their id_token contains the nonce.
    let isFirst: Bool
}

/// The issued codes and tokens.
///
/// A token is valid while it and its grant are stored and its user is active (``Directory/isActive(_:since:)``). Removing a grant
/// therefore revokes all of its tokens.
struct TokenStore {
    private var codes: Table<TokenHash, AuthorizationCode>
    private var grants: Table<String, Grant>
    private var accesses: Table<TokenHash, AccessGrant>
    private var refreshes: Table<TokenHash, RefreshGrant>
    private var sessions: Table<TokenHash, SSOSession>
    private let directory: Directory
    private let time: RequestTime

    init(_ transaction: RowCache, _ directory: Directory, _ time: RequestTime) {
        (self.directory, self.time) = (directory, time)
        codes = Table(.code, transaction)
        grants = Table(.grant, transaction)
        accesses = Table(.accessToken, transaction)
        refreshes = Table(.refreshToken, transaction)
        sessions = Table(.session, transaction)
    }

    private var now: Date { time.now }

    private func isActive(_ grant: Grant) throws -> Bool { try directory.isActive(grant.user, since: grant.generation) }

    // MARK: Codes

    /// Creates a code for a new grant.
    mutating func code(
        for grant: Grant, redirectURI: String?, challenge: String?, lifetime: Int
    ) -> String {
        let text = RandomID.token()
        let key = TokenHash(text)
        var grant = grant
        // Use the code's hash as the grant's ID, so that a repeated code finds its grant for as long as any token of it is valid.
        grant.id = key.text
        let code = AuthorizationCode(grant: grant, redirectURI: redirectURI, challenge: challenge)
        codes.insert(code, for: key, until: now.addingTimeInterval(Double(lifetime)))
        return text
    }

    /// Expires a code.
    ///
    /// Returns false when the code is unknown.
    mutating func expire(code text: String) throws -> Bool { try codes.remove(TokenHash(text)) != nil }

    /// Exchanges a code, which is valid once.
    ///
    /// The client's first attempt uses it up, even when it fails. A second attempt revokes the tokens from the first (RFC 6749
    /// section 4.1.2).
    /// - Returns: The tokens, or a refusal, whose consequences are changes to commit.
    mutating func redeem(
        _ text: String, for client: RegisteredClient, redirectURI: String?, verifier: String?
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        let refusal = OAuthErrorResponse.invalidGrant("The provided authorization code is invalid, expired or revoked")
        let key = TokenHash(text)
        guard let code = try codes[key] else {
            if try grants[key.text]?.client == client.key {
                try grants.remove(key.text)
            }
            return .failure(refusal)
        }
        guard code.grant.client == client.key else { return .failure(refusal) }
        try codes.remove(key)
        if let expected = code.redirectURI, redirectURI != expected {
            return .failure(redirectURI == nil ? .invalidRequest("Missing parameter, 'redirect_uri'") : .redirectMismatch)
        }
        guard code.challenge == nil || verifier != nil else {
            return .failure(.invalidRequest("code_verifier parameter required"))
        }
        guard ProofKey.matches(verifier, code.challenge) else { return .failure(.wrongVerifier) }
        return try open(code.grant, for: client)
    }

    /// Issues the first tokens of a grant.
    mutating func open(
        _ grant: Grant, for client: RegisteredClient
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        guard try isActive(grant) else { return .failure(.invalidGrant("The resource owner is not active")) }
        guard try join(grant, client) else { return .failure(.invalidGrant("The session of the authorization has ended")) }
        let keepsTokens = client.refreshTokens != .none
        return .success(
            try issue(grant, grant.scopes, to: client, refreshScopes: keepsTokens ? grant.scopes : nil, isFirst: true))
    }

    // MARK: Refresh tokens

    /// Exchanges a refresh token.
    ///
    /// With rotation, a spent token that is presented again after the client's grace time revokes the whole grant: the server
    /// cannot tell if an attacker or the legitimate client presents it (RFC 9700 section 4.14.2).
    /// - Returns: The tokens, or a refusal, whose consequences are changes to commit.
    mutating func refresh(
        _ text: String, for client: RegisteredClient, scopes asked: [String]
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        let refusal = OAuthErrorResponse.invalidGrant("The refresh token is invalid, expired or revoked")
        let key = TokenHash(text)
        guard let token = try refreshes[key], client.refreshTokens != .none,
            let grant = try grants[token.grantID], grant.client == client.key
        else { return .failure(refusal) }
        // An inactive user's tokens stay as they are: this isn't a sign of an attack.
        guard try isActive(grant) else { return .failure(refusal) }
        if case .rotate(let grace) = client.refreshTokens, let spentAt = token.spentAt,
            now >= spentAt.addingTimeInterval(grace / .seconds(1))
        {
            try grants.remove(grant.id)
            return .failure(refusal)
        }
        guard asked.allSatisfy(token.scopes.contains) else {
            return .failure(.invalidScope("The requested scope exceeds the scope granted by the resource owner"))
        }
        let scopes = asked.isEmpty ? token.scopes : asked
        // The client may have got its back-channel logout URI after the login. The tokens are valid without the session: its expiry
        // ends no tokens, and its end has revoked those of a client that had the URI.
        if !grant.isOffline { _ = try join(grant, client) }
        guard case .rotate = client.refreshTokens else {
            return .success(try issue(grant, scopes, to: client, refreshScopes: nil, isFirst: false))
        }
        if token.spentAt == nil { try refreshes.update(key) { [time] in $0.spentAt = time.now } }
        return .success(try issue(grant, scopes, to: client, refreshScopes: token.scopes, isFirst: false))
    }

    private mutating func issue(
        _ grant: Grant, _ scopes: [String], to client: RegisteredClient, refreshScopes: [String]?, isFirst: Bool
    ) throws -> IssuedTokens {
        let lifetimes = client.lifetimes(time)
        let accessEnd = now.addingTimeInterval(Double(lifetimes.accessToken))
        let refreshEnd = now.addingTimeInterval(Double(lifetimes.refreshToken))
        let accessToken = RandomID.token()
        accesses.insert(
            AccessGrant(grant: grant, scopes: scopes, issuedAt: now, expiresAt: accessEnd), for: TokenHash(accessToken),
            until: accessEnd)
        var refreshToken: String?
        if let refreshScopes {
            let token = RandomID.token()
            refreshes.insert(
                RefreshGrant(grantID: grant.id, scopes: refreshScopes, issuedAt: now, expiresAt: refreshEnd),
                for: TokenHash(token), until: refreshEnd)
            refreshToken = token
        }
        // The group is for ``revokeTokens(of:)``.
        let group = client.backchannelLogoutURI != nil && !grant.isOffline ? grant.session.text : ""
        try grants.extend(
            grant, for: grant.id, group: group, until: refreshToken == nil ? accessEnd : max(accessEnd, refreshEnd))
        return IssuedTokens(
            grant: grant, scopes: scopes, accessToken: accessToken, refreshToken: refreshToken, lifetime: lifetimes.accessToken,
            isFirst: isFirst)
    }

    // MARK: Sessions

    /// Records in the session of a grant that its client has tokens of the session, if the client has a back-channel logout URI.
    ///
    /// Returns false when the session doesn't exist any more, and a code of the grant is therefore not valid.
    mutating func join(_ grant: Grant, _ client: RegisteredClient) throws -> Bool {
        guard client.backchannelLogoutURI != nil else { return true }
        guard var session = try sessions[grant.session] else { return grant.isOffline }
        guard session.relyingParties?.contains(client.key) != true else { return true }
        session.relyingParties = (session.relyingParties ?? []).union([client.key])
        sessions.insert(session, for: grant.session, group: session.user.rowName, until: session.idleEnd)
        return true
    }

    /// Revokes the tokens that end with a session: those without `offline_access` of clients with a back-channel logout URI.
    mutating func revokeTokens(of session: TokenHash) throws {
        while try grants.discard(group: session.text) > 0 {}
    }

    // MARK: Lookup and revocation

    /// Returns the number of access tokens that have not expired; counting stops at `limit`.
    func accessTokenCount(_ limit: Int) throws -> Int { try accesses.count(limit: limit) }

    /// Returns the number of refresh tokens that have not expired, including spent ones; counting stops at `limit`.
    func refreshTokenCount(_ limit: Int) throws -> Int { try refreshes.count(limit: limit) }

    /// Returns the tokens whose grants are stored, those that expire last first, at most `limit` of each kind.
    func newest(_ limit: Int) throws -> [ListedToken] {
        let access = try accesses.newest(limit).compactMap { _, access -> ListedToken? in
            guard try grants[access.grant.id] != nil else { return nil }
            return ListedToken(
                grant: access.grant, isRefreshToken: false, scopes: access.scopes, issuedAt: access.issuedAt,
                expiresAt: access.expiresAt)
        }
        let refresh = try refreshes.newest(limit).compactMap { _, refresh -> ListedToken? in
            guard let grant = try grants[refresh.grantID] else { return nil }
            return ListedToken(
                grant: grant, isRefreshToken: true, scopes: refresh.scopes, issuedAt: refresh.issuedAt,
                expiresAt: refresh.expiresAt, spentAt: refresh.spentAt)
        }
        return access + refresh
    }

    /// Revokes all tokens of a grant.
    ///
    /// Returns false when it doesn't exist.
    mutating func revoke(grant id: String) throws -> Bool { try grants.remove(id) != nil }

    /// Returns the data of a valid access token.
    func access(_ token: String, in realm: RealmPath) throws -> AccessGrant? {
        guard let access = try accesses[TokenHash(token)], access.grant.client.realm == realm,
            try grants[access.grant.id] != nil, try isActive(access.grant)
        else { return nil }
        return access
    }

    /// Returns the data and the grant of a valid refresh token.
    func refresh(_ token: String, in realm: RealmPath) throws -> (RefreshGrant, Grant)? {
        guard let refresh = try refreshes[TokenHash(token)], refresh.spentAt == nil,
            let grant = try grants[refresh.grantID], grant.client.realm == realm,
            try isActive(grant)
        else { return nil }
        return (refresh, grant)
    }

    /// Revokes a token of a client.
    ///
    /// A refresh token, even a spent one, revokes the whole grant.
    mutating func revoke(_ token: String, of client: ClientKey) throws {
        let key = TokenHash(token)
        if let access = try accesses[key], access.grant.client == client {
            try accesses.remove(key)
        }
        if let refresh = try refreshes[key], let grant = try grants[refresh.grantID],
            grant.client == client
        {
            try grants.remove(grant.id)
        }
    }
}

extension ProofKey {
    /// Returns true when the verifier matches the challenge, or both are missing.
    ///
    /// A verifier without a challenge indicates a PKCE downgrade attack (RFC 9700 section 2.1.1).
    static func matches(_ verifier: String?, _ challenge: String?) -> Bool {
        guard let verifier, let challenge else { return verifier == nil && challenge == nil }
        return ConstantTime.areEqual(Self.challenge(for: verifier), challenge)
    }
}

extension RegisteredClient {
    /// Returns the client's lifetimes, each at least one second.
    func lifetimes(_ time: RequestTime) -> TokenLifetimes {
        var lifetimes = self.lifetimes ?? time.configuration.lifetimes
        for member in [
            \TokenLifetimes.authorizationCode, \.accessToken, \.refreshToken, \.idToken, \.deviceCode,
        ] { lifetimes[keyPath: member] = max(1, lifetimes[keyPath: member]) }
        return lifetimes
    }
}
