import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Reset of a server", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct ResetTests {
    @Test(
        "A reset restores the initial state for good but keeps console sessions and the id_token keys",
        arguments: StateKind.available)
    func resetKeepsConsoleSessionsAndKeys(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            try await location.server(clock: clock, { $0.signingKey = nil }) { server in
                let link = try await server.devServer.consoleLink()
                let session = try await server.session()
                let tokens = try await server.tokens()
                let phone = try await server.registeredPhone()
                let stream = server.devServer.context.streams.open(phone.uid)
                _ = try await server.waitingLogin(phone: phone)
                _ = try await server.devServer.setLocked(true, "noa")
                let kim = UserKey(realm: .root, name: "kim")
                #expect(
                    try await AdminOperations(server: server.devServer.context).add(kim, password: Secret("p".utf8), claims: [:]))
                server.devServer.clock.stop()
                server.devServer.moveClock(by: .seconds(7))
                try server.devServer.faults.enable(FaultRule(.html, at: "keys"))

                try await server.devServer.reset()
                let left = try await server.devServer.snapshot().rows.map(\.key)
                #expect(Set(left) == SigningKeys.rows && left.count == SigningKeys.rows.count)
                // An ended stream has no more signals than those that were sent to it.
                for await _ in stream.signals {}
                #expect(server.streamCount(phone.uid) == 0)
                #expect(
                    server.devServer.clock.offset == 0 && !server.devServer.clock.isStopped
                        && server.devServer.faults.entries.isEmpty)
                #expect(try await server.authorize(session).location["code"] == nil)
                #expect(try await server.userInfo(tokens.access).status == 401)
                #expect(try await server.claims(try #require(tokens.id))["sub"] == "mira")
                #expect(try await server.logIn("Login", name: "noa", password: "staple").isLoggedIn)
                #expect(try await server.logIn("Login", name: "kim", password: "p").status == 401)
                let opened = try await server.send(.get, link.replacing("http://127.0.0.1:8080", with: ""), headers: [:])
                #expect(opened.status == 303)
            }
            guard kind != .memory else { return }
            try await location.server(clock: clock, { $0.signingKey = nil }) { server in
                #expect(try await server.logIn("Login", name: "kim", password: "p").status == 401)
                #expect(try await server.inbox("phone-1").isEmpty && server.devServer.clock.offset == 0)
                _ = try await server.registeredPhone()
            }
        }
    }

    @Test("A stopped clock keeps its time over a restart", arguments: StateKind.persistent)
    func stoppedClockSurvivesRestart(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            let clock = ManualClock()
            let stop = clock.now.addingTimeInterval(7)
            try await location.server(clock: clock) { server in
                _ = try await server.session()
                server.devServer.moveClock(by: .seconds(7))
                server.devServer.clock.stop()
                _ = try await server.session()
            }
            clock.advance(by: 60)
            try await location.server(clock: clock) { server in
                _ = try await server.session()
                #expect(server.devServer.clock.isStopped && server.devServer.clock.now == stop)
                server.devServer.clock.resume()
                clock.advance(by: 1)
                #expect(server.devServer.clock.now == stop.addingTimeInterval(1))
            }
        }
    }

    @Test("An effect of a transaction that runs again is applied once")
    func rerunTransactionAppliesEffectOnce() async throws {
        try await TestServer.run { server in
            let runs = Counter()
            try await server.devServer.context.store.write { tx in
                runs.add()
                tx.effects.append(.happened(RequestLogEntry.Push(.made, "m", device: nil)))
                // The hash of a new password is computed outside the transaction, which then runs again.
                _ = try tx.directory.add(UserKey(realm: .root, name: "kim"), password: Secret("p".utf8), claims: [:])
            }
            #expect(runs.count > 1)
            let ofPush = RequestLogFilter { $0.kind = .push }
            #expect(server.devServer.requestLog(matching: ofPush).count == 1)
        }
    }
}
