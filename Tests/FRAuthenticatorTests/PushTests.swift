import FRAuthenticator
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

@Suite("Push registration, notifications and answers")
struct PushTests {
    @Test("A notification has the documented properties of its push message")
    func notificationHasDocumentedProperties() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let notification = try fixture.receive(kind: .number(choices: [34, 56, 82]))
        #expect(notification.getMessage() == "Login at Harbor Bank")
        #expect(notification.getCustomPayload() == #"{"transaction":"42"}"#)
        #expect(notification.getContextInfo() == #"{"remoteIp":"198.51.100.23"}"#)
        #expect(notification.getPushType() == .challenge)
        #expect(notification.getNumbersChallenge() == [34, 56, 82])
        #expect(notification.numbersChallenge == "34,56,82")
        #expect(notification.getTimeAdded() == Sample.start)
        #expect(notification.ttl == 120)
        #expect(notification.isPending && !notification.isExpired && !notification.isApproved && !notification.isDenied)
        fixture.clock.advance(by: 121)
        #expect(notification.isExpired)
        #expect(notification.isPending)
        let pushMechanisms = fixture.client.getAllAccounts()[0].mechanisms.compactMap { $0 as? PushMechanism }
        #expect(pushMechanisms[0].pendingNotifications.map(\.messageId) == [notification.messageId])
        await #expect(throws: (any Error).self) { try await notification.accept(challengeResponse: "34") }
    }

    @Test("A push message delivered twice is stored once, and a forged one is refused")
    func storesRepeatedMessageOnceAndRefusesForgedMessage() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let uid = try await fixture.enrollBoth().push.mechanismUUID
        let first = try fixture.receive("1")
        #expect(try fixture.receive("1").identifier == first.identifier)
        fixture.clock.advance(by: 0.001)
        #expect(try fixture.receive("2").identifier != first.identifier)
        #expect(fixture.client.getAllNotifications().count == 2)
        let forged = try Sample.message(to: uid, secret: Sample.challenge)
        #expect(throws: CryptoError.invalidJWT) { try fixture.client.handleMessage("3", forged) }
        let foreign = try Sample.message(to: "another mechanism")
        #expect { try fixture.client.handleMessage("3", foreign) } throws: { ($0 as? any CodedFRError)?.code == 1_100_002 }
        #expect(throws: CryptoError.invalidJWT) { try fixture.client.handleMessage("3", "a.b") }
        #expect(throws: CryptoError.failToConvertData) { try fixture.client.handleMessage("3", "a.b.c") }
        #expect { try fixture.client.handleMessage([:]) } throws: { ($0 as? any CodedFRError)?.code == 7_000_000 }
        #expect(fixture.client.getAllNotifications().count == 2)
    }

    @Test("Messages to two mechanisms with the same message id are two notifications")
    func keepsMessagesOfTwoMechanismsWithSameID() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try await fixture.enrollBoth()
        let other = Sample.push.replacing("mira", with: "noor").replacing("REGISTER:1", with: "REGISTER:2")
        let second = try #require(try await fixture.client.createMechanismFromUri(other) as? PushMechanism)
        let first = try fixture.receive("1")
        let notification = try fixture.client.handleMessage("1", try Sample.message(to: second.mechanismUUID))
        #expect(notification.identifier != first.identifier)
        #expect(fixture.client.getAllNotifications().count == 2)
        #expect(fixture.client.getMechanism(notification: notification)?.accountName == "noor")
    }

    @Test("A user approves by number or by biometrics, and a wrong number or method is refused")
    func approvesByNumberAndByBiometrics() async throws {
        let sensor = Sensor()
        let fixture = try ClientFixture(RecordingClient(ClientRecording()), presence: sensor)
        try await fixture.enrollBoth()
        let number = try fixture.receive("1", kind: .number(choices: [34, 56, 82]))
        for wrong in ["35", "", "thirty-four"] {
            await #expect { try await number.accept(challengeResponse: wrong) } throws: {
                ($0 as? any CodedFRError)?.code == 6_000_003
            }
        }
        await #expect { try await number.accept() } throws: { ($0 as? any CodedFRError)?.code == 6_000_003 }
        try await number.accept(challengeResponse: "34")
        #expect(number.isApproved)
        await #expect(throws: PushNotificationError.self) { try await number.deny() }

        let biometric = try fixture.receive("2", kind: .biometric)
        await #expect { try await biometric.accept() } throws: { ($0 as? any CodedFRError)?.code == 6_000_003 }
        try await biometric.accept(title: "Harbor Bank", allowDeviceCredentials: true)
        #expect(sensor.prompts == ["Harbor Bank"])
        #expect(biometric.isApproved)
    }

    @Test("A biometric approval is refused when the device does not recognize the user", arguments: [true, false])
    func refusesBiometricApprovalOfUnrecognizedUser(hasSensor: Bool) async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()), presence: hasSensor ? Sensor(recognizes: false) : nil)
        try await fixture.enrollBoth()
        let notification = try fixture.receive(kind: .biometric)
        let before = fixture.transport.requests.count
        await #expect { try await notification.accept(title: "", allowDeviceCredentials: false) } throws: {
            ($0 as? any CodedFRError)?.code == 6_000_003
        }
        #expect(fixture.transport.requests.count == before)
        #expect(notification.isPending)
    }

    @Test("An answer that the server refuses or does not receive leaves the notification pending", arguments: [400, 500, nil])
    func keepsNotificationPendingWhenAnswerFails(status: Int?) async throws {
        let isUp = Tally()
        let fixture = try ClientFixture(RecordingClient(ClientRecording())) { request async throws(TransportError) in
            if isUp.value == 0 || request.url.hasSuffix("register") { return try await ClientFixture.accept(request) }
            guard let status else { throw TransportError(.connect, host: "am.example.test", "no way") }
            return HTTPResponse(status: status, body: Array("{}".utf8))
        }
        try await fixture.enrollBoth()
        let notification = try fixture.receive()
        isUp.add()
        let error = await #expect(throws: NetworkError.self) { try await notification.accept() }
        #expect(error?.code == 5_000_010)
        #expect(error?.isRetryable == (status != 400))
        #expect(notification.isPending)
        #expect(fixture.client.getNotification(identifier: notification.identifier)?.isPending == true)
    }

    @Test("Push enrollment needs a device token, and only updateDeviceToken replaces a token")
    func needsDeviceTokenForPushEnrollment() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        await #expect { try await fixture.client.createMechanismFromUri(Sample.combined) } throws: {
            ($0 as? any CodedFRError)?.code == 1_100_000
        }
        #expect(fixture.transport.requests.isEmpty)
        await #expect { try await fixture.client.updateDeviceToken("token-1") } throws: {
            ($0 as? any CodedFRError)?.code == 1_100_002
        }
        try fixture.client.registerForRemoteNotifications("token-1")
        #expect { try fixture.client.registerForRemoteNotifications("token-2") } throws: {
            ($0 as? any CodedFRError)?.code == 1_100_002
        }
        _ = try await fixture.client.createMechanismFromUri(Sample.combined)
        try await fixture.client.updateDeviceToken("token-2")
        #expect(fixture.transport.requests.last?.url.hasSuffix("_action=refresh") == true)
        // The token is stored: the next client knows it.
        let next = try ClientFixture(RecordingClient(recording))
        try next.client.registerForRemoteNotifications("token-2")
    }

    @Test("A failed device token update is sent again by the next call, even in a new process")
    func retriesFailedTokenUpdate() async throws {
        let recording = ClientRecording()
        let fails = Tally()
        let fixture = try ClientFixture(RecordingClient(recording)) { request async throws(TransportError) in
            if fails.value > 0 { throw TransportError(.connect, host: "am.example.test", "no way") }
            return try await ClientFixture.accept(request)
        }
        try await fixture.enrollBoth()
        fails.add()
        await #expect { try await fixture.client.updateDeviceToken("token-2") } throws: {
            ($0 as? any CodedFRError)?.code == 1_100_003
        }
        let next = try ClientFixture(RecordingClient(recording))
        try await next.client.updateDeviceToken("token-2")
        #expect(next.transport.requests.count == 1)
        try await next.client.updateDeviceToken("token-2")
        #expect(next.transport.requests.count == 1)
    }

    @Test("A device token update cut off by the end of the app is sent again after its next start")
    func resumesTokenUpdateAfterRestart() async throws {
        let recording = ClientRecording()
        let clock = ManualClock(Sample.start)
        let (begun, held) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let fixture = try ClientFixture(RecordingClient(recording), clock: clock) { request async throws(TransportError) in
            guard request.url.hasSuffix("refresh") else { return try await ClientFixture.accept(request) }
            // The server does not answer: this is where the app is ended.
            begun.continuation.yield()
            for await _ in held.stream {}
            throw TransportError(.cancelled, host: "am.example.test", "the app was ended")
        }
        try await fixture.enrollBoth()
        let update = Task { try await fixture.client.updateDeviceToken("token-2") }
        for await _ in begun.stream { break }
        let next = try ClientFixture(RecordingClient(recording.copy()), clock: clock)
        try await next.client.updateDeviceToken("token-2")
        #expect(next.transport.requests.count == 1)
        try await next.client.updateDeviceToken("token-2")
        #expect(next.transport.requests.count == 1)
        held.continuation.finish()
        _ = await update.result
    }

    @Test("The first device token is sent to the servers of mechanisms enrolled before it")
    func sendsFirstTokenForExistingMechanisms() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        try await fixture.enrollBoth()
        recording.begin()
        _ = recording.change("forget the token") { $0.token = nil }
        let next = try ClientFixture(RecordingClient(recording))
        try next.client.registerForRemoteNotifications("token-2")
        try await next.client.updateDeviceToken("token-2")
        let areRefreshes = next.transport.requests.map { $0.url.hasSuffix("refresh") }
        #expect(areRefreshes == [true])
    }

    @Test("An enrollment that the server refuses stores nothing, and the same URI can be used again")
    func refusedEnrollmentStoresNothing() async throws {
        let recording = ClientRecording()
        let refusals = Tally()
        let fixture = try ClientFixture(RecordingClient(recording)) { request async throws(TransportError) in
            if refusals.value == 0 {
                refusals.add()
                return HTTPResponse(status: 500)
            }
            return try await ClientFixture.accept(request)
        }
        try fixture.client.registerForRemoteNotifications("token-1")
        await #expect { try await fixture.client.createMechanismFromUri(Sample.combined) } throws: {
            ($0 as? any CodedFRError)?.code == 5_000_010
        }
        #expect(recording.content.accounts.isEmpty)
        #expect(recording.content.mechanisms.isEmpty)
        _ = try await fixture.client.createMechanismFromUri(Sample.combined)
        await #expect(throws: MechanismError.alreadyExists("Harbor Bank-mira-push")) {
            try await fixture.client.createMechanismFromUri(Sample.combined)
        }
        // A counter-based mechanism is of another type, so it is not a duplicate.
        #expect(try await fixture.client.createMechanismFromUri(Sample.hotp) is HOTPMechanism)
    }
}
