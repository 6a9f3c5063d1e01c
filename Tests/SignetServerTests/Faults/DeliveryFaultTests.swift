import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetServer

@Suite("Push messages that are delivered wrongly", .timeLimit(.minutes(5)))
struct DeliveryFaultTests {
    /// The ids of the messages, in the order in which a stream brought them.
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

    @Test("Twice, at once, and the journal says which one is too many")
    func twice() async throws {
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

    @Test("The second one first, be they there together or one after the other", arguments: [false, true])
    func reordered(isTogether: Bool) async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                try server.devServer.faults.enable(FaultRule(.reordering, .times(1)))
                let (_, first) = try await server.waitingLogin(phone: phone)
                var stream: RawHTTPConnection?
                if !isTogether {
                    stream = try await phone.listen(at: server, port: port)
                    while server.devServer.faults.entries.contains(where: { $0.applied == 0 }) {
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
                let (_, second) = try await server.waitingLogin(phone: phone)
                let open = if let stream { stream } else { try await phone.listen(at: server, port: port) }
                #expect(try ids(try await open.events(2)) == [second.messageID, first.messageID])
                // The next one comes as ever.
                let (_, third) = try await server.waitingLogin(phone: phone)
                #expect(try ids(try await open.events(1)) == [third.messageID])
                open.vanish()
            }
            #expect(deliveries(server) == [[], ["reordering"], []])
        }
    }

    @Test("One that was answered comes again, and is not taken a second time")
    func replayed() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                try server.devServer.faults.enable(FaultRule(.replayedPush, for: .device(phone.uid), .times(1)))
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                #expect(try await phone.answer(push, at: server).status == 200)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                #expect(try await phone.answer(push, at: server).status == 400)
                stream.vanish()
            }
            #expect(deliveries(server) == [[], ["replayed-push"]])
            let steps = server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .push }).compactMap { $0.push?.step }
            let sortedSteps = steps.sorted { $0.rawValue < $1.rawValue }
            #expect(sortedSteps == [.approved, .delivered, .delivered, .made, .refused])
        }
    }

    /// Nothing goes out but what something other than the time has a reason for.
    private static let withoutSigns = ServerConfiguration.sample {
        $0.port = 0
        $0.streamKeepAlive = .seconds(600)
    }

    @Test("One that was answered before the stream was opened comes again, as soon as the fault is on", arguments: [false, true])
    func replayedEarlier(isOnFirst: Bool) async throws {
        try await TestServer.run(Self.withoutSigns) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                #expect(try await phone.answer(push, at: server).status == 200)
                // The next one pushes the answered one out of the mailbox.
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

    @Test("One that is too old comes again as soon as the clock says so")
    func replayedLate() async throws {
        try await TestServer.run(Self.withoutSigns) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let (_, push) = try await server.waitingLogin(phone: phone)
                try server.devServer.faults.enable(FaultRule(.replayedPush))
                let stream = try await phone.listen(at: server, port: port)
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                // Another server of the state may have moved it as well: both come to the same.
                try await server.devServer.context.change(clock: .move(121))
                #expect(try ids(try await stream.events(1)) == [push.messageID])
                stream.vanish()
            }
        }
    }

    @Test("One that is held back goes as soon as the fault is switched off")
    func released() async throws {
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

    @Test("Another device's messages come as ever")
    func otherDevice() async throws {
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
