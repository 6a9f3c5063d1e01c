import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Messages that have ended, on a push stream", .timeLimit(.minutes(5)))
struct EndedMessageTests {
    /// A device that has received the messages of two logins on a stream.
    private struct Waiting: Sendable {
        let server: TestServer
        let phone: Phone
        let connection: RawHTTPConnection
        let first: PushMessageRecord
        let second: PushMessageRecord
        /// The step of the first login.
        let step: JourneyStep

        /// Answers the first message, and returns the status of the response.
        func answer(_ claims: [String: JSONValue] = [:]) async throws -> Int {
            try await phone.answer(first, claims, at: server).status
        }

        /// The ids of the messages in the server's next list.
        func nextList() async throws -> Set<String> { try await connection.waitingList().ids }
    }

    /// Runs `body` with a device that has received the messages of two logins.
    private func withTwoLogins(
        _ journey: String = "PushLogin", pollInterval: Duration? = .seconds(1),
        _ body: @escaping @Sendable (Waiting) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration.sample {
            $0.port = 0
            $0.pollInterval = pollInterval
        }
        try await TestServer.run(configuration) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let connection = try await phone.listen(at: server, port: port)
                let first = try await server.waitingLogin(journey, phone: phone)
                let second = try await server.waitingLogin(journey, phone: phone)
                _ = try await connection.events(2)
                try await body(
                    Waiting(
                        server: server, phone: phone, connection: connection, first: first.push, second: second.push,
                        step: first.step))
                connection.vanish()
            }
        }
    }

    /// The journey that registers a device, in a configuration with its own journeys.
    private static let registration = """
        PushRegistration:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
            register:
              type: PushRegistrationNode
              generateRecoveryCodes: false
              outcomes: {successOutcome: success, default: failure}
        """

    /// The ids of the messages that a new stream of a device gets.
    private func deliverable(_ phone: Phone, _ server: TestServer) async throws -> [String] {
        try await server.devServer.context.store.read { tx in
            try tx.pushes.deliverable(for: phone.uid, after: nil).map(\.messageID)
        }
    }

    @Test("An answer of one device tells the others of the mechanism which messages still wait", arguments: [false, true])
    func listsWaitingMessagesAfterAnswer(denies: Bool) async throws {
        try await withTwoLogins { logins in
            let status = try await logins.answer(denies ? ["deny": .bool(true)] : [:])
            let afterFirst = try await logins.nextList()
            #expect(status == 200 && afterFirst == [logins.second.messageID])
            let second = try await logins.phone.answer(logins.second, at: logins.server).status
            let afterSecond = try await logins.nextList()
            #expect(second == 200 && afterSecond.isEmpty)
        }
    }

    @Test("The second wrong number ends a message for all devices, and the first one does not")
    func listsWaitingMessagesAfterWrongNumbers() async throws {
        try await withTwoLogins("PushNumberLogin") { logins in
            let wrong: [String: JSONValue] = ["challengeResponse": .string(logins.first.number == 10 ? "11" : "10")]
            let statuses = [try await logins.answer(wrong), try await logins.answer(wrong)]
            // A list after the first wrong number would have both.
            let list = try await logins.nextList()
            #expect(statuses == [400, 400] && list == [logins.second.messageID])
        }
    }

    @Test("A message whose login has ended without its answer is listed no more, is not delivered, and can still be answered")
    func withdrawsMessageOfEndedLogin() async throws {
        try await withTwoLogins(pollInterval: nil) { logins in
            var step = logins.step
            for _ in 0..<3 { step = try await logins.server.next(step).step }
            let end = try await logins.server.next(step).message
            let list = try await logins.nextList()
            #expect(end == "Login failure" && list == [logins.second.messageID])
            let deliverable = try await deliverable(logins.phone, logins.server)
            #expect(deliverable == [logins.second.messageID])
            // It keeps its place among the messages that may wait.
            let waiting = try await logins.server.inbox(logins.phone.uid).count
            let status = try await logins.answer()
            #expect(waiting == 2 && status == 200)
        }
    }

    @Test("A message that has expired by the server's clock is listed no more")
    func listsWaitingMessagesAfterExpiry() async throws {
        try await withTwoLogins { logins in
            logins.server.clock.advance(by: 60)
            let third = try await logins.server.waitingLogin(phone: logins.phone).push
            _ = try await logins.connection.events(1)
            logins.server.clock.advance(by: 60)
            logins.server.devServer.context.streams.wake(logins.phone.uid)
            let list = try await logins.nextList()
            #expect(list == [third.messageID])
        }
    }

    @Test(
        "A device that connects again learns what has ended meanwhile, and a device that connects for the first time gets no list"
    )
    func listsWaitingMessagesOnReconnect() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try await server.serve { port in
                let phone = try await server.registeredPhone()
                let first = try await server.waitingLogin(phone: phone)
                let second = try await server.waitingLogin(phone: phone)
                #expect(try await phone.answer(first.push, at: server).status == 200)

                let again = try await phone.listen(at: server, port: port, after: String(first.push.eventID))
                let (ids, earlier) = try await again.waitingList()
                #expect(ids == [second.push.messageID] && earlier.map(\.id) == [String(second.push.eventID)])
                again.vanish()

                let fresh = try await phone.listen(at: server, port: port)
                let text = await fresh.read { $0.contains(second.push.messageID) }
                #expect(!text.contains("event: waiting"))
                fresh.vanish()
            }
        }
    }

    @Test("A journey that ends in the request that sends a message leaves the message to its device")
    func keepsMessageThatNoLoginWaitsFor() async throws {
        let journeys = """
            \(Self.registration)
            PushLogin:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
                send: {type: PushAuthenticationSenderNode, outcomes: {SENT: success, NOT_REGISTERED: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let phone = try await server.registeredPhone()
            #expect(try await server.logIn("PushLogin").json["tokenId"] != nil)
            let deliverable = try await deliverable(phone, server)
            #expect(deliverable.count == 1)
        }
    }

    @Test("A journey that sends another message withdraws the one for which it has waited")
    func withdrawsReplacedMessage() async throws {
        let journeys = """
            \(Self.registration)
            PushLogin:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
                send: {type: PushAuthenticationSenderNode, outcomes: {SENT: wait, NOT_REGISTERED: failure}}
                wait: {type: PushWaitNode, exitMessage: Send again, outcomes: {DONE: verify, EXITED: send}}
                verify: {type: PushResultVerifierNode, outcomes: {TRUE: success, WAITING: wait, default: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let phone = try await server.registeredPhone()
            var login = try await server.waitingLogin(phone: phone)
            login.step.fill("ConfirmationCallback", .integer(0))
            let again = try await server.next(login.step).step
            let last = try #require(try await server.inbox(phone.uid).last)
            let deliverable = try await deliverable(phone, server)
            #expect(last.messageID != login.push.messageID && deliverable == [last.messageID])
            let status = try await phone.answer(last, at: server).status
            let end = try await server.poll(again)
            #expect(status == 200 && end.isLoggedIn)
        }
    }
}
