import Foundation
import SignetCore
import SignetPushGateway
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The rules for claims of push messages, without a server.
@Suite("Claims of push deliveries")
struct DispatchClaimTests {
    private static let (now, end) = (Date(timeIntervalSince1970: 1000), Date(timeIntervalSince1970: 1100))

    private static func claim(_ holder: String, until end: Double) -> DispatchClaim {
        DispatchClaim(holder: holder, end: Date(timeIntervalSince1970: end))
    }

    /// Runs `body` with a store of one message and the message's id.
    @discardableResult
    private func run(_ body: (inout PushDispatchStore, _ id: String) throws -> Void) throws -> (rows: TestRows, id: String) {
        let rows = TestRows()
        let id = try rows.transact(at: Self.now) { transaction in
            var dispatches = PushDispatchStore(transaction)
            let device = PushDevice(
                owner: UserKey(realm: .root, name: "mira"), secret: Secret([1]), mechanismUID: "m", deviceID: "token",
                deviceName: "d", deviceType: "t", communicationType: "gcm", communicationID: "c", resourceID: "r",
                registeredAt: Self.now)
            let prompt = PushPrompt(kind: .tap, text: "Hello")
            let push = PushMessageRecord(
                prompt, to: device, RequestTime(now: Self.now, configuration: .sample(), baseURL: "http://localhost/am"))
            dispatches.store(PushDispatch(push, text: "Hello", endpoint: "e", token: "token", until: Self.end))
            try body(&dispatches, push.messageID)
            return push.messageID
        }
        return (rows, id)
    }

    /// Returns whether the holder gets the message.
    private func claim(
        _ dispatches: inout PushDispatchStore, _ id: String, _ holder: String, at machine: Double, until end: Double
    ) throws -> Bool {
        let machine = Date(timeIntervalSince1970: machine)
        return try dispatches.claim(id, Self.claim(holder, until: end), machine: machine) != nil
    }

    @Test("A claim keeps a message from other holders until it ends, and its holder can extend it")
    func claimExcludesOtherHolders() throws {
        try run { dispatches, id in
            let isClaimed = try claim(&dispatches, id, "a", at: 0, until: 30)
            #expect(isClaimed)
            #expect(try !claim(&dispatches, id, "b", at: 29, until: 60))
            #expect(try dispatches.unclaimed(machine: Date(timeIntervalSince1970: 29)).isEmpty)
            #expect(try claim(&dispatches, id, "a", at: 29, until: 50))
            #expect(try !claim(&dispatches, id, "b", at: 49, until: 90))
            #expect(try dispatches.unclaimed(machine: Date(timeIntervalSince1970: 50)).count == 1)
            #expect(try claim(&dispatches, id, "b", at: 50, until: 90))
            #expect(try !claim(&dispatches, id, "a", at: 51, until: 90))
        }
    }

    @Test("A released message can be claimed at once, and only its holder can release it")
    func releasedMessageCanBeClaimed() throws {
        try run { dispatches, id in
            #expect(try claim(&dispatches, id, "a", at: 0, until: 30))
            try dispatches.release(id, by: "b")
            #expect(try !claim(&dispatches, id, "b", at: 1, until: 30))
            try dispatches.release(id, by: "a")
            #expect(try claim(&dispatches, id, "b", at: 1, until: 30))
        }
    }

    @Test("A delivered or failed message cannot be claimed, and its first result is kept")
    func settledMessageKeepsFirstResult() throws {
        let (rows, id) = try run { dispatches, id in
            try dispatches.finish(id, .sent("1"))
            try dispatches.finish(id, .failed("late"))
            #expect(try dispatches[id]?.state == .sent("1"))
            #expect(try dispatches.unclaimed(machine: .distantFuture).isEmpty)
            let claim = Self.claim("a", until: 30)
            #expect(try dispatches.claim(id, claim, machine: Self.now) == nil)
        }
        let later = try rows.transact(at: Self.end) { transaction in try PushDispatchStore(transaction)[id] }
        #expect(later == nil)
    }
}

