import Foundation
import HummingbirdTesting
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Push stream over a socket", .timeLimit(.minutes(5)))
struct PushStreamTests {
    @Test("A message reaches the device as soon as a user logs in")
    func deliversMessageOnLogin() async throws {
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

    @Test("A reconnecting device gets the pending messages but not those that were answered or have expired")
    func deliversPendingMessagesOnReconnect() async throws {
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
        "A device with a known last event id gets the later messages; with an unknown one it gets all messages",
        arguments: [true, false])
    func resumesAfterLastEventID(known: Bool) async throws {
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
    func deliversToEveryStream() async throws {
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

    @Test("The stream of a device that disconnects without notice is closed")
    func closesStreamOfVanishedDevice() async throws {
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

    @Test("A device that does not read occupies one stream without a queue and loses no message")
    func slowDeviceLosesNoMessage() async throws {
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

    /// Sends a keep-alive comment every 20 ms.
    private static let talkative = ServerConfiguration.sample {
        $0.port = 0
        $0.streamKeepAlive = .milliseconds(20)
    }

    @Test("An idle stream carries keep-alive comments")
    func sendsKeepAliveComments() async throws {
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

    @Test("The stream of a removed device ends even when the signal for it was lost")
    func endsStreamOfRemovedDevice() async throws {
        try await TestServer.run(Self.talkative) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                _ = await connection.read { $0.contains(":\n\n") }
                // The removal as another server does it, with the signal lost on the way.
                try await server.devServer.context.store.write { tx in
                    let user = UserKey(realm: .root, name: "mira")
                    guard let device = try tx.devices.pushDevice(of: user) else { return }
                    _ = try tx.devices.remove(.push, device.resourceID, of: user)
                }
                let rest = await connection.read { $0.contains("0\r\n\r\n") }
                #expect(rest.hasSuffix("0\r\n\r\n"))
                #expect(server.streamCount(phone.uid) == 0)
            }
        }
    }

    @Test("The stream of a replaced device ends")
    func endsStreamOfReplacedDevice() async throws {
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

    @Test("Cancellation of the server ends its streams at once")
    func cancellationEndsStreams() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            let clock = ContinuousClock()
            var connection: RawHTTPConnection?
            var canceled = clock.now
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                connection = try await phone.listen(at: server, port: port)
                _ = await connection?.read { $0.contains(":\n\n") }
                canceled = clock.now
            }
            #expect(clock.now - canceled < .seconds(60))
            _ = await connection?.read { _ in false }
            #expect(clock.now - canceled < .seconds(60))
            connection?.vanish()
        }
    }

    @Test("A graceful shutdown ends the streams and then the server")
    func gracefulShutdownEndsStreams() async throws {
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
