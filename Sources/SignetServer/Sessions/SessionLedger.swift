import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Somebody who is logged in.
struct SSOSession: Sendable, Hashable {
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

    /// From here on it is over, unless it is used before.
    var idleEnd: Date { min(end, lastAccess.addingTimeInterval(idleTime)) }
}

/// What a journey wants of the session that it ends in.
struct SessionWishes: Sendable, Hashable {
    var properties: [String: String] = [:]
    /// Seconds; nil for the server's.
    var idleTime: Int?
    /// Seconds; nil for the server's.
    var maximumTime: Int?
}

/// The sessions that are open: each for as long as it is used, and never longer than its time.
struct SessionLedger: Sendable {
    private var sessions = ExpiringTable<BearerKey, SSOSession>(capacity: 100_000)

    /// How many are in memory, ended ones that were not swept up yet included.
    var count: Int { sessions.count }

    /// Begins a session and returns its token.
    mutating func open(_ user: UserKey, tree: String, _ wishes: SessionWishes = SessionWishes(), _ moment: Moment) -> String {
        let token = RandomID.token()
        let configuration = moment.configuration
        let session = SSOSession(
            user: user, startedAt: moment.now, authenticatedAt: moment.now, lastAccess: moment.now, trees: [tree],
            end: moment.now.addingTimeInterval(Double(max(1, wishes.maximumTime ?? configuration.sessionMaximumTime))),
            idleTime: Double(max(1, wishes.idleTime ?? configuration.sessionIdleTime)), properties: wishes.properties)
        sessions.insert(session, for: BearerKey(token), until: session.idleEnd, at: moment.now)
        return token
    }

    /// All sessions, in no order.
    func all(at now: Date) -> [(key: BearerKey, session: SSOSession)] {
        sessions.entries(at: now).map { ($0.key, $0.value) }
    }

    /// A session, without using it.
    func look(_ key: BearerKey, at now: Date) -> SSOSession? {
        sessions.value(for: key, at: now)
    }

    /// A session in a realm; it counts as used.
    mutating func use(_ token: String, in realm: RealmPath, at now: Date) -> SSOSession? {
        let key = BearerKey(token)
        guard var session = sessions.value(for: key, at: now), session.user.realm == realm else { return nil }
        session.lastAccess = now
        sessions.insert(session, for: key, until: session.idleEnd, at: now)
        return session
    }

    /// Notes that the session's person has walked a journey to its end.
    mutating func upgrade(_ token: String, tree: String, _ wishes: SessionWishes = SessionWishes(), at now: Date) {
        _ = sessions.update(BearerKey(token), at: now) { session in
            session.trees.insert(tree)
            session.properties.merge(wishes.properties) { $1 }
            session.authenticatedAt = now
        }
    }

    /// Ends a session. Nil when there is none.
    mutating func end(_ key: BearerKey, at now: Date) -> SSOSession? {
        sessions.remove(key, at: now)
    }
}

/// A session together with the token that a request showed.
struct ShownSession: Sendable {
    let token: String
    let session: SSOSession
}

extension DeskState {
    /// The first of the tokens that is good in the realm.
    mutating func session(_ tokens: [String], in realm: RealmPath, at now: Date) -> ShownSession? {
        for token in tokens {
            if let session = sessions.use(token, in: realm, at: now) { return ShownSession(token: token, session: session) }
        }
        return nil
    }
}
