import Foundation
import HummingbirdTesting
import SignetCore
import SignetTesting
import Testing

@testable import SignetServer

@Suite("The desk's stream, over a socket", .timeLimit(.minutes(5)))
struct PushStreamTests {
    @Test("A message arrives as soon as somebody logs in")
    func delivery() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                let head = await connection.read { $0.contains(":\n\n") }
                #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(head.lowercased().contains("content-type: text/event-stream\r\n"))
                #expect(head.lowercased().contains("cache-control: no-store\r\n"))

                let (step, push) = try await server.waitingLogin(phone: phone)
                let event = try #require(try await connection.events(1).first)
                let delivery = try JSON.decode(PushDelivery.self, from: event.data.utf8)
                #expect(event.name == "push")
                #expect(event.id == String(push.eventID))
                #expect(delivery == PushDelivery(messageId: push.messageID, message: push.sealed))
                #expect(try await phone.answer(push, at: server).status == 200)
                #expect(try await server.poll(step).json["tokenId"] != nil)
                connection.vanish()
            }
        }
    }

    @Test("What came while the device was away waits for it, but nothing that was answered or is over")
    func away() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                _ = try await server.waitingLogin(phone: phone)
                server.clock.advance(by: 119)
                let (_, answered) = try await server.waitingLogin(phone: phone)
                let (_, second) = try await server.waitingLogin(phone: phone)
                let (_, third) = try await server.waitingLogin(phone: phone)
                server.clock.advance(by: 1)
                #expect(try await phone.answer(answered, at: server).status == 200)

                let connection = try await phone.listen(at: server, port: port)
                #expect(try await connection.events(2).map(\.id) == [String(second.eventID), String(third.eventID)])
                connection.vanish()
            }
        }
    }

    @Test(
        "A device that says what it saw last gets what came after, and all when the desk does not know the event",
        arguments: [true, false])
    func lastEventID(known: Bool) async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let pushes = [
                    try await server.waitingLogin(phone: phone).push, try await server.waitingLogin(phone: phone).push,
                    try await server.waitingLogin(phone: phone).push,
                ]
                let last = known ? String(pushes[0].eventID) : "99999999999999999"
                let connection = try await phone.listen(at: server, port: port, after: last)
                let expected = pushes.dropFirst(known ? 1 : 0).map { String($0.eventID) }
                #expect(try await connection.events(expected.count).map(\.id) == expected)
                connection.vanish()
            }
        }
    }

    @Test("Every stream of a mechanism gets every message")
    func several() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connections = [
                    try await phone.listen(at: server, port: port), try await phone.listen(at: server, port: port),
                ]
                for connection in connections { _ = await connection.read { $0.contains(":\n\n") } }
                let (_, push) = try await server.waitingLogin(phone: phone)
                for connection in connections {
                    #expect(try await connection.events(1).map(\.id) == [String(push.eventID)])
                    connection.vanish()
                }
            }
        }
    }

    @Test("A device that vanishes leaves no stream behind")
    func vanished() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                for _ in 0..<5 {
                    let connection = try await phone.listen(at: server, port: port)
                    _ = await connection.read { $0.contains(":\n\n") }
                    #expect(server.streamCount(phone.uid) == 1)
                    connection.vanish()
                    let isClosed = try await eventually { server.streamCount(phone.uid) == 0 }
                    #expect(isClosed)
                }
            }
        }
    }

    @Test("A device that does not read costs one stream and no queue, and misses nothing")
    func slow() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                _ = await connection.read { $0.contains(":\n\n") }
                var ids: [String] = []
                for _ in 0..<40 { ids.append(String(try await server.waitingLogin(phone: phone).push.eventID)) }
                #expect(server.streamCount(phone.uid) == 1)
                #expect(try await connection.events(40).map(\.id) == ids)
                connection.vanish()
            }
        }
    }

    /// Says every 20 ms that a stream is alive.
    private static let talkative = ServerConfiguration.sample {
        $0.port = 0
        $0.streamKeepAlive = .milliseconds(20)
    }

    @Test("An idle stream carries comments")
    func keepAlive() async throws {
        try await TestServer.run(Self.talkative) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                let text = await connection.read { $0.split(separator: ":\n\n", omittingEmptySubsequences: false).count > 4 }
                #expect(text.split(separator: ":\n\n", omittingEmptySubsequences: false).count > 4)
                connection.vanish()
            }
        }
    }

    @Test("The stream of a device that is no more ends by itself, also when nobody could say so")
    func lostEnd() async throws {
        try await TestServer.run(Self.talkative) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                _ = await connection.read { $0.contains(":\n\n") }
                // As another server does it, whose word is lost on the way.
                try await server.devServer.context.store.write { tx in
                    let user = UserKey(realm: .root, name: "mira")
                    guard let device = tx.devices.pushDevice(of: user) else { return }
                    _ = tx.devices.remove(.push, device.resourceID, of: user)
                }
                let rest = await connection.read { $0.contains("0\r\n\r\n") }
                #expect(rest.hasSuffix("0\r\n\r\n"))
                #expect(server.streamCount(phone.uid) == 0)
            }
        }
    }

    @Test("The stream of a device that was replaced ends")
    func replaced() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let old = try await server.registeredPhone(uid: "old")
                let connection = try await old.listen(at: server, port: port)
                _ = await connection.read { $0.contains(":\n\n") }
                _ = try await server.registeredPhone(uid: "new")
                let rest = await connection.read { $0.contains("0\r\n\r\n") }
                #expect(rest.hasSuffix("0\r\n\r\n"))
                #expect(server.streamCount("old") == 0)
                connection.vanish()
            }
        }
    }

    @Test("A server that is cancelled ends its streams at once")
    func cancelled() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            let clock = ContinuousClock()
            var connection: RawHTTPConnection?
            var cancelled = clock.now
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                connection = try await phone.listen(at: server, port: port)
                _ = await connection?.read { $0.contains(":\n\n") }
                cancelled = clock.now
            }
            #expect(clock.now - cancelled < .seconds(60))
            _ = await connection?.read { _ in false }
            #expect(clock.now - cancelled < .seconds(60))
            connection?.vanish()
        }
    }

    @Test("A graceful shutdown ends the streams too, and then the server")
    func graceful() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let clock = ContinuousClock()
            let (connection, asked) = try await server.devServer.application().test(.live) { client in
                let connection = try await phone.listen(at: server, port: try #require(client.port))
                _ = await connection.read { $0.contains(":\n\n") }
                return (connection, clock.now)
            }
            _ = await connection.read { _ in false }
            #expect(clock.now - asked < .seconds(60))
            connection.vanish()
        }
    }
}
