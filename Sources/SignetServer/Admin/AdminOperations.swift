import Foundation
import HTTPTypes
import Logging
import SignetCore

/// The operations for testers.
///
/// The console, the administration API and ``DevServer`` use them.
struct AdminOperations: Sendable {
    let server: ServerContext

    /// Ten years, in seconds.
    private static let maxMove = 10 * 365.25 * 86_400

    // MARK: Clock

    func moveClock(by seconds: Double) async throws {
        guard abs(seconds) <= Self.maxMove else {
            throw APIError(.badRequest, "The clock is moved by a number of seconds, at most ten years.")
        }
        try await change(clock: .move(seconds))
    }

    func setClock(to date: Date) async throws {
        guard abs(date.timeIntervalSince(server.clock.now)) <= 10 * Self.maxMove else {
            throw APIError(.badRequest, "The clock can be set only to a time within 100 years of its present time.")
        }
        try await change(clock: .set(date))
    }

    func change(clock kind: AdjustableClock.Change.Kind) async throws {
        try await server.change(clock: kind)
        server.logger.notice("the clock was changed", metadata: ["now": "\(server.clock.now.ISO8601Format())"])
    }

    // MARK: Faults

    func enable(_ rule: FaultRule) throws(FaultError) {
        try server.faults.enable(rule)
        server.logger.notice("a fault was enabled", metadata: ["name": "\(rule.name)", "kind": "\(rule.kind.name)"])
    }

    func disable(_ name: String) -> Bool {
        let wasEnabled = server.faults.disable(name)
        if wasEnabled { server.logger.notice("a fault was disabled", metadata: ["name": "\(name)"]) }
        return wasEnabled
    }

    // MARK: Sessions

    /// Opens a session of a user as the end of a journey does, without running one.
    /// - Parameters:
    ///   - user: The user.
    ///   - journey: The journey that the session shows as completed; nil for the default journey.
    ///   - options: The session's properties and times.
    /// - Returns: The session's token.
    /// - Throws: ``APIError`` when the user or the journey doesn't exist, or the account is locked; `StoreError`.
    func openSession(of user: UserKey, journey: String?, _ options: SessionOptions = SessionOptions()) async throws -> String {
        guard server.has(user.realm) else { throw APIError.unknownRealm(user.realm) }
        let token = try await server.store.write { tx in
            guard let record = try tx.directory[user] else { throw APIError(.notFound, "There is no such user.") }
            guard !record.isLocked else { throw APIError(.conflict, "The account is locked: no session of it is valid.") }
            // Testers choose a user without a password, also on a page.
            guard !tx.directory.isAdministrator(user) else {
                throw APIError(.conflict, "An administrator gets a session by a login only.")
            }
            let tree = journey ?? tx.time.configuration.defaultJourney
            guard journey == nil || tx.trees[tree]?.isOffered(in: user.realm) == true else {
                throw APIError(.notFound, "There is no such journey in the realm.")
            }
            return try tx.sessions.open(user, tree: tree, options)
        }
        server.logger.notice("session opened", metadata: ["user": "\(user.name)", "realm": "\(user.realm)"])
        return token
    }

    /// The result of ending a session.
    enum EndedSession: Sendable {
        case session(SSOSession)
        /// The session was unreadable.
        case unreadable
    }

    /// Ends the session with a key, and informs its clients.
    ///
    /// Returns nil when it doesn't exist.
    func endSession(_ key: TokenHash) async throws -> EndedSession? {
        let ended = try await server.store.write { tx -> EndedSession? in
            if try tx.sessions.endUnreadable(key) {
                // The clients of the session are unknown, but its key is enough for the tokens.
                try tx.tokens.revokeTokens(of: key)
                return .unreadable
            }
            return try tx.endSession(key).map { .session($0) }
        }
        switch ended {
        case .session(let session): server.logger.notice("session ended", metadata: ["user": "\(session.user.name)"])
        case .unreadable: server.logger.notice("a session that could not be read was removed", metadata: ["key": "\(key.text)"])
        case nil: break
        }
        return ended
    }

    /// Ends all sessions of a user, or of all users when `user` is nil, and informs their clients.
    ///
    /// Returns their number.
    func endSessions(of user: UserKey?) async throws -> Int {
        var count = 0
        while true {
            let ended = try await server.store.write { tx in try tx.endSessions(of: user) }
            guard ended > 0 else { break }
            count += ended
        }
        server.logger.notice("sessions ended", metadata: ["count": "\(count)"])
        return count
    }

    // MARK: Emails

    /// Deletes the emails that match a condition.
    ///
    /// Returns their number.
    func deleteEmails(where isMeant: @escaping @Sendable (SentEmails.Entry) -> Bool) async throws -> Int {
        try await server.store.write { tx in try tx.emails.remove(among: ConsoleFacts.rows, where: isMeant) }
    }

    // MARK: Users

    /// Creates a user.
    ///
    /// Returns false when the name is taken.
    func add(_ user: UserKey, password: Secret, claims: [String: JSONValue]) async throws -> Bool {
        guard server.has(user.realm) else { throw APIError.unknownRealm(user.realm) }
        return try await server.store.write { tx in try tx.addUser(user, password: password, claims: claims) }
    }

    /// Locks or unlocks a user, or changes the password; nil values leave a property as it is.
    ///
    /// An unlock and a new password also end the lockouts after wrong guesses. A new password ends the user's sessions and tokens.
    ///
    /// Returns false when the user doesn't exist.
    func change(_ user: UserKey, isLocked: Bool?, password: Secret?) async throws -> Bool {
        try await server.store.write { tx in
            guard try tx.directory.contains(user) else { return false }
            if let isLocked { try tx.directory.setLocked(isLocked, user) }
            if isLocked == false || password != nil { try tx.lockouts.clearAll(user) }
            if let password { try tx.setPassword(password, of: user) }
            return true
        }
    }

    /// Removes one device or all devices of a user.
    ///
    /// Returns their number.
    func removeDevices(of user: UserKey, kind: DeviceKind? = nil, id: String? = nil) async throws -> Int {
        try await server.store.write { tx in try tx.removeDevices(of: user, kind: kind, id: id) }
    }

    // MARK: State

    /// Resets the state and the clock, and disables all faults.
    ///
    /// The request log continues.
    func reset() async throws {
        try await server.reset()
        server.faults.disableAll()
        server.logger.notice("the state was reset")
    }

    func restore(_ snapshot: StateSnapshot) async throws {
        try await server.restore(snapshot)
        server.logger.notice("a snapshot was restored", metadata: ["rows": "\(snapshot.count)"])
    }
}
