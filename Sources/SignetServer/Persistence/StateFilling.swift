import Foundation
import SignetCore
import SignetStorage

extension DevServer {
    /// Fills the state with users and with expired sessions that were not removed yet.
    ///
    /// It is for measurements of a server after long use.
    /// - Throws: `StoreError`.
    package func fill(users: Int, pastSessions: Int) async throws {
        let (engine, now) = (try await context.store.queue, context.clock.now)
        let chunk = 10_000
        for start in stride(from: 0, to: users, by: chunk) {
            try await engine.run { transaction in
                var directory = Directory(ConfiguredUsers([], key: Secret([0])), transaction)
                for index in start..<min(start + chunk, users) {
                    directory.addWithoutPassword(UserKey(realm: .root, name: "user-\(index)"))
                }
                return ((), [])
            }
        }
        let past = now.addingTimeInterval(-86_400)
        for start in stride(from: 0, to: pastSessions, by: chunk) {
            // The sessions are written outside of a batch, because a batch would remove the expired ones at once.
            try await engine.exclusively { (_, coder) throws(StoreError) in
                var changes = RowChanges()
                changes.now = .min
                for index in start..<min(start + chunk, pastSessions) {
                    let user = UserKey(realm: .root, name: "user-\(index % max(1, users))")
                    let session = SSOSession(
                        user: user, startedAt: past, authenticatedAt: past, lastAccess: past, trees: ["Login"], end: past,
                        idleTime: 1800)
                    let key = RowKey(.session, TokenHash("past \(index)").text)
                    changes.rows[key] = StoredRow(
                        group: user.rowName, expiresAt: past.rowTime, bytes: try coder.bytes(of: session, for: key))
                }
                return ((), changes)
            }
        }
    }
}
