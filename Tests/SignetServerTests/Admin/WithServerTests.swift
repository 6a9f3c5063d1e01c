import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The testing API of the development server", .timeLimit(.minutes(5)))
struct WithServerTests {
    @Test("Servers that run in parallel have their own port, clock, request log and faults", arguments: 0..<8)
    func parallelServersAreIndependent(index: Int) async throws {
        try await withServer(.sample { $0.port = 1 }) { server in
            let port = try Endpoint(server.url).port
            #expect(port > 1)
            server.clock.advance(by: .seconds(index))
            try server.faults.enable(FaultRule(.status(500 + index), at: "health", .times(1)))
            for expected in [500 + index, 200] {
                let connection = try RawHTTPConnection(port: port)
                connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = await connection.read { $0.hasSuffix("}") }
                #expect(answer.hasPrefix("HTTP/1.1 \(expected)"))
                connection.vanish()
            }
            let statuses = server.requestLog.entries.map(\.request?.status)
            #expect(statuses == [500 + index, 200])
            let addresses = server.requestLog.entries.map(\.request?.client.address)
            #expect(addresses == ["127.0.0.1", "127.0.0.1"])
            #expect(server.clock.offset == Double(index))
        }
    }

    @Test("A reset restores the initial devices, sessions, locks, faults and clock")
    func resetRestoresServer() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let session = try await server.session()
            _ = try await server.devServer.setLocked(true, "noa")
            try server.devServer.faults.enable(FaultRule(.html, at: "keys"))
            server.devServer.moveClock(by: .seconds(5))
            try await server.devServer.reset()
            #expect(server.devServer.faults.entries.isEmpty && server.devServer.clock.offset == 0)
            #expect(try await server.inbox(phone.uid).isEmpty)
            #expect(
                try await server.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)").json["valid"]
                    == .bool(false))
            #expect(try await server.logIn("Login", name: "noa", password: "staple").isLoggedIn)
            _ = try await server.registeredPhone()
        }
    }

    @Test("The testing API ends the sessions of a user and locks a user by name")
    func endsSessionsAndLocksByName() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            _ = try await server.session(name: "noa", password: "staple")
            #expect(try await server.devServer.endSessions(of: "mira") == 1)
            #expect(try await server.devServer.endSessions(of: "mira") == 0)
            #expect(
                try await server.send(.post, "/am/json/sessions?_action=validate&tokenId=\(session)").json["valid"]
                    == .bool(false))
            #expect(try await server.devServer.setLocked(true, "mira"))
            #expect(try await server.logIn("Login").status == 401)
            #expect(try await !server.devServer.setLocked(true, "nobody"))
        }
    }
}
