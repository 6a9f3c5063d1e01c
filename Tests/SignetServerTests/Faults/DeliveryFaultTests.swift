import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Faults in the delivery of push messages", .timeLimit(.minutes(5)))
struct DeliveryFaultTests {
    /// The message ids, in the order in which a stream delivered them.
    private func ids(_ events: [ServerSentEvent]) throws -> [String] {
        try events.map { try JSON.decode(PushDelivery.self, from: $0.data.utf8).messageId }
    }

    private func doNotFall(_ events: [ServerSentEvent]) -> Bool {
        let ids = events.compactMap { $0.id.flatMap { UInt64($0) } }
        return ids.count == events.count && ids == ids.sorted()
    }

    private func deliveries(_ server: TestServer) -> [[String]] {
        server.devServer.requestLog(matching: RequestLogFilter { $0.step = .delivered }).map(\.faults)
    }

    @Test("The fault duplicate-delivery sends a push message twice, and the request log marks the duplicate")
    func deliversMessageTwice() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                try server.devServer.faults.enable(FaultRule(.duplicateDelivery, .times(1)))
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(2)) == [push.messageID, push.messageID])
                stream.vanish()
            }
            #expect(deliveries(server) == [[], ["duplicate-delivery"]])
        }
    }

    @Test(
        "The fault reordering delivers the second push message first, whether the stream opens before or after it",
        arguments: [false, true])
    func deliversMessagesInOtherOrder(isTogether: Bool) async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                try server.devServer.faults.enable(FaultRule(.reordering, .times(1)))
                let (_, first) = try await server.waitingLogin(phone: phone)
                var stream: RawHTTPConnection?
                if !isTogether {
                    stream = try await phone.listen(at: server, port: port)
                    let isHeld = try await eventually { !server.devServer.faults.entries.contains { $0.applied == 0 } }
                    #expect(isHeld)
                }
                let (_, second) = try await server.waitingLogin(phone: phone)
                let open = if let stream { stream } else { try await phone.listen(at: server, port: port) }
                #expect(try ids(try await open.events(2)) == [second.messageID, first.messageID])
                // The third message is delivered as usual.
                let (_, third) = try await server.waitingLogin(phone: phone)
                #expect(try ids(try await open.events(1)) == [third.messageID])
                open.vanish()
            }
            #expect(deliveries(server) == [[], ["reordering"], []])
        }
    }

    @Test("The fault replayed-push delivers an answered message again, and the server refuses another decision")
    func replaysAnsweredMessage() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                try server.devServer.faults.enable(FaultRule(.replayedPush, for: .device(phone.uid), .times(1)))
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                #expect(try await phone.answer(push, at: server).status == 200)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                #expect(try await phone.answer(push, at: server).status == 200)
                #expect(try await phone.answer(push, ["deny": .bool(true)], at: server).status == 400)
                stream.vanish()
            }
            #expect(deliveries(server) == [[], ["replayed-push"]])
            let steps = server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .push }).compactMap { $0.push?.step }
            let sortedSteps = steps.sorted { $0.rawValue < $1.rawValue }
            #expect(sortedSteps == [.approved, .delivered, .delivered, .made, .refused])
        }
    }

    /// Configuration without keep-alive signs on streams, so that only other events wake a stream.
    private static let withoutSigns = ServerConfiguration.sample {
        $0.port = 0
        $0.streamKeepAlive = .seconds(600)
    }

    @Test(
        "A message that was answered before the stream opened is replayed as soon as the fault is enabled",
        arguments: [false, true])
    func replaysMessageAnsweredEarlier(isOnFirst: Bool) async throws {
        try await TestServer.run(Self.withoutSigns) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                #expect(try await phone.answer(push, at: server).status == 200)
                // The next message removes the answered one from the device's inbox.
                let (_, next) = try await server.waitingLogin(phone: phone)
                let fault = FaultRule(.replayedPush, .times(1))
                if isOnFirst { try server.devServer.faults.enable(fault) }
                let stream = try await phone.listen(at: server, port: port)
                var events: [ServerSentEvent] = []
                if !isOnFirst {
                    events = try await stream.events(1)
                    try server.devServer.faults.enable(fault)
                }
                events += try await stream.events(isOnFirst ? 2 : 1)
                #expect(try ids(events) == [next.messageID, push.messageID] && doNotFall(events), "\(events.map(\.id))")
                stream.vanish()
            }
        }
    }

    @Test("An expired message is replayed as soon as the clock passes its expiry")
    func replaysExpiredMessage() async throws {
        try await TestServer.run(Self.withoutSigns) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                try server.devServer.faults.enable(FaultRule(.replayedPush))
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                // Another server process with the same database may have moved the clock as well; the result is the same.
                try await server.devServer.context.change(clock: .move(121))
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                stream.vanish()
            }
        }
    }

    @Test("A message that the fault reordering holds back is delivered as soon as the fault is disabled")
    func deliversHeldMessageWhenFaultEnds() async throws {
        try await TestServer.run(Self.withoutSigns) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                try server.devServer.faults.enable(FaultRule(.reordering))
                let stream = try await phone.listen(at: server, port: port)
                let (_, push) = try await server.waitingLogin(phone: phone)
                let isHeldBack = try await eventually { server.devServer.faults.entries.first?.applied == 1 }
                #expect(isHeldBack)
                server.devServer.faults.disableAll()
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                stream.vanish()
            }
        }
    }

    @Test("A fault for one device does not affect the messages of another device")
    func deliversToOtherDevicesAsUsual() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                try server.devServer.faults.enable(FaultRule(.duplicateDelivery, for: .device("phone-2")))
                let (_, push) = try await server.waitingLogin(phone: phone)
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                let (_, next) = try await server.waitingLogin(phone: phone)
                #expect(try ids(try await stream.events(1)) == [next.messageID])
                stream.vanish()
            }
        }
    }
}
