import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The values of recent rows")
struct RecentRowsTests {
    private static func key(_ number: Int, _ kind: RowKind = .session) -> RowKey { RowKey(kind, "row \(number)") }

    /// Returns the change that writes a text to a row, or that removes the row.
    private static func change(_ number: Int, _ text: String?, _ kind: RowKind = .session) -> RecentRows.Change {
        let entry = text.map { RecentRows.Entry(value: $0, group: "", expiresAt: StoredRow.never) }
        return RecentRows.Change(key: key(number, kind), entry: entry)
    }

    @Test("A written value is kept, and a removed one is not")
    func keepsWrittenValues() {
        let rows = RecentRows()
        rows.keep([Self.change(1, "one"), Self.change(2, "two")])
        rows.keep([Self.change(2, nil)])
        #expect(rows[Self.key(1)]?.value as? String == "one")
        #expect(rows[Self.key(2)] == nil)
        rows.keep([Self.change(1, "settings", .server)])
        #expect(rows[Self.key(1, .server)] == nil, "other servers may change it")
    }

    @Test("A row that does not exist is kept as absent until it is written, if each login looks for it")
    func keepsAbsentRows() {
        let rows = RecentRows()
        let (changed, session) = (Self.key(1, .changedUser), Self.key(1))
        rows.keepAbsent(changed)
        rows.keepAbsent(session)
        #expect(rows.isAbsent(changed) && !rows.isAbsent(session))
        rows.keep([Self.change(1, nil, .changedUser)])
        #expect(rows.isAbsent(changed))
        rows.keep([Self.change(1, "locked", .changedUser)])
        #expect(!rows.isAbsent(changed))
        rows.keepAbsent(changed)
        rows.forgetAll()
        #expect(!rows.isAbsent(changed))
        for number in 0..<3 * RecentRows.size { rows.keepAbsent(Self.key(number, .lockout)) }
        let kept = (0..<3 * RecentRows.size).count { rows.isAbsent(Self.key($0, .lockout)) }
        #expect(kept <= RecentRows.size && rows.isAbsent(Self.key(3 * RecentRows.size - 1, .lockout)))
    }

    @Test("A change of a user is seen after a login that found none", arguments: [StateKind.memory, .file])
    func seesChangeAfterLogin(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server { server in
                let first = try await server.logIn("Login")
                #expect(first.isLoggedIn)
                let isKnown = try await server.devServer.setLocked(true, "mira")
                #expect(isKnown)
                let locked = try await server.logIn("Login")
                #expect(!locked.isLoggedIn)
            }
        }
    }

    @Test("The number of values is limited, and the newest ones are kept")
    func limitsNumber() {
        let rows = RecentRows()
        let count = 3 * RecentRows.size
        for number in 0..<count { rows.keep([Self.change(number, "\(number)")]) }
        #expect(rows[Self.key(count - 1)] != nil && rows[Self.key(0)] == nil)
        let kept = (0..<count).count { rows[Self.key($0)] != nil }
        #expect(kept <= RecentRows.size)
    }

    @Test("A value that was written again is the newer one, also when many others were written in between")
    func replacesOlderValue() {
        let rows = RecentRows()
        rows.keep([Self.change(0, "old")])
        for number in 1...RecentRows.size / 2 { rows.keep([Self.change(number, "other")]) }
        rows.keep([Self.change(0, "new")])
        #expect(rows[Self.key(0)]?.value as? String == "new")
        rows.keep([Self.change(0, nil)])
        #expect(rows[Self.key(0)] == nil)
    }

    @Test("The values are forgotten when the clock was changed or the store has removed rows")
    func forgetsInvalidValues() {
        let rows = RecentRows()
        let first = RecentRows.Validity(displacements: 0, clock: AdjustableClock.Setting())
        for other in [
            RecentRows.Validity(displacements: 1, clock: AdjustableClock.Setting()),
            RecentRows.Validity(displacements: 0, clock: AdjustableClock.Setting(shift: 60)),
        ] {
            rows.check(first)
            rows.keep([Self.change(1, "one")])
            rows.check(first)
            #expect(rows[Self.key(1)] != nil)
            rows.check(other)
            #expect(rows[Self.key(1)] == nil)
        }
    }

    @Test("A row that an exclusive operation has changed is read again")
    func readsAfterExclusiveOperation() async throws {
        try await TestServer.run { server in
            let store = server.devServer.context.store
            let user = UserKey(realm: .root, name: "mira")
            let token = try await store.write { tx in try tx.sessions.open(user, tree: "Login") }
            let queue = try await store.queue
            try await queue.exclusively { (_, _) throws(StoreError) in
                var changes = RowChanges()
                changes.rows[RowKey(.session, TokenHash(token).text)] = .some(nil)
                return ((), changes)
            }
            let session = try await store.read { tx in try tx.sessions.find(TokenHash(token)) }
            #expect(session == nil)
        }
    }
}
