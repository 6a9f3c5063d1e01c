import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetAuthenticator

@Suite("Messages that end at the server while a listener waits", .timeLimit(.minutes(2)))
struct EndedPushListenerTests {
    @Test("A listener reports the message that another device of the user has answered, and changes nothing that is stored")
    func reportsAnswerOfOtherDevice() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            let first = try await user.begin("PushLogin")
            let other = try await user.otherDevice()
            let listener = PushStreamListener(other.authenticator, mechanismUID: mechanism.uid)
            let ended = await listener.messagesEnded {
                let message = try await user.nextNotification(for: mechanism)
                _ = try await user.authenticator.approve(message.id)
            }
            let stored = try await other.authenticator.notifications()
            #expect(stored.map(\.id) == ended && stored.map(\.decision) == [nil])
            #expect(try await user.finish(first) == nil)
        }
    }

    @Test("Events that a listener does not know, and lists that it cannot read, end no message")
    func ignoresUnknownEvents() async throws {
        let delivery = Mutex<PushDelivery?>(nil)
        let fixture = AuthenticatorFixture { request in
            if request.method == "POST" {
                let link = "<https://am.example.test/stream>; rel=\"\(PushStreamProof.linkRelation)\""
                return HTTPResponse(status: 200, headers: ["Link": link], body: Array("{}".utf8))
            }
            guard request.headers["Authorization"] != nil else {
                return HTTPResponse(status: 401, headers: ["WWW-Authenticate": "\(PushStreamProof.scheme) nonce=\"n\""])
            }
            let message = delivery.withLock { $0.map { JSON.text(of: $0) } ?? "" }
            let events = [
                ServerSentEvent(id: "1", name: PushStreamProof.eventName, data: message),
                ServerSentEvent(name: "ended", data: "{}"),
                ServerSentEvent(name: WaitingPushMessages.eventName, data: #"{"messageIds":[7]}"#),
                ServerSentEvent(name: WaitingPushMessages.eventName, data: #"{"messageIds":["M1","M2"]}"#),
                ServerSentEvent(id: "2", name: "later", data: ""),
                ServerSentEvent(name: WaitingPushMessages.eventName, data: #"{"messageIds":["M2"]}"#),
                ServerSentEvent(name: WaitingPushMessages.eventName, data: #"{"messageIds":[]}"#),
            ]
            return HTTPResponse(status: 200, body: Array(events.map(\.encoded).joined().utf8))
        }
        let mechanism = try await fixture.enrollPush()
        let sent = try fixture.delivery(to: mechanism, id: "M1")
        delivery.withLock { $0 = sent }
        let log = Mutex<[String]>([])
        let listener = PushStreamListener(fixture.authenticator, mechanismUID: mechanism.uid)
        await #expect(throws: StopListening.self) {
            try await listener.run(
                ended: { _ in log.withLock { $0.append("ended") } },
                { event in
                    switch event {
                    case .connected: log.withLock { $0.append("connected") }
                    case .received: log.withLock { $0.append("received") }
                    case .refused, .disconnected: throw StopListening()
                    }
                })
        }
        let seen = log.withLock { $0 }
        #expect(seen == ["connected", "received", "ended"])
    }

    @Test("The messages of a listener are forgotten oldest first, and each ends once")
    func remembersNewestMessages() {
        var received = ReceivedMessages()
        let all = (0...ReceivedMessages.capacity).map { number in
            PushNotification(
                messageID: "M\(number)",
                message: PushMessage(mechanismUID: "m", challenge: [1], kind: .tap, timeToLive: 120, sentAt: nil, text: ""),
                receivedAt: Sample.start)
        }
        for notification in all { received.add(notification) }
        // Twice is once.
        received.add(all[5])
        let ended = received.removeAll(except: ["M7", "elsewhere"])
        #expect(ended.count == ReceivedMessages.capacity - 1 && ended.last == all[5].id && ended.first == all[1].id)
        #expect(received.removeAll(except: ["M7"]).isEmpty)
        #expect(received.removeAll(except: []) == [all[7].id])
    }
}

extension DemoUser {
    /// Returns another device of the user with the same push mechanism, as a restored backup is.
    func otherDevice() async throws -> DemoUser {
        let accounts = try await authenticator.accounts()
        let other = DemoUser(like: self)
        try other.store.write { (records: any AccountWriter) throws(StoreError) in
            for account in accounts {
                try records.save(account.account)
                for mechanism in account.mechanisms { try records.save(mechanism) }
            }
        }
        return other
    }
}
