import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Counts of tokens")
struct RowFactsTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func grant(_ id: String) -> Grant {
        Grant(
            id: id, client: ClientKey(realm: .root, id: "app"), user: UserKey(realm: .root, name: "mira"), scopes: ["openid"],
            authenticatedAt: now, session: TokenHash("session"), nonce: nil)
    }

    /// Returns the number of facts, and of the rows that were decoded for them.
    private static func read(_ rows: TestRows, _ memory: RowFacts<String>) throws -> [Int] {
        var decoded = 0
        let facts = try rows.transact(at: now) { cache in
            try cache.newestFacts(.grant, limit: 10, memory) { (grant: Grant) in
                decoded += 1
                return grant.id
            }
        }
        return [facts.count, decoded]
    }

    @Test("Only rows that have changed are decoded again for a fact of each row")
    func decodesChangedRowsOnly() throws {
        let (rows, memory) = (TestRows(), RowFacts<String>())
        func put(_ grant: Grant?, _ id: String) throws {
            try rows.transact(at: Self.now) { cache in
                cache.put(grant, RowKey(.grant, id), until: Self.now.addingTimeInterval(60).rowTime)
            }
        }
        for id in ["a", "b", "c"] { try put(Self.grant(id), id) }
        #expect(try Self.read(rows, memory) == [3, 3])
        #expect(try Self.read(rows, memory) == [3, 0])
        try put(Self.grant("b"), "b")
        #expect(try Self.read(rows, memory) == [3, 1])
        try put(nil, "c")
        #expect(try Self.read(rows, memory) == [2, 0])
        #expect(memory.entries.count == 2)
    }

    @Test("A row that another key has sealed is skipped, also after its fact was read")
    func skipsDamagedRow() throws {
        let (rows, memory) = (TestRows(), RowFacts<String>())
        let key = RowKey(.grant, "a")
        try rows.transact(at: Self.now) { $0.put(Self.grant("a"), key, until: .max - 1) }
        #expect(try Self.read(rows, memory) == [1, 1])
        try TestRows(rows.store).transact(at: Self.now) { $0.put(Self.grant("a"), key, until: .max - 1) }
        #expect(try Self.read(rows, memory) == [0, 0])
    }

    private static func counts(_ server: TestServer) async throws -> [Int64?] {
        let counts = try await server.admin(.get, "").json["counts"]
        return [counts?["accessTokens"]?.lenientInteger, counts?["refreshTokens"]?.lenientInteger]
    }

    @Test("The counts of /admin follow new, revoked and expired tokens")
    func countsFollowTokens() async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }) { server in
            #expect(try await Self.counts(server) == [0, 0])
            let tokens = try await server.tokens()
            _ = try await server.tokens()
            #expect(try await Self.counts(server) == [2, 2])
            let revoked = try await server.postForm("token/revoke", ["token": tokens.access, "client_id": "app"])
            #expect(revoked.status == 200)
            #expect(try await Self.counts(server) == [1, 2])
            server.clock.advance(by: 3600)
            #expect(try await Self.counts(server) == [0, 2])
        }
    }
}
