import Foundation
import SignetCore
import SignetPushGateway
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Each kind of row that a server stores (``RowCase``); a kind without a case here is a failure.
@Suite("Stored rows of every kind", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct RowPersistenceTests {
    @Test("Every kind of row has a test case")
    func coversEveryRowKind() {
        let cases = RowCase.all.map(\.kind.rawValue)
        let kinds = RowKind.allCases.filter { $0 != .server }.map(\.rawValue)
        #expect(cases.sorted() == kinds.sorted())
    }

    @Test("Rows of every kind, the clock and the id_token keys survive a restart", arguments: StateKind.persistent)
    func rowsSurviveRestart(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let checks = Checks()
            try await location.server(clock: clock, Self.configure) { server in
                server.devServer.moveClock(by: .seconds(7))
                await checks.set(try await Self.makeAll(at: server))
            }
            try await location.server(clock: clock, Self.configure) { server in
                #expect(server.devServer.context.clock.offset == 0, "the clock is read when the state is opened")
                for (row, check) in await checks.all { try await Self.report(row) { try await check(server) } }
                #expect(server.devServer.context.clock.offset == 7)
            }
        }
    }

    @Test(
        "A snapshot restores rows of every kind except console sessions, which stay as they are", arguments: StateKind.available)
    func snapshotRestoresRows(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            try await location.server({ Self.configure(&$0) }) { server in
                let checks = try await Self.makeAll(at: server)
                let snapshot = try await server.devServer.snapshot()
                try await server.devServer.reset()
                // Only the id_token keys and the console session are left.
                let left = try await server.devServer.snapshot().rows.map(\.key)
                #expect(Set(left) == SigningKeys.rows && left.count == SigningKeys.rows.count)
                for row in RowCase.all { #expect(try await Self.count(row.kind, at: server) == (row.kind == .console ? 1 : 0)) }
                try await server.devServer.restore(snapshot)
                for (row, check) in checks { try await Self.report(row) { try await check(server) } }
            }
        }
    }

    private static func configure(_ configuration: inout ServerConfiguration) {
        configuration.signingKey = nil
        configuration.pushGateway = PushGatewayConfiguration(keys: [Sender.key])
        configuration.users += RowCase.all.map { User(name: $0.user.name, password: Secret(TestServer.password.utf8)) }
    }

    /// Makes a row of every kind and returns the later check of each.
    private static func makeAll(at server: TestServer) async throws -> [(RowCase, RowCase.Check)] {
        var checks: [(RowCase, RowCase.Check)] = []
        for row in RowCase.all {
            try await report(row) {
                checks.append((row, try await row.make(server, row.user)))
                #expect(try await count(row.kind, at: server) > 0)
            }
        }
        return checks
    }

    private static func count(_ kind: RowKind, at server: TestServer) async throws -> Int {
        try await server.devServer.context.store.queue.exclusively { (reader, _) throws(StoreError) in
            (try reader.count(kind.rawValue, at: .min, limit: 1000), RowChanges())
        }
    }

    /// Reports an error together with the kind that it concerns.
    private static func report(_ row: RowCase, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            Issue.record("\(row.kind.rawValue): \(error)")
        }
    }

    /// The checks that the next server has to pass.
    private actor Checks {
        private(set) var all: [(RowCase, RowCase.Check)] = []
        func set(_ checks: [(RowCase, RowCase.Check)]) { all = checks }
    }
}