#if os(Linux)
/// Messages for phones and inboxes of the push gateway over restarts and with several servers.
@Suite("Stored push state", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct PushStateTests {
    @Test("A message that was being sent when its server ended is sent by the next server", arguments: StateKind.persistent)
    func nextServerSendsPendingMessage(kind: StateKind) async throws {
        let silent = try StandInSNS { request, _ in request.action == "Publish" ? .silence : .good }
        let good = try StandInSNS()
        try await StateLocation.with(kind) { location in
            // The server ends while it waits for the silent SNS.
            try await location.server {
                $0.sns = silent.configuration
                $0.sns?.waitsForDelivery = false
            } _: { server in
                let phone = try await server.registeredPhone()
                _ = try await server.waitingLogin(phone: phone)
                let isSending = try await eventually { silent.actions.contains("Publish") }
                #expect(isSending)
                #expect(try await server.devServer.pushes(to: "mira").last?.progress == .queued)
            }
            try await location.server(sending: good) { server in
                let push = try await server.finishedPush()
                #expect(push.progress == .sent(id: "sns-1"))
                #expect(good.actions == ["Publish"])
            }
            try await location.server(sending: good) { server in
                let push = try await server.devServer.pushes(to: "mira").last
                #expect(push?.progress == .sent(id: "sns-1"))
            }
            #expect(good.actions == ["Publish"])
        }
    }

    @Test(
        "A server without SNS leaves pending messages to servers with SNS",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func leavesMessagesToServersWithSNS() async throws {
        let sns = try StandInSNS()
        try await StateLocation.with(.postgreSQL) { location in
            try await location.server(sending: sns) { server in
                _ = try await server.registeredPhone()
            }
            try await location.server { server in
                let step = try await server.logIn("PushLogin").step
                let push = try await server.devServer.pushes(to: "mira").last
                #expect(step.waitMilliseconds != nil && push?.progress == .queued)
            }
            try await location.server(sending: sns) { server in
                let push = try await server.finishedPush()
                #expect(push.progress == .sent(id: "sns-1"))
            }
        }
    }

    @Test(
        "Two servers that find the same messages send each message once", .enabled(if: StateKind.available.contains(.postgreSQL)))
    func serversSendEachMessageOnce() async throws {
        let sns = try StandInSNS()
        try await StateLocation.with(.postgreSQL) { location in
            try await location.server(sending: sns) { server in
                _ = try await server.registeredPhone()
            }
            try await location.server { server in
                for _ in 0..<12 {
                    let step = try await server.logIn("PushLogin").step
                    #expect(step.waitMilliseconds != nil)
                }
            }
            // Both servers look for messages when they start.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await location.server(sending: sns) { server in
                            let areSent = try await eventually {
                                try await !server.devServer.pushes(to: "mira").contains { $0.progress == .queued }
                            }
                            #expect(areSent)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let published = sns.requests.filter { $0.action == "Publish" }.compactMap { $0.fields["Message"] }
            #expect(published.count == 12 && Set(published).count == 12)
        }
    }

    @Test("Endpoints, inboxes and their messages survive a restart", arguments: StateKind.persistent)
    func inboxesSurviveRestart(kind: StateKind) async throws {
        let (sender, inbox) = (Sender(), try PushGatewayTests.inbox())
        let delivery = PushDelivery(messageId: "1", message: "a")
        try await StateLocation.with(kind) { location in
            try await location.server {
                $0.pushGateway = Self.gateway
            } _: { server in
                let arn = try await sender.endpoint(inbox.address, at: server)
                #expect(try await sender.publish(delivery, to: arn, at: server).status == 200)
            }
            try await location.server {
                $0.pushGateway = Self.gateway
            } _: { server in
                // The same endpoint and the same message again change nothing.
                let arn = try await sender.endpoint(inbox.address, at: server)
                #expect(try await sender.publish(delivery, to: arn, at: server).status == 200)
                let next = PushDelivery(messageId: "2", message: "b")
                #expect(try await sender.publish(next, to: arn, at: server).status == 200)
                let waiting = try await server.devServer.context.store.read { tx in
                    try tx.gateway.retained(for: inbox.address, after: nil)
                }
                #expect(waiting.map(\.messageID) == ["1", "2"])
                #expect(waiting.map(\.eventID) == waiting.map(\.eventID).sorted())
            }
        }
    }

    @Test(
        "An inbox stream at one server gets messages published at another and ends with the endpoint",
        .enabled(if: StateKind.available.contains(.postgreSQL)))
    func inboxStreamSpansServers() async throws {
        let (sender, inbox) = (Sender(), try PushGatewayTests.inbox())
        try await StateLocation.with(.postgreSQL) { location in
            try await location.server {
                $0.port = 0
                $0.pushGateway = Self.gateway
            } _: { first in
                let arn = try await sender.endpoint(inbox.address, at: first)
                let nonce = try await PushGatewayTests.nonce(first)
                try await first.serve { port in
                    let connection = try RawHTTPConnection(port: port)
                    connection.send(
                        "GET /sns HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Signet-Inbox \(try inbox.proof(nonce))\r\n\r\n"
                    )
                    _ = await connection.read { $0.contains(":\n\n") }
                    try await location.server {
                        $0.pushGateway = Self.gateway
                    } _: { second in
                        let delivery = PushDelivery(messageId: "1", message: "a")
                        #expect(try await sender.publish(delivery, to: arn, at: second).status == 200)
                        #expect(try JSON.decode(PushDelivery.self, from: try await connection.events(1)[0].data.utf8) == delivery)
                        let reply = try await sender.send(["Action": "DeleteEndpoint", "EndpointArn": arn], to: second)
                        #expect(reply.status == 200)
                        let rest = await connection.read { _ in false }
                        #expect(rest.contains("0\r\n"))
                    }
                    connection.vanish()
                }
            }
        }
    }

    @Test(
        "A reset removes pending messages and inboxes, and a snapshot restores them and resumes delivery",
        arguments: StateKind.available)
    func snapshotResumesPushDelivery(kind: StateKind) async throws {
        // SNS does not answer the first message for a phone, so its delivery waits.
        let sns = try StandInSNS { request, before in request.action == "Publish" && before == 0 ? .silence : .good }
        let (sender, inbox) = (Sender(), try PushGatewayTests.inbox())
        try await StateLocation.with(kind) { location in
            try await location.server {
                $0.sns = sns.configuration
                $0.sns?.waitsForDelivery = false
                $0.pushGateway = Self.gateway
            } _: { server in
                let devServer = server.devServer
                let arn = try await sender.endpoint(inbox.address, at: server)
                let delivery = PushDelivery(messageId: "1", message: "a")
                #expect(try await sender.publish(delivery, to: arn, at: server).status == 200)
                let phone = try await server.registeredPhone()
                _ = try await server.waitingLogin(phone: phone)
                let isSending = try await eventually { sns.actions.contains("Publish") }
                #expect(isSending)
                let snapshot = try await devServer.snapshot()

                let stream = devServer.context.inboxStreams.open(inbox.address)
                try await devServer.reset()
                for await _ in stream.signals {}
                #expect(devServer.context.inboxStreams.count(inbox.address) == 0)
                #expect(try await sender.publish(delivery, to: arn, at: server).status == 404)
                #expect(try await devServer.pushes(to: "mira").isEmpty)

                try await devServer.restore(snapshot)
                #expect(try await server.finishedPush().progress == .sent(id: "sns-1"))
                let waiting = try await devServer.context.store.read { tx in
                    try tx.gateway.retained(for: inbox.address, after: nil)
                }
                #expect(waiting.map(\.messageID) == ["1"])
            }
        }
    }

    private static let gateway = PushGatewayConfiguration(keys: [Sender.key])
}

extension StateLocation {
    /// Runs `body` with a server of this state that sends its push messages to an SNS.
    fileprivate func server(sending sns: StandInSNS, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await server({ $0.sns = sns.configuration }, body)
    }
}
#endif
