import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Push messages")
struct PushTests {
    @Test("A message is verified and stored once, and receiving it again returns the same record", arguments: StoreKind.allCases)
    func receivesMessageOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let mechanism = try await fixture.enrollPush()
            let delivery = try fixture.delivery(to: mechanism, kind: .number(choices: [34, 56, 82]))
            let first = try await fixture.authenticator.receive(delivery)
            #expect(first.message.kind == .number(choices: [34, 56, 82]))
            #expect(first.message.text == "Login at Harbor Bank")
            #expect(try await fixture.authenticator.receive(delivery) == first)
            #expect(try await AuthenticatorFixture(store: store).authenticator.notifications() == [first])
        }
    }

    @Test("C9: A subject beside a message is stored as unsigned, and changes nothing else of the notification")
    func storesSubjectAsUnsigned() async throws {
        let fixture = AuthenticatorFixture()
        let plain = try fixture.delivery(to: try await fixture.enrollPush())
        let subject = "Login attempt from bob at LabAM"
        let delivery = PushDelivery(messageId: plain.messageId, message: plain.message, subject: subject)
        let received = try await fixture.authenticator.receive(delivery)
        #expect(received.unsignedSubject == subject)
        var expected = PushNotification(messageID: plain.messageId, message: received.message, receivedAt: received.receivedAt)
        expected.clockOffset = received.clockOffset
        expected.unsignedSubject = subject
        #expect(received == expected)
        // The first arrival decides: a repeat with another subject is the same message.
        let repeated = PushDelivery(messageId: plain.messageId, message: plain.message, subject: "another")
        #expect(try await fixture.authenticator.receive(repeated) == received)
        #expect(try await fixture.authenticator.notifications() == [received])
    }

    @Test("Receiving the same message 100 times at once stores one record", arguments: StoreKind.allCases)
    func concurrentReceiptsStoreOneRecord(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store)
            let delivery = try fixture.delivery(to: try await fixture.enrollPush())
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await fixture.authenticator.receive(delivery).id } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await fixture.authenticator.notifications().count == 1)
        }
    }

    @Test("Approving a message 100 times at once sends one request", arguments: StoreKind.allCases)
    func concurrentApprovalsSendOneRequest(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let gate = Gate()
            let fixture = AuthenticatorFixture(store: store) { _ in
                await gate.pass()
                return HTTPResponse(status: 200, body: Array("{}".utf8))
            }
            let id = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush())).id
            let sent = fixture.transport.requests.count
            // The call whose request is under way waits for the others, which are refused meanwhile.
            gate.close()
            let outcomes = await withTaskGroup(of: Result<PushNotification.Decision?, any Error>.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        do { return .success(try await fixture.authenticator.approve(id).decision) } catch {
                            return .failure(error)
                        }
                    }
                }
                var outcomes: [Result<PushNotification.Decision?, any Error>] = []
                for await outcome in group {
                    outcomes.append(outcome)
                    if outcomes.count == 99 { gate.open() }
                }
                return outcomes
            }
            #expect(fixture.transport.requests.count == sent + 1)
            var approved = 0
            for outcome in outcomes {
                switch outcome {
                case .success(let decision): approved += decision == .approved ? 1 : 0
                case .failure(let error): #expect(code(error) == .alreadyAnswered)
                }
            }
            #expect(approved == 1)
        }
    }

    @Test("A forged, foreign or malformed message is refused and stores nothing")
    func refusesInvalidMessages() async throws {
        let fixture = AuthenticatorFixture()
        let mechanism = try await fixture.enrollPush()
        let unregistered = Mechanism(
            uid: "unregistered", account: mechanism.account, kind: mechanism.kind, timeAdded: Sample.start)
        let forged = try fixture.delivery(to: mechanism, secret: Secret([UInt8](repeating: 7, count: 32)))
        await #expect(throws: PushMessageError.signature) { try await fixture.authenticator.receive(forged) }
        let foreign = try fixture.delivery(to: unregistered)
        await #expect { try await fixture.authenticator.receive(foreign) } throws: { code($0) == .unknownMechanism }
        for id in ["", "1\u{7}", "1\u{202E}2"] {
            let unusable = try fixture.delivery(to: mechanism, id: id)
            await #expect(throws: PushMessageError.form) { try await fixture.authenticator.receive(unusable) }
        }
        for text in ["", "a.b", "a.b.c", "e30.e30.e30"] {
            await #expect(throws: (any Error).self) {
                try await fixture.authenticator.receive(PushDelivery(messageId: "1", message: text))
            }
        }
        #expect(try await fixture.authenticator.notifications().isEmpty)
    }

    /// The kind of message, the user's answer, and the claims that must be sent for it.
    static let answers: [(PushKind, PushAnswer, [String: JSONValue])] = [
        (.tap, .approve, [:]),
        (.number(choices: [34, 56]), .approveNumber(34), ["challengeResponse": "34"]),
        (.biometric, .approve, [:]),
        (.tap, .deny, ["deny": .bool(true)]),
        (.number(choices: [34, 56]), .deny, ["deny": .bool(true)]),
        (.biometric, .deny, ["deny": .bool(true)]),
    ]

    @Test("An answer is sent as the request of the protocol", arguments: answers)
    func sendsAnswerRequest(kind: PushKind, answer: PushAnswer, claims: [String: JSONValue]) async throws {
        let fixture = AuthenticatorFixture()
        let mechanism = try await fixture.enrollPush()
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: mechanism, kind: kind))
        let answered =
            switch answer {
            case .approve: try await fixture.authenticator.approve(notification.id, presence: ConfirmingPresence())
            case .approveNumber(let number): try await fixture.authenticator.approve(notification.id, number: number)
            case .deny: try await fixture.authenticator.deny(notification.id)
            }
        #expect(answered.decision == (answer == .deny ? .denied : .approved))
        #expect(try await fixture.authenticator.notifications() == [answered])

        let request = try #require(fixture.transport.requests.last)
        #expect(request.url == Sample.endpoint + "authenticate")
        #expect(request.headers["Cookie"] == "amlbcookie=02")
        let body = try JSONDecoder().decode(JSONValue.self, from: Data(request.body))
        #expect(body["messageId"] == "AUTHENTICATE:1")
        let secret = try #require(mechanism.push?.secret)
        let payload = try CompactJWS(try #require(body["jwt"]?.string)).payload(verifiedWith: secret)
        let response = PushClaims.response(to: Array("challenge".utf8), secret: secret)
        let expected = claims.merging(["response": .string(response)]) { $1 }
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(payload)) == .object(expected))
    }

    /// An approval that must be refused before any request, and the expected error.
    static let premature: [(PushKind, Int?, AuthenticatorError.Code)] = [
        (.number(choices: [34, 56]), nil, .wrongNumber),
        (.number(choices: [34, 56]), 35, .wrongNumber),
        (.biometric, nil, .presenceRefused),
    ]

    @Test("An approval without the required number or user presence sends nothing", arguments: premature)
    func refusesIncompleteApproval(kind: PushKind, number: Int?, expected: AuthenticatorError.Code) async throws {
        let fixture = AuthenticatorFixture()
        let notification = try await fixture.authenticator.receive(
            try fixture.delivery(to: try await fixture.enrollPush(), kind: kind))
        await #expect { try await fixture.authenticator.approve(notification.id, number: number) } throws: {
            code($0) == expected
        }
        await #expect {
            try await fixture.authenticator.approve(notification.id, number: number, presence: RefusingPresence())
        } throws: {
            code($0) == expected
        }
        #expect(fixture.transport.requests.count == 1, "only the registration was sent")
        #expect(try await fixture.authenticator.notification(notification.id).decision == nil)
    }

    @Test("An answer to an expired, answered or unknown message is refused before any request")
    func refusesAnswerWhenNotPending() async throws {
        let fixture = AuthenticatorFixture { _ in HTTPResponse(status: 200, headers: ["Date": ServerDate.text(of: Sample.start)])
        }
        let mechanism = try await fixture.enrollPush()
        let answered = try await fixture.authenticator.receive(try fixture.delivery(to: mechanism, id: "1"))
        _ = try await fixture.authenticator.approve(answered.id)
        let expiring = try await fixture.authenticator.receive(try fixture.delivery(to: mechanism, id: "2"))
        fixture.clock.advance(by: 121)
        let late = try await fixture.authenticator.receive(try fixture.delivery(to: mechanism, id: "3"))
        let sent = fixture.transport.requests.count
        await #expect { try await fixture.authenticator.approve(answered.id) } throws: { code($0) == .alreadyAnswered }
        await #expect { try await fixture.authenticator.deny(answered.id) } throws: { code($0) == .alreadyAnswered }
        await #expect { try await fixture.authenticator.approve(expiring.id) } throws: { code($0) == .expired }
        await #expect { try await fixture.authenticator.deny(late.id) } throws: { code($0) == .expired }
        await #expect { try await fixture.authenticator.deny("nobody") } throws: { code($0) == .unknownNotification }
        #expect(fixture.transport.requests.count == sent)
    }

    @Test("The first stored answer is kept even if the server accepts a second one", .timeLimit(.minutes(5)))
    func keepsFirstAnswer() async throws {
        let (held, release) = AsyncStream<Void>.makeStream()
        let isHolding = Toggle()
        let fixture = AuthenticatorFixture { request in
            if isHolding.isOn, request.url.hasSuffix("authenticate") { for await _ in held {} }
            return HTTPResponse(status: 200)
        }
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush()))
        isHolding.turnOn()
        let slow = Task { try await fixture.authenticator.deny(notification.id) }
        while fixture.transport.requests.count < 2 { await Task.yield() }
        let quick = Authenticator(
            store: fixture.store, transport: ScriptedTransport { _ in HTTPResponse(status: 200) },
            device: PushDevice(token: "token-1", name: "Mira's laptop"), clock: fixture.clock)
        #expect(try await quick.approve(notification.id).decision == .approved)
        release.finish()
        await #expect { try await slow.value } throws: { code($0) == .alreadyAnswered }
        #expect(try await fixture.authenticator.notification(notification.id).decision == .approved)
        #expect(try await fixture.authenticator.notification(notification.id).decision == .approved)
    }

    @Test(
        "An answer lost by the network leaves the message pending, and it can be answered again",
        arguments: TransportError.Code.allCases)
    func lostAnswerLeavesMessagePending(code: TransportError.Code) async throws {
        let online = Toggle()
        let fixture = AuthenticatorFixture { request throws(TransportError) in
            if request.url.hasSuffix("register") || online.isOn { return HTTPResponse(status: 200) }
            throw TransportError(code, host: "am.example.test", "on purpose")
        }
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush()))
        await #expect { try await fixture.authenticator.approve(notification.id) } throws: {
            ($0 as? TransportError)?.code == code
        }
        #expect(try await fixture.authenticator.notification(notification.id) == notification)
        online.turnOn()
        #expect(try await fixture.authenticator.approve(notification.id).decision == .approved)
    }

    @Test(
        "An answer that the server refuses or misunderstands leaves the message pending",
        arguments: [
            (400, #"{"code":400}"#, AuthenticatorError.Code.refusedByServer), (404, "", .refusedByServer),
            (500, "", .serverMisbehaved),
            (200, "<html>", .serverMisbehaved), (302, "", .serverMisbehaved), (200, "[1]", .serverMisbehaved),
        ])
    func refusedAnswerLeavesMessagePending(status: Int, body: String, expected: AuthenticatorError.Code) async throws {
        let fixture = AuthenticatorFixture { request in
            request.url.hasSuffix("register") ? HTTPResponse(status: 200) : HTTPResponse(status: status, body: Array(body.utf8))
        }
        let notification = try await fixture.authenticator.receive(try fixture.delivery(to: try await fixture.enrollPush()))
        await #expect { try await fixture.authenticator.approve(notification.id) } throws: { code($0) == expected }
        #expect(try await fixture.authenticator.notification(notification.id) == notification)
    }
}

struct ConfirmingPresence: UserPresence {
    func confirm(_ notification: PushNotification) async throws {}
}

struct RefusingPresence: UserPresence {
    struct Refused: Error {}
    func confirm(_ notification: PushNotification) async throws { throw Refused() }
}
