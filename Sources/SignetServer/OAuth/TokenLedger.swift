import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a person let a client do: everything that came of one login dies with it.
struct Grant: Sendable, Hashable {
    let id: String
    let client: ClientKey
    let user: UserKey
    let scopes: [String]
    let authenticatedAt: Date
    /// The session that the person was logged in with.
    let session: BearerKey
    let nonce: String?
}

/// An authorization code, before and after it was exchanged.
struct AuthorizationCode: Sendable, Hashable {
    let grant: Grant
    /// The redirect address; nil when the request named none.
    let redirectURI: String?
    /// The PKCE challenge, of the method S256.
    let challenge: String?
    let expiresAt: Date
    var isSpent = false
}

/// What stands behind an access token.
struct AccessGrant: Sendable, Hashable {
    let grant: Grant
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
}

/// What stands behind a refresh token.
struct RefreshGrant: Sendable, Hashable {
    let grantID: String
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
    /// When it was exchanged for another one.
    var spentAt: Date?
}

/// Tokens that were just made.
struct IssuedTokens: Sendable, Hashable {
    let grant: Grant
    let scopes: [String]
    let accessToken: String
    /// Nil when the client keeps the one it has, or gets none.
    let refreshToken: String?
    /// Seconds.
    let lifetime: Int
    /// Whether this is the first set that came of the login: only its id_token repeats the nonce.
    let isFirst: Bool
}

/// The codes and tokens that were given out. A token is good while it stands here together with its grant, so to take a grant
/// away is to revoke everything that came of it.
struct TokenLedger: Sendable {
    private var codes = ExpiringTable<BearerKey, AuthorizationCode>(capacity: 10_000)
    private var grants = ExpiringTable<String, Grant>(capacity: 100_000)
    private var accesses = ExpiringTable<BearerKey, AccessGrant>(capacity: 200_000)
    private var refreshes = ExpiringTable<BearerKey, RefreshGrant>(capacity: 200_000)

    // MARK: Codes

    /// Makes a code for what a person has just allowed.
    mutating func code(
        for grant: Grant, redirectURI: String?, challenge: String?, lifetime: Int, at now: Date
    ) -> String {
        let text = RandomID.token()
        let code = AuthorizationCode(
            grant: grant, redirectURI: redirectURI, challenge: challenge, expiresAt: now.addingTimeInterval(Double(lifetime)))
        codes.insert(code, for: BearerKey(text), until: code.expiresAt, at: now)
        return text
    }

    /// Exchanges a code. It is good once: whatever comes of the first attempt of its client, a second one revokes what the first
    /// one got (RFC 6749 section 4.1.2).
    mutating func redeem(
        _ text: String, for client: RegisteredClient, redirectURI: String?, verifier: String?, _ moment: Moment
    ) throws(OAuthRefusal) -> IssuedTokens {
        let refusal = OAuthRefusal.invalidGrant("The provided authorization code is invalid, expired or revoked")
        let key = BearerKey(text)
        guard var code = codes.value(for: key, at: moment.now), code.grant.client == client.key else { throw refusal }
        guard !code.isSpent else {
            _ = grants.remove(code.grant.id, at: moment.now)
            throw refusal
        }
        code.isSpent = true
        // A spent one is remembered for as long as anything that came of it can live.
        let lifetimes = client.lifetimes(moment)
        let end = moment.now.addingTimeInterval(Double(max(lifetimes.accessToken, lifetimes.refreshToken)))
        codes.insert(code, for: key, until: end, at: moment.now)
        guard moment.now < code.expiresAt else { throw refusal }
        guard code.redirectURI == nil || code.redirectURI == redirectURI else {
            throw .invalidGrant("The redirection URI is not the one of the authorization request")
        }
        switch (code.challenge, verifier) {
        case (let challenge?, let verifier?) where ConstantTime.areEqual(ProofKey.challenge(for: verifier), challenge): break
        case (nil, nil): break
        default: throw .invalidGrant("The code verifier does not match the challenge")
        }
        return open(code.grant, for: client, moment)
    }

    /// Gives the first tokens for what a person has allowed.
    mutating func open(_ grant: Grant, for client: RegisteredClient, _ moment: Moment) -> IssuedTokens {
        let keepsTokens = client.refreshTokens != .none
        return issue(grant, grant.scopes, to: client, refreshScopes: keepsTokens ? grant.scopes : nil, isFirst: true, moment)
    }

