import Foundation
import PingPush
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("PushClient", .timeLimit(.minutes(5)))
struct PushClientTests {
    @Test(
        "A push credential is registered, used, and deleted with its notifications in every kind of storage",
        arguments: ClientStorageKind.allCases)
    func pushCredentialLifeCycle(storage: ClientStorageKind) async throws {
        try await storage.with { use in
            let fixture = try await PushClientFixture { use($0.engine) }
            let client = fixture.client
            await #expect {
                try await client.addCredentialFromUri(Sample.push)
            } throws: {
                if case PushError.deviceTokenNotSet = $0 { true } else { false }
            }
            #expect(fixture.transport.requests.isEmpty)
            let credential = try await fixture.enroll()
            #expect(try await client.getDeviceToken() == "token-1")
            #expect(try await client.getCredentials() == [credential])
            #expect(credential.registrationEndpoint == Sample.endpoint + "register")
            #expect(credential.authenticationEndpoint == Sample.endpoint + "authenticate")
            #expect(credential.updateEndpoint == Sample.endpoint + "refresh")

            let data = try PushClientFixture.message(
                to: credential.id, kind: .number(choices: [34, 56, 82]), userID: "user-7f3a")
            let notification = try #require(try await client.processNotification(messageData: data))
            #expect(try await client.processNotification(messageData: data) == notification)
            #expect(try await client.getAllNotifications() == [notification])
            #expect(try await client.getPendingNotifications() == [notification])
            #expect(try await client.getNotification(notificationId: notification.id) == notification)
            #expect(try await client.getNotification(notificationId: "nobody") == nil)
            #expect(try await client.getCredential(credentialId: credential.id)?.userId == "user-7f3a")

            #expect(try await client.approveChallengeNotification(notification.id, challengeResponse: " 34 "))
            #expect(try await client.getNotification(notificationId: notification.id)?.approved == true)
            #expect(try await client.getPendingNotifications().isEmpty)
            let sent = fixture.transport.requests.count
            #expect(try await !client.denyNotification(notification.id), "the notification is already answered")
            #expect(fixture.transport.requests.count == sent)

            #expect(try await client.deleteCredential(credentialId: credential.id))
            #expect(try await !client.deleteCredential(credentialId: credential.id))
            #expect(try await client.getAllNotifications().isEmpty)
            #expect(try await client.getCredentials().isEmpty)
        }
    }

    @Test("Each request identifies the SDK, whatever an interceptor of the app sets")
    func identifiesPingSDKInPushRequests() async throws {
        let fixture = try await PushClientFixture { $0.interceptors = [Disguise()] }
        _ = try await fixture.enroll()
        #expect(fixture.transport.requests.count == 1)
        for request in fixture.transport.requests {
            #expect(request.headers.all("x-requested-with") == ["ping-sdk"])
            #expect(request.headers.all("x-requested-platform") == ["ios"])
        }
    }

    @Test("A notification exposes its values under the documented names")
    func notificationProperties() async throws {
        let fixture = try await PushClientFixture()
        let credential = try await fixture.enroll()
        let notification = try #require(
            try await fixture.client.processNotification(
                messageData: PushClientFixture.message(to: credential.id, kind: .number(choices: [34, 56, 82]))))
        #expect(notification.credentialId == credential.id && notification.messageId == "AUTHENTICATE:1")
        #expect(notification.messageText == "Login at Harbor Bank" && notification.ttl == 120)
        #expect(notification.numbersChallenge == "34,56,82" && notification.getNumbersChallenge() == [34, 56, 82])
        #expect(notification.challenge == "Y2hhbGxlbmdl" && notification.loadBalancer == "amlbcookie=02")
        #expect(notification.pushType == .challenge && notification.type == "challenge")
        #expect(notification.sentAt == Sample.start && notification.createdAt == Sample.start)
        #expect(notification.pending && !notification.approved && !notification.responded)
        #expect(notification.isExpired, "the notification was sent in 2025")
    }

    @Test("A forged message, a message for an unknown credential or an unreadable message stores nothing")
    func clientRefusesInvalidMessages() async throws {
        let fixture = try await PushClientFixture()
        let (client, credential) = (fixture.client, try await fixture.enroll())
        let forged = try PushClientFixture.message(to: credential.id, secret: Secret([UInt8](repeating: 7, count: 32)))
        await #expect {
            _ = try await client.processNotification(messageData: forged)
        } throws: {
            if case PushError.messageParsingFailed(let text) = $0 { text.contains("signature") } else { false }
        }
        let foreign = try PushClientFixture.message(to: "unknown")
        await #expect {
            _ = try await client.processNotification(messageData: foreign)
        } throws: {
            if case PushError.credentialNotFound("unknown") = $0 { true } else { false }
        }
        let unaddressed: [[String: Any]] = [
            [:], ["message": "a.b.c"], ["messageId": "1"], ["messageId": "1", "message": "hello"],
            ["messageId": "1", "message": "e30.e30.e30"], ["messageId": 1, "message": 2],
        ]
        for data in unaddressed { #expect(try await client.processNotification(messageData: data) == nil) }
        #expect(try await client.processNotification(message: "hello") == nil)
        #expect(try await client.processNotification(userInfo: ["aps": ["alert": "hi"], 7: 8]) == nil)
        #expect(try await client.getAllNotifications().isEmpty)
    }

    @Test("A message is accepted as a dictionary, as text and as a push service's userInfo")
    func acceptsMessageForms() async throws {
        let fixture = try await PushClientFixture()
        let credential = try await fixture.enroll()
        let data = try PushClientFixture.message(to: credential.id)
        let message = try #require(data["message"] as? String)
        let aps = try await fixture.client.processNotification(
            userInfo: ["aps": ["data": message, "messageId": "inside", "alert": "x"]])
        #expect(aps?.messageId == "inside")
        let above = try await fixture.client.processNotification(
            userInfo: ["aps": ["data": message, "messageId": "inside"], "messageId": "above"])
        #expect(above?.messageId == "above")
        let text = try await fixture.client.processNotification(message: message)
        let signature = try #require(message.split(separator: ".").last)
        #expect(text?.messageId == String(signature.prefix(8)))
        #expect(try await fixture.client.getAllNotifications().count == 3)
    }

    @Test(
        "Processing the same message 100 times at once stores one notification",
        arguments: [ClientStorageKind.memory, .ownStorage, .sqlite])
    func processesMessageOnce(storage: ClientStorageKind) async throws {
        try await storage.with { use in
            let fixture = try await PushClientFixture { config in
                use(config.engine)
                // A hundred calls wait for one another, however slow the machine is.
                config.timeoutMs = 600_000
            }
            let id = try await fixture.enroll().id
            let client = fixture.client
            let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await client.processNotification(messageData: PushClientFixture.message(to: id))?.id }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await client.getAllNotifications().count == 1)
        }
    }

    /// A kind of message, the user's answer, and whether it is accepted.
    static let answers: [(PushKind, String, @Sendable (PushClient, String) async throws -> Bool, Bool?)] = [
        (.tap, "approve", { try await $0.approveNotification($1) }, true),
        (.tap, "deny", { try await $0.denyNotification($1) }, true),
        (.biometric, "biometric", { try await $0.approveBiometricNotification($1, authenticationMethod: "face") }, true),
        (.biometric, "deny", { try await $0.denyNotification($1) }, true),
        (.biometric, "approve", { try await $0.approveNotification($1) }, nil),
        (.biometric, "no method", { try await $0.approveBiometricNotification($1, authenticationMethod: " ") }, nil),
        (.number(choices: [34, 56]), "34", { try await $0.approveChallengeNotification($1, challengeResponse: "34") }, true),
        (.number(choices: [34, 56]), "35", { try await $0.approveChallengeNotification($1, challengeResponse: "35") }, nil),
        (.number(choices: [34, 56]), "none", { try await $0.approveChallengeNotification($1, challengeResponse: "") }, nil),
        (.number(choices: [34, 56]), "approve", { try await $0.approveNotification($1) }, nil),
    ]

    @Test("A valid answer is sent, and an invalid one is refused before any request", arguments: answers)
    func sendsValidAnswers(
        row: (PushKind, name: String, answer: @Sendable (PushClient, String) async throws -> Bool, isSent: Bool?)
    ) async throws {
        let fixture = try await PushClientFixture()
        let credential = try await fixture.enroll()
        let notification = try #require(
            try await fixture.client.processNotification(messageData: PushClientFixture.message(to: credential.id, kind: row.0)))
        let before = fixture.transport.requests.count
        if row.isSent == true {
            #expect(try await row.answer(fixture.client, notification.id))
            #expect(fixture.transport.requests.count == before + 1)
            #expect(try await fixture.client.getNotification(notificationId: notification.id)?.approved == (row.name != "deny"))
        } else {
            await #expect {
                _ = try await row.answer(fixture.client, notification.id)
            } throws: {
                if case PushError.invalidParameterValue = $0 { true } else { false }
            }
            #expect(fixture.transport.requests.count == before)
            #expect(try await fixture.client.getPendingNotifications() == [notification])
        }
    }

    @Test("An expired notification cannot be answered: the call returns false and sends no request")
    func expiredNotificationIsNotAnswered() async throws {
        let fixture = try await PushClientFixture()
        let credential = try await fixture.enroll()
        let notification = try #require(
            try await fixture.client.processNotification(messageData: PushClientFixture.message(to: credential.id)))
        fixture.clock.advance(by: 121)
        let before = fixture.transport.requests.count
        #expect(try await !fixture.client.approveNotification(notification.id))
        #expect(try await !fixture.client.denyNotification(notification.id))
        #expect(fixture.transport.requests.count == before)
        #expect(try await fixture.client.getPendingNotifications().isEmpty)
        #expect(try await fixture.client.getAllNotifications().count == 1)
        await #expect {
            try await fixture.client.denyNotification("nobody")
        } throws: {
            if case PushError.notificationNotFound("nobody") = $0 { true } else { false }
        }
    }

    @Test(
        "A device token that a server did not accept is sent again by the next call with the same token",
        arguments: [500, 503, 401])
    func resendsRefusedDeviceToken(status: Int) async throws {
        let isRefusing = Toggle()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
        } answer: { _ in
            HTTPResponse(status: isRefusing.isOn ? status : 200)
        }
        _ = try await fixture.enroll()
        func updates() -> Int { fixture.transport.requests.filter { $0.url.hasSuffix("refresh") }.count }
        #expect(try await fixture.client.setDeviceToken("token-1"))
        #expect(updates() == 0, "the registration already sent the token")
        isRefusing.turnOn()
        #expect(try await !fixture.client.setDeviceToken("token-2"))
        #expect(try await !fixture.client.setDeviceToken("token-2"))
        #expect(updates() == 2)
        isRefusing.turnOff()
        #expect(try await fixture.client.setDeviceToken("token-2"))
        #expect(try await fixture.client.setDeviceToken("token-2"))
        #expect(updates() == 3)
        for blank in ["", " ", "\n\t"] {
            await #expect {
                try await fixture.client.setDeviceToken(blank)
            } throws: {
                if case PushError.invalidParameterValue = $0 { true } else { false }
            }
        }
        #expect(try await fixture.client.setDeviceToken(" token-2\n"), "white space is not part of the token")
        #expect(updates() == 3)
    }

    @Test("A token set for one credential is sent to its server, and to the others by the next call for all")
    func setsTokenForOneCredential() async throws {
        let fixture = try await PushClientFixture()
        let first = try await fixture.enroll()
        let second = PushCredential(
            issuer: "Other", accountName: "mira", serverEndpoint: "https://other.example.test/push", sharedSecret: Sample.secret)
        try await fixture.client.saveCredential(second)
        #expect(try await !fixture.client.setDeviceToken("token-2", credentialId: "nobody"))
        #expect(try await fixture.client.getDeviceToken() == "token-1")
        #expect(try await fixture.client.setDeviceToken("token-2", credentialId: first.id))
        #expect(fixture.transport.requests.last?.url == Sample.endpoint + "refresh")
        #expect(try await fixture.client.setDeviceToken("token-2"))
        #expect(fixture.transport.requests.suffix(1).map(\.url) == ["https://other.example.test/push?_action=refresh"])
    }

    @Test("A credential saved after the token was set receives the token with the next call")
    func sendsTokenToLaterCredential() async throws {
        let fixture = try await PushClientFixture()
        try await fixture.client.setDeviceToken("token-1")
        let saved = PushCredential(
            issuer: "Other", accountName: "mira", serverEndpoint: "https://other.example.test/push", sharedSecret: Sample.secret)
        try await fixture.client.saveCredential(saved)
        #expect(try await fixture.client.setDeviceToken("token-1"))
        #expect(fixture.transport.requests.map(\.url) == ["https://other.example.test/push?_action=refresh"])
    }

    @Test("Cleaning up the notifications of an unknown credential leaves no record behind")
    func cleanupOfUnknownCredential() async throws {
        let inner = MemoryStore()
        let fixture = try await PushClientFixture { $0.storage = AccountRecords(unsealed: inner) }
        #expect(try await fixture.client.cleanupNotifications(credentialId: "nobody") == 0)
        let left = try inner.read { (records: any RecordReader) throws(StoreError) in
            try records.records(.index, after: nil, limit: 9).count
        }
        #expect(left == 0)
    }

    @Test("A failed registration stores nothing, and the same URI can be enrolled again", arguments: [400, 404, 500])
    func retriesFailedRegistration(status: Int) async throws {
        let isRefusing = Toggle()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
        } answer: { _ throws(TransportError) in
            HTTPResponse(status: isRefusing.isOn ? status : 200)
        }
        isRefusing.turnOn()
        await #expect {
            _ = try await fixture.enroll()
        } throws: {
            if case PushError.registrationFailed = $0 { true } else { false }
        }
        #expect(try await fixture.client.getCredentials().isEmpty)
        isRefusing.turnOff()
        let credential = try await fixture.enroll()
        await #expect {
            _ = try await fixture.enroll()
        } throws: {
            guard case PushError.storageFailure(_, let cause as PushStorageError) = $0 else { return false }
            return if case .duplicateCredential(credential.id) = cause { true } else { false }
        }
    }

    @Test("A closed client refuses further calls with an error")
    func closedClientRefusesCalls() async throws {
        let fixture = try await PushClientFixture()
        let (client, credential) = (fixture.client, try await fixture.enroll())
        await client.close()
        await client.close()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await client.getCredentials() }, { _ = try await client.getDeviceToken() },
            { _ = try await client.getCredential(credentialId: credential.id) },
            { _ = try await client.saveCredential(credential) },
            { _ = try await client.setDeviceToken("t") }, { _ = try await client.addCredentialFromUri(Sample.push) },
            { _ = try await client.processNotification(messageData: [:]) },
            { _ = try await client.processNotification(message: "") },
            { _ = try await client.processNotification(userInfo: [:]) }, { _ = try await client.approveNotification("") },
            { _ = try await client.approveChallengeNotification("", challengeResponse: "") },
            { _ = try await client.approveBiometricNotification("", authenticationMethod: "") },
            { _ = try await client.denyNotification("") }, { _ = try await client.getPendingNotifications() },
            { _ = try await client.getAllNotifications() }, { _ = try await client.getNotification(notificationId: "") },
            { _ = try await client.cleanupNotifications() }, { _ = try await client.deleteCredential(credentialId: "") },
        ]
        for call in calls {
            await #expect {
                try await call()
            } throws: {
                if case PushError.notInitialized = $0 { true } else { false }
            }
        }
    }

    @Test("A client without a transport of the app opens its own connections and closes them with itself")
    func closesOwnTransport() async throws {
        let client = try await PushClient.createClient { config in
            config.storage = MemoryStorage()
            config.timeoutMs = 2000
        }
        try await client.saveCredential(
            PushCredential(
                id: "1", issuer: "X", accountName: "mira", serverEndpoint: "http://127.0.0.1:1/push", sharedSecret: Sample.secret)
        )
        let data = try PushClientFixture.message(to: "1", sentAt: SystemWallClock().now)
        let notification = try #require(try await client.processNotification(messageData: data))
        await #expect {
            _ = try await client.approveNotification(notification.id)
        } throws: {
            if case PushError.networkFailure(_, let cause as TransportError) = $0 { cause.code == .connect } else { false }
        }
        await client.close()
    }

    @Test("A client that is released without being closed ends its connections")
    func releasedClientEndsConnections() async throws {
        for _ in 0..<3 {
            let client = try await PushClient.createClient { $0.storage = MemoryStorage() }
            #expect(try await client.getDeviceToken() == nil)
        }
    }
}
