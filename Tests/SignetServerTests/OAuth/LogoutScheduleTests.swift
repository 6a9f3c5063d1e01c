import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The order in which logout tokens are found and sent.
@Suite("Schedule of logout tokens")
struct LogoutScheduleTests {
    private static let app = ClientKey(realm: .root, id: "app")
    private static let other = ClientKey(realm: .root, id: "other")

    /// Takes tokens until there is none or the limits are reached.
    private func taken(_ schedule: LogoutSchedule) -> [LogoutSchedule.Entry] {
        var entries: [LogoutSchedule.Entry] = []
        while let entry = schedule.next() { entries.append(entry) }
        return entries
    }

    // MARK: Limits

    @Test("At most four tokens of a client are sent at the same time, and those of another client do not wait for them")
    func limitsAttemptsOfClient() throws {
        let schedule = LogoutSchedule()
        schedule.add((0..<10).map { "\($0)" }, of: Self.app)
        schedule.add(["a"], of: Self.other)
        let entries = taken(schedule)
        let names = entries.filter { $0.client == Self.app }.map(\.name)
        #expect(names == ["0", "1", "2", "3"] && entries.count == 5)
        schedule.finish(LogoutSchedule.Entry(client: Self.app, name: "2"))
        #expect(taken(schedule) == [LogoutSchedule.Entry(client: Self.app, name: "4")])
    }

    @Test("At most sixteen tokens are sent at the same time, and the client with the fewest attempts comes first")
    func limitsAttemptsOfAllClients() throws {
        let schedule = LogoutSchedule()
        for number in 0..<5 {
            schedule.add((0..<10).map { "\($0)" }, of: ClientKey(realm: .root, id: "\(number)"))
        }
        let entries = taken(schedule)
        let counts = Dictionary(grouping: entries) { $0.client }.values.map(\.count).sorted()
        #expect(counts == [3, 3, 3, 3, 4])
        schedule.add(["a"], of: Self.app)
        #expect(taken(schedule).isEmpty)
        schedule.finish(entries[0])
        #expect(taken(schedule) == [LogoutSchedule.Entry(client: Self.app, name: "a")])
    }

    // MARK: Searches

    @Test("When the last found token of a client is taken, a search is requested at once")
    func lastTokenRequestsSearch() throws {
        let schedule = LogoutSchedule()
        schedule.add(["a", "b"], of: Self.app)
        _ = schedule.next()
        let isEarly = schedule.takeSearch()
        #expect(!isEarly && schedule.hasFound(Self.app))
        _ = schedule.next()
        let isRequested = schedule.takeSearch()
        let isRepeated = schedule.takeSearch()
        #expect(isRequested && !isRepeated && !schedule.hasFound(Self.app))
    }

    @Test("A token that is being sent is not taken again")
    func skipsTokenInProgress() throws {
        let schedule = LogoutSchedule()
        schedule.add(["a"], of: Self.app)
        #expect(taken(schedule).map(\.name) == ["a"])
        schedule.add(["a", "b"], of: Self.app)
        #expect(taken(schedule).map(\.name) == ["b"])
    }

    // MARK: The store

    private func delivery(
        _ id: String, of client: ClientKey, at time: Date, claim: DispatchClaim? = nil
    ) -> LogoutDelivery {
        LogoutDelivery(
            id: id, client: client, user: UserKey(realm: .root, name: "mira"), session: TokenHash(id),
            deadline: time.addingTimeInterval(60), nextAttempt: time, claim: claim)
    }

    private func store(_ deliveries: [LogoutDelivery], in rows: TestRows, at now: Date) throws {
        try rows.transact(at: now) { transaction in
            var store = LogoutDeliveryStore(transaction)
            for delivery in deliveries { store.store(delivery) }
        }
    }

    private func search(for client: ClientKey, in rows: TestRows, at now: Date) throws -> LogoutDeliveryStore.Due {
        try rows.transact(at: now) { transaction in
            try LogoutDeliveryStore(transaction).due(to: client, at: now, machine: now)
        }
    }

