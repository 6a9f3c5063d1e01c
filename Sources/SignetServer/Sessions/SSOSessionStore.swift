import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Somebody who is logged in.
struct SSOSession: Codable, Sendable, Hashable {
    let user: UserKey
    let startedAt: Date
    /// When the person last proved who they are.
    var authenticatedAt: Date
    var lastAccess: Date
    /// The journeys that were walked to the end.
    var trees: Set<String>
    /// From here on it is over, however busy it is.
    let end: Date
    /// How many seconds it may be left alone.
    let idleTime: Double
    /// What journeys have noted in it, by name.
    var properties: [String: String] = [:]
    /// Which login of all it was when the person last proved who they are.
    var login = 0

    /// From here on it is over, unless it is used before.
    var idleEnd: Date { min(end, lastAccess.addingTimeInterval(idleTime)) }
}

/// What a journey wants of the session that it ends in.
struct SessionOptions: Codable, Sendable, Hashable {
    var properties: [String: String] = [:]
    /// Seconds; nil for the server's.
    var idleTime: Int?
    /// Seconds; nil for the server's.
    var maximumTime: Int?
}

/// The sessions that are open: each for as long as it is used, never longer than its time, and good for as long as its user is
/// (``Directory/isActive(_:)``).
struct SSOSessionStore {
    private var sessions: Table<TokenHash, SSOSession>
    private let ticks: MonotonicCounter
    private let directory: Directory

    init(_ transaction: RowCache, _ ticks: MonotonicCounter, _ directory: Directory) {
        sessions = Table(.session, transaction)
        self.ticks = ticks
        self.directory = directory
    }

    /// A number above that of every login so far. Unlike the time it tells two logins of one instant apart.
    private func nextLogin(at now: Date) -> Int { ticks.next(at: now) }

    /// The number of the last login that is known: at this server, and those of the sessions that a request shows, which may have been
    /// opened at another one, or before this one was started.
    func lastLogin(_ tokens: [String], at now: Date) -> Int {
        tokens.compactMap { look(TokenHash($0), at: now)?.login }.reduce(ticks.latest) { max($0, $1) }
    }

    /// Begins a session and returns its token.
    mutating func open(_ user: UserKey, tree: String, _ wishes: SessionOptions = SessionOptions(), _ moment: RequestTime)
        -> String
    {
        let token = RandomID.token()
        let configuration = moment.configuration
        var session = SSOSession(
            user: user, startedAt: moment.now, authenticatedAt: moment.now, lastAccess: moment.now, trees: [tree],
            end: moment.now.addingTimeInterval(Double(max(1, wishes.maximumTime ?? configuration.sessionMaximumTime))),
            idleTime: Double(max(1, wishes.idleTime ?? configuration.sessionIdleTime)), properties: wishes.properties)
        session.login = nextLogin(at: moment.now)
        sessions.insert(session, for: TokenHash(token), group: user.rowName, until: session.idleEnd)
        return token
    }

    /// The sessions that go on longest, at most `limit`.
    func newest(_ limit: Int, at now: Date) -> [(key: TokenHash, session: SSOSession)] {
        sessions.newest(limit, at: now).map { (TokenHash(text: $0.name), $0.value) }
    }

    /// A user's sessions, at most ``Table/largestGroup``.
    func sessions(of user: UserKey, at now: Date) -> [(key: TokenHash, session: SSOSession)] {
        sessions.members(of: user.rowName, at: now).map { (TokenHash(text: $0.name), $0.value) }
    }

    /// How many there are; counting ends at `limit`.
    func count(at now: Date, limit: Int) -> Int { sessions.count(at: now, limit: limit) }

    /// A session, without using it.
    func look(_ key: TokenHash, at now: Date) -> SSOSession? {
        guard let session = sessions.value(for: key, at: now), directory.isActive(session.user) else { return nil }
        return session
    }

    /// A session in a realm; it counts as used.
    mutating func use(_ token: String, in realm: RealmPath, at now: Date) -> SSOSession? {
        let key = TokenHash(token)
        guard var session = look(key, at: now), session.user.realm == realm else { return nil }
        session.lastAccess = now
        sessions.insert(session, for: key, group: session.user.rowName, until: session.idleEnd)
        return session
    }

    /// Notes that the session's person has walked a journey to its end.
    mutating func upgrade(_ token: String, tree: String, _ wishes: SessionOptions = SessionOptions(), at now: Date) {
        let key = TokenHash(token)
        guard var session = look(key, at: now) else { return }
        session.login = nextLogin(at: now)
        session.trees.insert(tree)
        session.properties.merge(wishes.properties) { $1 }
        session.authenticatedAt = now
        sessions.insert(session, for: key, group: session.user.rowName, until: session.idleEnd)
    }

    /// Ends a session, also one that is not good now. Nil when there is none.
    mutating func end(_ key: TokenHash, at now: Date) -> SSOSession? {
        sessions.remove(key, at: now)
    }

    /// Ends a session that cannot be read. False when there is none.
    mutating func endBroken(_ key: TokenHash) -> Bool { sessions.discardBroken(key) }

    /// Ends all sessions of a user, or everybody's, at most ``Table/largestGroup``, and says how many there were: also those that cannot
    /// be read.
    mutating func endAll(of user: UserKey?, at now: Date) -> Int {
        user.map { sessions.discard(group: $0.rowName, at: now) } ?? sessions.discardNewest(at: now)
    }
}

/// A session together with the token that a request showed.
struct PresentedSession: Sendable {
    let token: String
    let session: SSOSession
}

extension ServerTransaction {
    /// The first of the tokens that is good in the realm.
    mutating func session(_ tokens: [String], in realm: RealmPath, at now: Date) -> PresentedSession? {
        for token in tokens {
            if let session = sessions.use(token, in: realm, at: now) { return PresentedSession(token: token, session: session) }
        }
        return nil
    }
}