    // MARK: Refreshing

    /// Exchanges a refresh token. Of many that come at once with a token that rotates one gets new tokens; the next one is taken
    /// for a thief or for a victim, who cannot be told apart, and what both have is revoked (RFC 9700 section 4.14.2).
    mutating func refresh(
        _ text: String, for client: RegisteredClient, scopes asked: [String], _ moment: Moment
    ) throws(OAuthRefusal) -> IssuedTokens {
        let refusal = OAuthRefusal.invalidGrant("The refresh token is invalid, expired or revoked")
        let key = BearerKey(text)
        guard let token = refreshes.value(for: key, at: moment.now), client.refreshTokens != .none,
            let grant = grants.value(for: token.grantID, at: moment.now), grant.client == client.key
        else { throw refusal }
        guard asked.allSatisfy(token.scopes.contains) else {
            throw .invalidScope("The requested scope exceeds the scope granted by the resource owner")
        }
        let scopes = asked.isEmpty ? token.scopes : asked
        guard case .rotated(let grace) = client.refreshTokens else {
            return issue(grant, scopes, to: client, refreshScopes: nil, isFirst: false, moment)
        }
        if let spentAt = token.spentAt {
            guard moment.now < spentAt.addingTimeInterval(grace / .seconds(1)) else {
                _ = grants.remove(grant.id, at: moment.now)
                throw refusal
            }
        } else {
            _ = refreshes.update(key, at: moment.now) { $0.spentAt = moment.now }
        }
        return issue(grant, scopes, to: client, refreshScopes: token.scopes, isFirst: false, moment)
    }

    private mutating func issue(
        _ grant: Grant, _ scopes: [String], to client: RegisteredClient, refreshScopes: [String]?, isFirst: Bool,
        _ moment: Moment
    ) -> IssuedTokens {
        let lifetimes = client.lifetimes(moment)
        let now = moment.now
        let accessEnd = now.addingTimeInterval(Double(lifetimes.accessToken))
        let refreshEnd = now.addingTimeInterval(Double(lifetimes.refreshToken))
        let accessToken = RandomID.token()
        accesses.insert(
            AccessGrant(grant: grant, scopes: scopes, issuedAt: now, expiresAt: accessEnd), for: BearerKey(accessToken),
            until: accessEnd, at: now)
        var refreshToken: String?
        if let refreshScopes {
            let token = RandomID.token()
            refreshes.insert(
                RefreshGrant(grantID: grant.id, scopes: refreshScopes, issuedAt: now, expiresAt: refreshEnd),
                for: BearerKey(token), until: refreshEnd, at: now)
            refreshToken = token
        }
        grants.extend(grant, for: grant.id, until: refreshToken == nil ? accessEnd : max(accessEnd, refreshEnd), at: now)
        return IssuedTokens(
            grant: grant, scopes: scopes, accessToken: accessToken, refreshToken: refreshToken, lifetime: lifetimes.accessToken,
            isFirst: isFirst)
    }

    // MARK: Looking and revoking

    /// What an access token that is good stands for.
    func access(_ token: String, in realm: RealmPath, at now: Date) -> AccessGrant? {
        guard let access = accesses.value(for: BearerKey(token), at: now), access.grant.client.realm == realm,
            grants.value(for: access.grant.id, at: now) != nil
        else { return nil }
        return access
    }

    /// What a refresh token that is good stands for.
    func refresh(_ token: String, in realm: RealmPath, at now: Date) -> (RefreshGrant, Grant)? {
        guard let refresh = refreshes.value(for: BearerKey(token), at: now), refresh.spentAt == nil,
            let grant = grants.value(for: refresh.grantID, at: now), grant.client.realm == realm
        else { return nil }
        return (refresh, grant)
    }

    /// Revokes a token of a client: with a refresh token, also a spent one, everything that came of its login.
    mutating func revoke(_ token: String, of client: ClientKey, at now: Date) {
        let key = BearerKey(token)
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

extension RegisteredClient {
    /// The client's lifetimes, each at least a second.
    func lifetimes(_ moment: Moment) -> TokenLifetimes {
        var lifetimes = self.lifetimes ?? moment.configuration.lifetimes
        for member in [
            \TokenLifetimes.authorizationCode, \.accessToken, \.refreshToken, \.idToken, \.deviceCode,
        ] { lifetimes[keyPath: member] = max(1, lifetimes[keyPath: member]) }
        return lifetimes
    }
}