    @Test("The tokens of a client are found in the order of their attempts, without claimed and later ones")
    func findsTokensInOrder() throws {
        let (rows, now) = (TestRows(), ManualClock().now)
        let early = (1...3).map { delivery("\($0)", of: Self.app, at: now.addingTimeInterval(-Double($0))) }
        let claim = DispatchClaim(holder: "holder", end: now.addingTimeInterval(30))
        let claimed = delivery("claimed", of: Self.app, at: now.addingTimeInterval(-2.5), claim: claim)
        let expired = DispatchClaim(holder: "holder", end: now)
        let released = delivery("released", of: Self.app, at: now, claim: expired)
        let later = (1...2).map { delivery("later \($0)", of: Self.app, at: now.addingTimeInterval(Double($0))) }
        let foreign = delivery("foreign", of: Self.other, at: now)
        try store(early + later + [claimed, released, foreign], in: rows, at: now)
        let due = try search(for: Self.app, in: rows, at: now)
        let expected = [early[2], early[1], early[0], released]
        #expect(due.names == expected.map(\.rowName))
        #expect(due.next == later[0].nextAttempt)
        let others = try search(for: Self.other, in: rows, at: now)
        #expect(others == LogoutDeliveryStore.Due(names: [foreign.rowName], next: nil))
        let none = try search(for: ClientKey(realm: .root, id: "keeper"), in: rows, at: now)
        #expect(none == LogoutDeliveryStore.Due())
    }

    @Test("A search reads the first fifty tokens of a client, however many wait")
    func searchIsBounded() throws {
        let (rows, now) = (TestRows(), ManualClock().now)
        let waiting = (0..<200).map { delivery("\($0)", of: Self.app, at: now.addingTimeInterval(Double($0) - 1000)) }
        try store(waiting.shuffled(), in: rows, at: now)
        #expect(try search(for: Self.app, in: rows, at: now).names == waiting.prefix(50).map(\.rowName))
    }

    @Test("A failed attempt moves the token behind those that are due")
    func failureChangesOrder() throws {
        let (rows, now) = (TestRows(), ManualClock().now)
        let (first, second) = (delivery("1", of: Self.app, at: now.addingTimeInterval(-1)), delivery("2", of: Self.app, at: now))
        try store([first, second], in: rows, at: now)
        let isLast = try rows.transact(at: now) { transaction in
            var store = LogoutDeliveryStore(transaction)
            let claim = DispatchClaim(holder: "holder", end: now.addingTimeInterval(30))
            _ = try store.claim(first.rowName, claim, at: now, machine: now)
            return try store.fail(first.rowName, by: "holder", at: now)
        }
        let due = try search(for: Self.app, in: rows, at: now)
        #expect(!isLast && due.names == [second.rowName] && due.next == now.addingTimeInterval(5))
        let count = try rows.transact(at: now) { try LogoutDeliveryStore($0).all().count }
        #expect(count == 2)
    }

    @Test("All claims are released, however many tokens wait")
    func releasesAllClaims() throws {
        let (rows, now) = (TestRows(), ManualClock().now)
        let claim = DispatchClaim(holder: "gone", end: .distantFuture)
        try store((0..<1200).map { delivery("\($0)", of: Self.app, at: now, claim: claim) }, in: rows, at: now)
        let all = try rows.transact(at: now) { transaction in
            var store = LogoutDeliveryStore(transaction)
            try store.releaseAll()
            return try store.all()
        }
        let claims = all.compactMap(\.claim)
        #expect(all.count == 1200 && claims.isEmpty)
    }

    @Test("The name of a token's row never changes, because later versions look for it")
    func rowNameIsFixed() {
        let token = delivery("id", of: Self.app, at: Date(timeIntervalSince1970: 1_735_689_613))
        #expect(token.rowName == "OnZXWhFpaOq6V_UUGeRP67NS41UEuLv_QxvZxrkeeyg 0001735689613000000 id")
    }
}
