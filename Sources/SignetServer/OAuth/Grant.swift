import Foundation
import SignetCore

/// The authorization that a user gave a client.
///
/// Revoking it revokes all tokens of that login.
struct Grant: Codable, Sendable, Hashable {
    /// The id, with which the tokens of the grant begin (``GrantToken``).
    var id = GrantToken.newGrant()
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
    /// The resources that its tokens can be for (RFC 8707); nil when the client requested none.
    var resources: [String]?
    /// The party that acts for the user, with those that acted before (`act`, RFC 8693 section 4.1); nil for none.
    var actor: JSONValue?
    /// True for a grant without a user: the client's own, or a tester's.
    ///
    /// ``user`` is then only a name. Nil has the meaning of false.
    var isWithoutUser: Bool?
    /// The `grant_type` that opened the grant; nil for a grant of a login, and in rows that an earlier version wrote.
    var type: String?
    /// The thumbprint of the key to which the tokens are bound (RFC 9449 section 6); before their issue, of the only key with which
    /// the code can be exchanged.
    ///
    /// Nil for bearer tokens, and for a code that any key may exchange. A refresh token of a client that authenticates itself isn't
    /// bound (section 5); each of its access tokens is bound to the key of the request that it was issued for.
    var dpopKey: String?
    /// The first tokens of the grant; nil before they are issued, and in rows that an earlier version wrote.
    var first: FirstTokens?

    /// The type of its access tokens (`token_type`).
    var tokenType: String { dpopKey == nil ? "Bearer" : DPoPProof.tokenType }

    /// True when the tokens outlive the session (OpenID Connect Core 1.0 section 11).
    var isOffline: Bool { scopes.contains("offline_access") }
}

/// The first tokens of a grant, which are stored together with it: most grants have no others.
struct FirstTokens: Codable, Sendable, Hashable {
    /// The hash of the code that was exchanged for the tokens; nil for a grant without one.
    var code: TokenHash?
    /// The hash of the access token; nil after it was revoked.
    var access: TokenHash?
    let accessEnd: Date
    let issuedAt: Date
    /// The audience of the access token (RFC 8707); nil for the client.
    var audience: [String]?
    /// The hash of the refresh token; nil for a client without one.
    var refresh: TokenHash?
    var refreshEnd: Date?
    /// The time at which the refresh token was exchanged for another one.
    var spentAt: Date?
}

/// The expiries of the first tokens of a grant, by which they are counted.
struct GrantTimes: Sendable, Hashable {
    /// The expiry of the access token, in microseconds since 1970; nil for none.
    let accessEnd: Int64?
    /// The expiry of the refresh token, in microseconds since 1970; nil for none.
    let refreshEnd: Int64?

    init(_ grant: Grant) {
        accessEnd = grant.firstAccess?.expiresAt.rowTime
        refreshEnd = grant.firstRefresh?.expiresAt.rowTime
    }
}

/// An authorization code that was not exchanged yet.
struct AuthorizationCode: Codable, Sendable, Hashable {
    let grant: Grant
    /// The redirect URI; nil when the request had none.
    let redirectURI: String?
    /// The PKCE challenge, with the method S256.
    let challenge: String?
    /// The login flow that ended with this code; nil for none.
    ///
    /// A client that exchanges the code has got it from the browser, which therefore doesn't repeat the login's last form.
    var flow: String?
}

/// The stored data of an access token.
struct AccessGrant: Codable, Sendable, Hashable {
    let grant: Grant
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
    /// The resources that the token is for (RFC 8707); nil for the client.
    var audience: [String]?
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
    /// The resources that the access token is for; empty when it is for the client.
    let audience: [String]
    /// The access token, or the `jti` of a JWT.
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

extension Grant {
    /// The first access token; nil before it is issued, and after it was revoked.
    var firstAccess: AccessGrant? {
        guard let first, first.access != nil else { return nil }
        return AccessGrant(
            grant: self, scopes: scopes, issuedAt: first.issuedAt, expiresAt: first.accessEnd, audience: first.audience)
    }

    /// The first refresh token; nil for a client without one.
    var firstRefresh: RefreshGrant? {
        guard let first, first.refresh != nil, let end = first.refreshEnd else { return nil }
        return RefreshGrant(
            grantID: id, scopes: scopes, issuedAt: first.issuedAt, expiresAt: end, spentAt: first.spentAt)
    }
}

/// A code or token that begins with the id of its grant.
///
/// It has 43 characters of base64url, of which the first 16 name the row of the grant, and the others are a secret of 160 random
/// bits (RFC 6749 section 10.10). The grant's row has the hash of the whole token.
enum GrantToken {
    private static let (idBytes, secretBytes, idLength, length) = (12, 20, 16, 43)

    /// Returns the id of a new grant.
    static func newGrant() -> String { Base64.encode(RandomID.bytes(idBytes), as: .url) }

    /// Returns a new code or token of a grant.
    static func new(of grant: String) -> String {
        isGrant(grant) ? grant + Base64.encode(RandomID.bytes(secretBytes), as: .url) : RandomID.token()
    }

    /// Returns true for an id that tokens can begin with; grants of earlier versions have longer ones.
    static func isGrant(_ id: String) -> Bool { id.utf8.count == idLength }

    /// Returns the id of the grant with which a token begins; nil for text that is not a token.
    static func grant(of token: String) -> String? { token.utf8.count == length ? String(token.prefix(idLength)) : nil }
}
