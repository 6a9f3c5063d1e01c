import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import Testing

@testable import SignetServer

@Suite("Starting again", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct StartAgainTests {
    @Test(
        "Everything is as at the start, also after a restart; the console's door and the keys of id_tokens stay",
        arguments: StateKind.here)
    func startAgain(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            let clock = StillClock()
            try await place.desk(clock: clock, { $0.signingKey = nil }) { desk in
                let link = try await desk.server.consoleLink()
                let session = try await desk.session()
                let tokens = try await desk.tokens()
                let phone = try await desk.registeredPhone()
                let stream = desk.server.desk.streams.open(phone.uid)
                _ = try await desk.waitingLogin(phone: phone)
                _ = try await desk.server.setLocked(true, "noa")
                let kim = UserKey(realm: .root, name: "kim")
                #expect(try await AdminOperations(desk: desk.server.desk).add(kim, password: Secret("p".utf8), claims: [:]))
                desk.server.clock.stop()
                desk.server.moveClock(by: .seconds(7))
                try desk.server.faults.switchOn(FaultRule(.html, at: "keys"))

                try await desk.server.startAgain()
                let left = try await desk.server.snapshot().rows.map(\.key)
                #expect(left == [SigningKeys.row])
                // A stream that has ended has no more signals than those that it was sent.
                for await _ in stream.signals {}
                #expect(desk.streamCount(phone.uid) == 0)
                #expect(desk.server.clock.offset == 0 && !desk.server.clock.isStopped && desk.server.faults.entries.isEmpty)
                #expect(try await desk.authorize(session).location["code"] == nil)
                #expect(try await desk.userInfo(tokens.access).status == 401)
                #expect(try await desk.claims(try #require(tokens.id))["sub"] == "mira")
                #expect(try await desk.logIn("Login", name: "noa", password: "staple").isLoggedIn)
                #expect(try await desk.logIn("Login", name: "kim", password: "p").status == 401)
                let opened = try await desk.send(.get, link.replacing("http://127.0.0.1:8080", with: ""), headers: [:])
                #expect(opened.status == 303)
            }
            guard kind != .memory else { return }
            try await place.desk(clock: clock, { $0.signingKey = nil }) { desk in
                #expect(try await desk.logIn("Login", name: "kim", password: "p").status == 401)
                #expect(try await desk.mailbox("phone-1").isEmpty && desk.server.clock.offset == 0)
                _ = try await desk.registeredPhone()
            }
        }
    }

    @Test("A clock that was stopped stands still after a restart, where it stood", arguments: StateKind.lasting)
    func stopped(kind: StateKind) async throws {
        try await StatePlace.with(kind) { place in
            let clock = StillClock()
            let stop = clock.now.addingTimeInterval(7)
            try await place.desk(clock: clock) { desk in
                _ = try await desk.session()
                desk.server.moveClock(by: .seconds(7))
                desk.server.clock.stop()
                _ = try await desk.session()
            }
            clock.advance(by: 60)
            try await place.desk(clock: clock) { desk in
                _ = try await desk.session()
                #expect(desk.server.clock.isStopped && desk.server.clock.now == stop)
                desk.server.clock.resume()
                clock.advance(by: 1)
                #expect(desk.server.clock.now == stop.addingTimeInterval(1))
            }
        }
    }

    @Test("What happens in a transaction that is run again is told once")
    func once() async throws {
        try await TestDesk.run { desk in
            let runs = Counter()
            try await desk.server.desk.transact { state, _ in
                runs.add()
                state.effects.append(.happened(JournalEntry.Push(.made, "m", device: nil)))
                // A new password's hash is worked out elsewhere, and then the rule is run again.
                _ = state.directory.add(UserKey(realm: .root, name: "kim"), password: Secret("p".utf8), claims: [:])
            }
            #expect(runs.count > 1)
            let ofPush = JournalFilter { $0.kind = .push }
            #expect(desk.server.journal(matching: ofPush).count == 1)
        }
    }
}
