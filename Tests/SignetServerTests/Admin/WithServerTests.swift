import Foundation
import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("A server for a test", .timeLimit(.minutes(5)))
struct WithServerTests {
    @Test("Many at once have a port, a clock, a journal and faults of their own", arguments: 0..<8)
    func parallel(index: Int) async throws {
        try await withServer(.sample { $0.port = 1 }) { server in
            let port = try Endpoint(server.url).port
            #expect(port > 1)
            server.clock.advance(by: .seconds(index))
            try server.faults.switchOn(FaultRule(.status(500 + index), at: "health", .times(1)))
            for expected in [500 + index, 200] {
                let connection = try DeskConnection(port: port)
                connection.send("GET /am/health HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = await connection.read { $0.hasSuffix("}") }
                #expect(answer.hasPrefix("HTTP/1.1 \(expected)"))
                connection.vanish()
            }
            let statuses = server.journal.entries.map(\.request?.status)
            #expect(statuses == [500 + index, 200])
            let addresses = server.journal.entries.map(\.request?.client.address)
            #expect(addresses == ["127.0.0.1", "127.0.0.1"])
            #expect(server.clock.offset == Double(index))
        }
    }

    @Test("Everything is as at the start again")
    func startAgain() async throws {
        try await TestDesk.run { desk in
            let phone = try await desk.registeredPhone()
            let session = try await desk.session()
            _ = try await desk.server.setLocked(true, "noa")
            try desk.server.faults.switchOn(FaultRule(.html, at: "keys"))
            desk.server.moveClock(by: .seconds(5))
            try await desk.server.startAgain()
            #expect(desk.server.faults.entries.isEmpty && desk.server.clock.offset == 0)
            #expect(try await desk.mailbox(phone.uid).isEmpty)
            #expect(
                try await desk.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)").json["valid"] == .bool(false))
            #expect(try await desk.logIn("Login", name: "noa", password: "staple").isLoggedIn)
            _ = try await desk.registeredPhone()
        }
    }

    @Test("Sessions end and users are locked by name")
    func people() async throws {
        try await TestDesk.run { desk in
            let session = try await desk.session()
            _ = try await desk.session(name: "noa", password: "staple")
            #expect(try await desk.server.endSessions(of: "mira") == 1)
            #expect(try await desk.server.endSessions(of: "mira") == 0)
            #expect(
                try await desk.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)").json["valid"] == .bool(false))
            #expect(try await desk.server.setLocked(true, "mira"))
            #expect(try await desk.logIn("Login").status == 401)
            #expect(try await !desk.server.setLocked(true, "nobody"))
        }
    }
}
