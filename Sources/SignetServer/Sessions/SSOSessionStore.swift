import Foundation
import SignetCore

/// The session of a logged-in user.
struct SSOSession: Codable, Sendable, Hashable {
    let user: UserKey
    let startedAt: Date
    /// The time of the user's last authentication.
    var authenticatedAt: Date
    var lastAccess: Date
    /// The journeys that the user has completed.
    var trees: Set<String>
    /// The time at which the session ends, regardless of its use.
    let end: Date
    /// The time without use after which the session ends, in seconds.
    let idleTime: Double
    /// The session properties that journeys have set, by name.
    var properties: [String: String] = [:]
    /// The number of the last login in this session.
    ///
    /// Logins are numbered in ascending order. Unlike the time, the number distinguishes two logins at the same time.
    var login = 0
    /// The id of the user's password at the login (``UserRecord/generation``).
    var generation: String?
    /// The clients to inform of the end of the session, because they have tokens of it; nil for none.
    var relyingParties: Set<ClientKey>?

    /// The time at which the session ends unless it is used before.
    var idleEnd: Date { min(end, lastAccess.addingTimeInterval(idleTime)) }
}

/// A journey's options for the session that it creates.
struct SessionOptions: Codable, Sendable, Hashable {
    var properties: [String: String] = [:]
    /// The idle time in seconds; nil for the server's default.
    var idleTime: Int?
    /// The maximum time in seconds; nil for the server's default.
    var maximumTime: Int?
}

/// The open sessions.
///
/// A session ends after its idle time or its maximum time, and is invalid while its user isn't active
/// (``Directory/isActive(_:since:)``).
struct SSOSessionStore {
    private var sessions: Table<TokenHash, SSOSession>
    private let counter: MonotonicCounter
    private let directory: Directory
    private let time: RequestTime

    init(_ transaction: RowCache, _ counter: MonotonicCounter, _ directory: Directory, _ time: RequestTime) {
        sessions = Table(.session, transaction)
        (self.counter, self.directory, self.time) = (counter, directory, time)
    }

    private var now: Date { time.now }

    /// Returns the number of the last known login, at this server or in the sessions of a request.
    ///
    /// Those sessions may have been opened at another server, or before this one was started.
    func lastLogin(_ tokens: [String]) throws -> Int {
        try tokens.compactMap { try find(TokenHash($0))?.login }.reduce(counter.latest) { max($0, $1) }
    }

    /// Opens a session and returns its token.
    mutating func open(_ user: UserKey, tree: String, _ options: SessionOptions = SessionOptions()) throws -> String {
        let token = RandomID.token()
        let configuration = time.configuration
        var session = SSOSession(
            user: user, startedAt: now, authenticatedAt: now, lastAccess: now, trees: [tree],
            end: now.addingTimeInterval(Double(max(1, options.maximumTime ?? configuration.sessionMaxLifetime))),
            idleTime: Double(max(1, options.idleTime ?? configuration.sessionIdleTimeout)), properties: options.properties)
        session.login = counter.next(at: now)
        session.generation = try directory.generation(of: user)
        sessions.insert(session, for: TokenHash(token), group: user.rowName, until: session.idleEnd)
        return token
    }

    /// Returns the sessions that expire last, at most `limit`.
    func newest(_ limit: Int) throws -> [(key: TokenHash, session: SSOSession)] {
        try sessions.newest(limit).map { (TokenHash(text: $0.name), $0.value) }
    }

    /// Returns a user's sessions, at most ``Table/maxGroupSize``.
    func sessions(of user: UserKey) throws -> [(key: TokenHash, session: SSOSession)] {
        try sessions.members(of: user.rowName).map { (TokenHash(text: $0.name), $0.value) }
    }

    /// Returns the number of sessions; counting stops at `limit`.
    func count(limit: Int) throws -> Int { try sessions.count(limit: limit) }

    /// Returns a session, without extending its idle time.
    func find(_ key: TokenHash) throws -> SSOSession? {
        guard let session = try sessions[key], try directory.isActive(session.user, since: session.generation) else {
            return nil
        }
        return session
    }

