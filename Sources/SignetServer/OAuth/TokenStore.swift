import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authorization that a user gave a client. Revoking it revokes all tokens of that login.
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
    /// True for the first tokens of a login. Only their id_token contains the nonce.
    let isFirst: Bool
}

/// The issued codes and tokens. A token is valid while it and its grant are stored and its user is active
/// (``Directory/isActive(_:)``). Removing a grant therefore revokes all of its tokens.
struct TokenStore {
    private var codes: Table<TokenHash, AuthorizationCode>
    private var grants: Table<String, Grant>
    private var accesses: Table<TokenHash, AccessGrant>
    private var refreshes: Table<TokenHash, RefreshGrant>
    private let directory: Directory

    init(_ transaction: RowCache, _ directory: Directory) {
        self.directory = directory
        codes = Table(.code, transaction)
        grants = Table(.grant, transaction)
        accesses = Table(.accessToken, transaction)
        refreshes = Table(.refreshToken, transaction)
    }

    // MARK: Codes

    /// Creates a code for a new grant.
    mutating func code(
        for grant: Grant, redirectURI: String?, challenge: String?, lifetime: Int, at now: Date
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

    /// Expires a code. Returns false when the code is unknown.
    mutating func expire(code text: String, at now: Date) -> Bool { codes.remove(TokenHash(text), at: now) != nil }

    /// Exchanges a code, which is valid once. The client's first attempt uses it up, even when it fails. A second attempt revokes
    /// the tokens from the first (RFC 6749 section 4.1.2).
    mutating func redeem(
        _ text: String, for client: RegisteredClient, redirectURI: String?, verifier: String?, _ moment: RequestTime
    ) throws(OAuthErrorResponse) -> IssuedTokens {
        let refusal = OAuthErrorResponse.invalidGrant("The provided authorization code is invalid, expired or revoked")
        let key = TokenHash(text)
        guard let code = codes.value(for: key, at: moment.now) else {
            if grants.value(for: key.text, at: moment.now)?.client == client.key {
                _ = grants.remove(key.text, at: moment.now)
            }
            throw refusal
        }
        guard code.grant.client == client.key else { throw refusal }
        _ = codes.remove(key, at: moment.now)
        guard code.redirectURI == nil || code.redirectURI == redirectURI else {
            throw .invalidGrant("The redirection URI is not the one of the authorization request")
        }
        try ProofKey.check(verifier, against: code.challenge)
        return try open(code.grant, for: client, moment)
    }

    /// Issues the first tokens of a grant.
    mutating func open(
        _ grant: Grant, for client: RegisteredClient, _ moment: RequestTime
    ) throws(OAuthErrorResponse) -> IssuedTokens {
        guard directory.isActive(grant.user) else { throw .invalidGrant("The resource owner is not active") }
        let keepsTokens = client.refreshTokens != .none
        return issue(grant, grant.scopes, to: client, refreshScopes: keepsTokens ? grant.scopes : nil, isFirst: true, moment)
    }

    // MARK: Refresh tokens

    /// Exchanges a refresh token. With rotation, a spent token that is presented again after the client's grace time revokes the
    /// whole grant: the server cannot tell if an attacker or the legitimate client presents it (RFC 9700 section 4.14.2).
    mutating func refresh(
        _ text: String, for client: RegisteredClient, scopes asked: [String], _ moment: RequestTime
    ) throws(OAuthErrorResponse) -> IssuedTokens {
        let refusal = OAuthErrorResponse.invalidGrant("The refresh token is invalid, expired or revoked")
        let key = TokenHash(text)
        guard let token = refreshes.value(for: key, at: moment.now), client.refreshTokens != .none,
            let grant = grants.value(for: token.grantID, at: moment.now), grant.client == client.key
        else { throw refusal }
        // An inactive user's tokens stay as they are: this isn't a sign of an attack.
        guard directory.isActive(grant.user) else { throw refusal }
        if case .rotate(let grace) = client.refreshTokens, let spentAt = token.spentAt,
            moment.now >= spentAt.addingTimeInterval(grace / .seconds(1))
        {
            _ = grants.remove(grant.id, at: moment.now)
            throw refusal
        }
        guard asked.allSatisfy(token.scopes.contains) else {
            throw .invalidScope("The requested scope exceeds the scope granted by the resource owner")
        }
        let scopes = asked.isEmpty ? token.scopes : asked
        guard case .rotate = client.refreshTokens else {
            return issue(grant, scopes, to: client, refreshScopes: nil, isFirst: false, moment)
        }
        if token.spentAt == nil { _ = refreshes.update(key, at: moment.now) { $0.spentAt = moment.now } }
        return issue(grant, scopes, to: client, refreshScopes: token.scopes, isFirst: false, moment)
    }

    private mutating func issue(
        _ grant: Grant, _ scopes: [String], to client: RegisteredClient, refreshScopes: [String]?, isFirst: Bool,
        _ moment: RequestTime
    ) -> IssuedTokens {
        let lifetimes = client.lifetimes(moment)
        let now = moment.now
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
        grants.extend(grant, for: grant.id, until: refreshToken == nil ? accessEnd : max(accessEnd, refreshEnd), at: now)
        return IssuedTokens(
            grant: grant, scopes: scopes, accessToken: accessToken, refreshToken: refreshToken, lifetime: lifetimes.accessToken,
            isFirst: isFirst)
    }

    // MARK: Lookup and revocation

    /// Returns the data of a valid access token.
    func access(_ token: String, in realm: RealmPath, at now: Date) -> AccessGrant? {
        guard let access = accesses.value(for: TokenHash(token), at: now), access.grant.client.realm == realm,
            grants.value(for: access.grant.id, at: now) != nil, directory.isActive(access.grant.user)
        else { return nil }
        return access
    }

    /// Returns the data and the grant of a valid refresh token.
    func refresh(_ token: String, in realm: RealmPath, at now: Date) -> (RefreshGrant, Grant)? {
        guard let refresh = refreshes.value(for: TokenHash(token), at: now), refresh.spentAt == nil,
            let grant = grants.value(for: refresh.grantID, at: now), grant.client.realm == realm,
            directory.isActive(grant.user)
        else { return nil }
        return (refresh, grant)
    }

    /// Revokes a token of a client. A refresh token, even a spent one, revokes the whole grant.
    mutating func revoke(_ token: String, of client: ClientKey, at now: Date) {
        let key = TokenHash(token)
        if let access = accesses.value(for: key, at: now), access.grant.client == client {
            _ = accesses.remove(key, at: now)
        }
        if let refresh = refreshes.value(for: key, at: now), let grant = grants.value(for: refresh.grantID, at: now),
            grant.client == client
        {
            _ = grants.remove(grant.id, at: now)
        }
    }
}

extension ProofKey {
    /// Checks the verifier: it must match the challenge, or both must be missing. A verifier without a challenge indicates a PKCE
    /// downgrade attack (RFC 9700 section 2.1.1).
    static func check(_ verifier: String?, against challenge: String?) throws(OAuthErrorResponse) {
        switch (challenge, verifier) {
        case (let challenge?, let verifier?) where ConstantTime.areEqual(Self.challenge(for: verifier), challenge): break
        case (nil, nil): break
        default: throw .invalidGrant("The code verifier does not match the challenge")
        }
    }
}

extension RegisteredClient {
    /// Returns the client's lifetimes, each at least one second.
    func lifetimes(_ moment: RequestTime) -> TokenLifetimes {
        var lifetimes = self.lifetimes ?? moment.configuration.lifetimes
        for member in [
            \TokenLifetimes.authorizationCode, \.accessToken, \.refreshToken, \.idToken, \.deviceCode,
        ] { lifetimes[keyPath: member] = max(1, lifetimes[keyPath: member]) }
        return lifetimes
    }
}
