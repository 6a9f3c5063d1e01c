import Foundation
import SignetCore

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
    private var flows: Table<String, LoginFlow>
    private let grantTimes: RowFacts<GrantTimes>
    private let directory: Directory
    private let time: RequestTime
    /// The thumbprint of the key of the request's DPoP proof, to which the access tokens that are issued now are bound.
    ///
    /// Nil for bearer tokens.
    var dpopKey: String?

    init(_ transaction: RowCache, _ directory: Directory, _ time: RequestTime) {
        (self.directory, self.time) = (directory, time)
        codes = Table(.code, transaction)
        grants = Table(.grant, transaction)
        accesses = Table(.accessToken, transaction)
        refreshes = Table(.refreshToken, transaction)
        sessions = Table(.session, transaction)
        flows = Table(.loginFlow, transaction)
        grantTimes = transaction.grantTimes
    }

    private var now: Date { time.now }

    private func isActive(_ grant: Grant) throws -> Bool {
        guard grant.isWithoutUser != true else { return true }
        return try directory.isActive(grant.user, since: grant.generation)
    }

    // MARK: Codes

    /// Creates a code for a new grant.
    mutating func code(
        for grant: Grant, redirectURI: String?, challenge: String?, lifetime: Int
    ) -> String {
        // The code begins with the grant's id, so that a repeated code finds its grant for as long as any token of it is valid.
        let text = GrantToken.new(of: grant.id)
        let code = AuthorizationCode(grant: grant, redirectURI: redirectURI, challenge: challenge)
        codes.insert(code, for: TokenHash(text), until: now.addingTimeInterval(Double(lifetime)))
        return text
    }

    /// Records the login flow that ended with a code.
    /// - Throws: `StoreError` when the code cannot be read.
    mutating func mark(code text: String, flow: String) throws {
        try codes.update(TokenHash(text)) { $0.flow = flow }
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
        _ text: String, for client: RegisteredClient, redirectURI: String?, verifier: String?, resources: [String] = []
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        let refusal = OAuthErrorResponse.invalidGrant("The provided authorization code is invalid, expired or revoked")
        let key = TokenHash(text)
        guard let code = try codes[key] else {
            try revoke(exchangedCode: text, of: client.key)
            return .failure(refusal)
        }
        guard code.grant.client == client.key else { return .failure(refusal) }
        try codes.remove(key)
        if let flow = code.flow { flows.discard(flow) }
        if let expected = code.redirectURI, redirectURI != expected {
            return .failure(redirectURI == nil ? .invalidRequest("Missing parameter, 'redirect_uri'") : .redirectMismatch)
        }
        guard code.challenge == nil || verifier != nil else {
            return .failure(.invalidRequest("code_verifier parameter required"))
        }
        guard ProofKey.matches(verifier, code.challenge) else { return .failure(.wrongVerifier) }
        return try open(code.grant, for: client, TokenTerms(resources: resources), code: key)
    }

    /// Revokes the tokens that a client has got for a code that it presents again.
    private mutating func revoke(exchangedCode text: String, of client: ClientKey) throws {
        let key = TokenHash(text)
        if let id = GrantToken.grant(of: text), let grant = try grants[id], grant.first?.code == key, grant.client == client {
            try grants.remove(id)
        }
        // An earlier version gave the grant the hash of the code as its id.
        if try grants[key.text]?.client == client { try grants.remove(key.text) }
    }

    /// Issues the first tokens of a grant.
    /// - Parameters:
    ///   - grant: The grant.
    ///   - client: Its client.
    ///   - terms: The resources and the limits of the tokens.
    ///   - code: The hash of the code that the client exchanges; nil for none.
    /// - Returns: The tokens, or a refusal, whose consequences are changes to commit.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func open(
        _ grant: Grant, for client: RegisteredClient, _ terms: TokenTerms = TokenTerms(), code: TokenHash? = nil
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        guard try isActive(grant) else { return .failure(.invalidGrant("The resource owner is not active")) }
        guard try join(grant, client) else { return .failure(.invalidGrant("The session of the authorization has ended")) }
        guard let audience = terms.audience(of: grant, client) else { return .failure(.invalidTarget) }
        // Another key than that of the authorization request (RFC 9449 section 10).
        guard grant.dpopKey == nil || grant.dpopKey == dpopKey else { return .failure(.otherDPoPKey) }
        var grant = grant
        grant.dpopKey = dpopKey
        guard GrantToken.isGrant(grant.id) else {
            // The grant of a code that an earlier version issued.
            let refreshScopes = client.getsRefreshTokens ? grant.scopes : nil
            return .success(
                try issue(grant, grant.scopes, for: audience, to: client, refreshScopes: refreshScopes, isFirst: true))
        }
        return .success(issueFirst(grant, for: audience, to: client, terms, code: code))
    }

    // MARK: Refresh tokens

    /// Exchanges a refresh token.
    ///
    /// With rotation, a spent token that is presented again after the client's grace time revokes the whole grant: the server
    /// cannot tell if an attacker or the legitimate client presents it (RFC 9700 section 4.14.2).
    /// - Returns: The tokens, or a refusal, whose consequences are changes to commit.
    mutating func refresh(
        _ text: String, for client: RegisteredClient, scopes asked: [String], resources: [String] = []
    ) throws -> Result<IssuedTokens, OAuthErrorResponse> {
        let refusal = OAuthErrorResponse.invalidGrant("The refresh token is invalid, expired or revoked")
        guard client.getsRefreshTokens, var (token, grant) = try storedRefresh(text), grant.client == client.key else {
            return .failure(refusal)
        }
        // An inactive user's tokens stay as they are: this isn't a sign of an attack. Nor is a spent token with another key.
        guard try isActive(grant) else { return .failure(refusal) }
        guard client.isConfidential || grant.dpopKey == nil || grant.dpopKey == dpopKey else { return .failure(.otherDPoPKey) }
        if case .rotate(let grace) = client.refreshTokens, let spentAt = token.spentAt,
            now >= spentAt.addingTimeInterval(grace / .seconds(1))
        {
            try grants.remove(grant.id)
            return .failure(refusal)
        }
        guard asked.allSatisfy(token.scopes.contains) else {
            return .failure(.invalidScope("The requested scope exceeds the scope granted by the resource owner"))
        }
        guard let audience = TokenTerms(resources: resources).audience(of: grant, client) else { return .failure(.invalidTarget) }
        let scopes = asked.isEmpty ? token.scopes : asked
        // The client may have got its back-channel logout URI after the login. The tokens are valid without the session: its expiry
        // ends no tokens, and its end has revoked those of a client that had the URI.
        if !grant.isOffline { _ = try join(grant, client) }
        if !client.isConfidential, grant.dpopKey == nil, dpopKey != nil {
            // The client binds its tokens from now on. Its first access token would become a bound one, and ends.
            grant.dpopKey = dpopKey
            grant.first?.access = nil
        }
        guard case .rotate = client.refreshTokens else {
            return .success(try issue(grant, scopes, for: audience, to: client, refreshScopes: nil, isFirst: false))
        }
        if token.spentAt == nil {
            token.spentAt = now
            if grant.first?.refresh == TokenHash(text) {
                grant.first?.spentAt = now
            } else {
                try refreshes.update(TokenHash(text)) { [time] in $0.spentAt = time.now }
            }
        }
        return .success(try issue(grant, scopes, for: audience, to: client, refreshScopes: token.scopes, isFirst: false))
    }

    /// Returns a stored refresh token that has not expired, also a spent one, with its grant.
    private func storedRefresh(_ text: String) throws -> (RefreshGrant, Grant)? {
        let key = TokenHash(text)
        if let id = GrantToken.grant(of: text), let grant = try grants[id], let first = grant.first, first.refresh == key {
            guard let end = first.refreshEnd, now.rowTime < end.rowTime else { return nil }
            let token = RefreshGrant(
                grantID: id, scopes: grant.scopes, issuedAt: first.issuedAt, expiresAt: end, spentAt: first.spentAt)
            return (token, grant)
        }
        guard let token = try refreshes[key], let grant = try grants[token.grantID] else { return nil }
        return (token, grant)
    }

    /// Returns a stored access token that has not expired and whose grant is stored.
    private func storedAccess(_ token: PresentedToken) throws -> AccessGrant? {
        if let id = token.grantID, let grant = try grants[id], let access = grant.firstAccess, grant.first?.access == token.hash {
            return now.rowTime < access.expiresAt.rowTime ? access : nil
        }
        guard let access = try accesses[token.hash], try grants[access.grant.id] != nil else { return nil }
        return access
    }

    /// Issues the first tokens of a grant, and stores them together with it.
    private mutating func issueFirst(
        _ grant: Grant, for audience: [String], to client: RegisteredClient, _ terms: TokenTerms, code: TokenHash?
    ) -> IssuedTokens {
        let lifetimes = client.lifetimes(time)
        let (access, refresh) = (GrantToken.new(of: grant.id), GrantToken.new(of: grant.id))
        let keepsTokens = client.getsRefreshTokens && terms.includesRefreshToken
        let accessEnd = terms.end(now.addingTimeInterval(Double(terms.lifetime ?? lifetimes.accessToken)))
        let refreshEnd = now.addingTimeInterval(Double(lifetimes.refreshToken))
        var grant = grant
        grant.first = FirstTokens(
            code: code, access: client.hash(ofAccessToken: access), accessEnd: accessEnd, issuedAt: now,
            audience: audience.isEmpty ? nil : audience, refresh: keepsTokens ? TokenHash(refresh) : nil,
            refreshEnd: keepsTokens ? refreshEnd : nil)
        // A grant gets its first tokens once, and has no row before.
        grants.insert(
            grant, for: grant.id, group: group(of: grant, client), until: keepsTokens ? max(accessEnd, refreshEnd) : accessEnd)
        return IssuedTokens(
            grant: grant, scopes: grant.scopes, audience: audience, accessToken: access,
            refreshToken: keepsTokens ? refresh : nil, lifetime: Int(accessEnd.timeIntervalSince(now).rounded()), isFirst: true)
    }

    /// Stores a grant, at least until a time.
    private mutating func save(_ grant: Grant, of client: RegisteredClient, until end: Date) throws {
        try grants.extend(grant, for: grant.id, group: group(of: grant, client), until: end)
    }

    /// Returns the group of a grant's row, for ``revokeTokens(of:)``.
    private func group(of grant: Grant, _ client: RegisteredClient) -> String {
        client.backchannelLogoutURI != nil && !grant.isOffline ? grant.session.text : ""
    }

    private mutating func issue(
        _ grant: Grant, _ scopes: [String], for audience: [String], to client: RegisteredClient, refreshScopes: [String]?,
        isFirst: Bool
    ) throws -> IssuedTokens {
        let lifetimes = client.lifetimes(time)
        let accessEnd = now.addingTimeInterval(Double(lifetimes.accessToken))
        let refreshEnd = now.addingTimeInterval(Double(lifetimes.refreshToken))
        let accessToken = RandomID.token()
        var copy = grant
        copy.first = nil
        copy.dpopKey = dpopKey
        accesses.insert(
            AccessGrant(
                grant: copy, scopes: scopes, issuedAt: now, expiresAt: accessEnd, audience: audience.isEmpty ? nil : audience),
            for: client.hash(ofAccessToken: accessToken), until: accessEnd)
        var refreshToken: String?
        if let refreshScopes {
            let token = RandomID.token()
            refreshes.insert(
                RefreshGrant(grantID: grant.id, scopes: refreshScopes, issuedAt: now, expiresAt: refreshEnd),
                for: TokenHash(token), until: refreshEnd)
            refreshToken = token
        }
        try save(grant, of: client, until: refreshToken == nil ? accessEnd : max(accessEnd, refreshEnd))
        return IssuedTokens(
            grant: copy, scopes: scopes, audience: audience, accessToken: accessToken, refreshToken: refreshToken,
            lifetime: lifetimes.accessToken, isFirst: isFirst)
    }

    // MARK: Sessions

    /// Records in the session of a grant that its client has tokens of the session, if the client has a back-channel logout URI.
    ///
    /// Returns false when the session doesn't exist any more, and a code of the grant is therefore not valid.
    mutating func join(_ grant: Grant, _ client: RegisteredClient) throws -> Bool {
        // An approval on the user's device has no session either.
        let hasSession = grant.isWithoutUser != true && grant.type != RegisteredClient.GrantType.backchannel.rawValue
        guard client.backchannelLogoutURI != nil, hasSession else { return true }
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

    /// Returns the numbers of access tokens and of refresh tokens, also spent ones, that have not expired.
    ///
    /// Each count stops at `limit`.
    func counts(_ limit: Int) throws -> (access: Int, refresh: Int) {
        var counts = (access: try accesses.count(limit: limit), refresh: try refreshes.count(limit: limit))
        for times in try grants.newestFacts(limit, grantTimes, { GrantTimes($0) }) {
            if let end = times.accessEnd, now.rowTime < end { counts.access += 1 }
            if let end = times.refreshEnd, now.rowTime < end { counts.refresh += 1 }
        }
        return (min(limit, counts.access), min(limit, counts.refresh))
    }

    /// Returns the tokens whose grants are stored, those that expire last first, at most `limit` of each kind.
    func newest(_ limit: Int) throws -> [ListedToken] {
        let stored = try grants.newest(limit).map(\.value)
        let access = try accesses.newest(limit).compactMap { _, access in
            try grants[access.grant.id] == nil ? nil : access
        }
        let refresh = try refreshes.newest(limit).compactMap { _, refresh in
            try grants[refresh.grantID].map { (refresh, $0) }
        }
        let allAccess = (stored.compactMap(\.firstAccess) + access).map { ListedToken($0) }
        let allRefresh = (stored.compactMap { grant in grant.firstRefresh.map { ($0, grant) } } + refresh).map {
            ListedToken($0, $1)
        }
        return [allAccess, allRefresh].flatMap { tokens in
            tokens.filter { now.rowTime < $0.expiresAt.rowTime }.sorted { $0.expiresAt > $1.expiresAt }.prefix(limit)
        }
    }

    /// Revokes all tokens of a grant.
    ///
    /// Returns false when it doesn't exist.
    mutating func revoke(grant id: String) throws -> Bool { try grants.remove(id) != nil }

    /// Returns the data of a valid access token.
    func access(_ token: PresentedToken, in realm: RealmPath) throws -> AccessGrant? {
        guard let access = try storedAccess(token), access.grant.client.realm == realm, try isActive(access.grant) else {
            return nil
        }
        return access
    }

    /// Returns the data and the grant of a valid refresh token.
    func refresh(_ token: String, in realm: RealmPath) throws -> (RefreshGrant, Grant)? {
        guard let (refresh, grant) = try storedRefresh(token), refresh.spentAt == nil, grant.client.realm == realm,
            try isActive(grant)
        else { return nil }
        return (refresh, grant)
    }

    /// Revokes a token of a client.
    ///
    /// A refresh token, even a spent one, revokes the whole grant.
    mutating func revoke(_ token: PresentedToken, of client: ClientKey) throws {
        if let access = try storedAccess(token), access.grant.client == client {
            if access.grant.first?.access == token.hash {
                try grants.update(access.grant.id) { $0.first?.access = nil }
            } else {
                try accesses.remove(token.hash)
            }
        }
        if let (_, grant) = try storedRefresh(token.text), grant.client == client { try grants.remove(grant.id) }
    }
}