    /// Returns a session in a realm, and restarts its idle time.
    mutating func use(_ token: String, in realm: RealmPath) throws -> SSOSession? {
        let key = TokenHash(token)
        guard var session = try find(key), session.user.realm == realm else { return nil }
        session.lastAccess = now
        sessions.insert(session, for: key, group: session.user.rowName, until: session.idleEnd)
        return session
    }

    /// Records that the session's user has completed a journey.
    mutating func upgrade(_ token: String, tree: String, _ options: SessionOptions = SessionOptions()) throws {
        let key = TokenHash(token)
        guard var session = try find(key) else { return }
        session.login = counter.next(at: now)
        session.trees.insert(tree)
        session.properties.merge(options.properties) { $1 }
        session.authenticatedAt = now
        sessions.insert(session, for: key, group: session.user.rowName, until: session.idleEnd)
    }

    /// Gives a session another token, because its browser has not got the first one.
    ///
    /// The first token is invalid then.
    /// - Parameter key: The hash of the first token.
    /// - Returns: The token; nil when the session isn't valid.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func replaceToken(of key: TokenHash) throws -> String? {
        guard let session = try find(key) else { return nil }
        let token = RandomID.token()
        try sessions.remove(key)
        sessions.insert(session, for: TokenHash(token), group: session.user.rowName, until: session.idleEnd)
        return token
    }

    /// Sets properties of a session in a realm, and restarts its idle time.
    ///
    /// Returns nil when the session isn't valid.
    mutating func setProperties(_ properties: [String: String], of token: String, in realm: RealmPath) throws -> SSOSession? {
        guard var session = try use(token, in: realm) else { return nil }
        session.properties.merge(properties) { $1 }
        sessions.insert(session, for: TokenHash(token), group: session.user.rowName, until: session.idleEnd)
        return session
    }

    /// Ends a session, even when it isn't valid at the moment, without its consequences (``ServerTransaction/endSession(_:)``).
    ///
    /// Returns nil when it doesn't exist.
    mutating func end(_ key: TokenHash) throws -> SSOSession? {
        try sessions.remove(key)
    }

    /// Ends an unreadable session.
    ///
    /// Returns false when it doesn't exist.
    mutating func endUnreadable(_ key: TokenHash) throws -> Bool { try sessions.discardUnreadable(key) }

    /// Ends the sessions of a user, or of all users when `user` is nil, including unreadable ones, without their consequences
    /// (``ServerTransaction/endSessions(of:)``).
    ///
    /// Ends at most ``Table/maxGroupSize``, and returns their number.
    mutating func endAll(of user: UserKey?) throws -> Int {
        try user.map { try sessions.discard(group: $0.rowName) } ?? sessions.discardNewest()
    }

    /// Ends sessions as ``endAll(of:)`` does.
    ///
    /// Returns their keys, each with the session, which is nil when it could not be read.
    mutating func takeAll(of user: UserKey?) throws -> [(key: TokenHash, session: SSOSession?)] {
        try sessions.take(group: user?.rowName).map { (TokenHash(text: $0.name), $0.value) }
    }
}

/// A session with the token that a request presented.
struct PresentedSession: Sendable {
    let token: String
    let session: SSOSession
}

extension ServerTransaction {
    /// Returns the session of the first token that is valid in the realm.
    mutating func session(_ tokens: [String], in realm: RealmPath) throws -> PresentedSession? {
        for token in tokens {
            if let session = try sessions.use(token, in: realm) { return PresentedSession(token: token, session: session) }
        }
        return nil
    }

    /// Returns the session of the first token that is valid in the realm, without extending its idle time.
    func findSession(_ tokens: [String], in realm: RealmPath) throws -> PresentedSession? {
        for token in tokens {
            guard let session = try sessions.find(TokenHash(token)), session.user.realm == realm else { continue }
            return PresentedSession(token: token, session: session)
        }
        return nil
    }
}
