import Foundation
import PingPush
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Custom push handlers")
struct PushHandlerTests {
    @Test("Messages of another platform are verified, stored and answered by its handler", arguments: [true, false])
    func customHandlerLifeCycle(isText: Bool) async throws {
        let handler = Carrier()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.customPushHandlers = ["carrier": handler]
        }
        let client = fixture.client
        try await client.saveCredential(
            PushCredential(
                id: "bird-1", issuer: "Loft", accountName: "mira", serverEndpoint: "https://loft.example.test/push",
                sharedSecret: Sample.secret, platformName: "carrier"))
        func deliver(_ id: String, seal: String = "wax") async throws -> PushNotification? {
            if isText { return try await client.processNotification(message: "carrier|\(id)|bird-1|\(seal)") }
            return try await client.processNotification(
                messageData: ["carrier": ["id": id, "to": "bird-1", "seal": seal], "count": 2, "fraction": 0.5, "list": [true]])
        }
        await #expect {
            _ = try await deliver("1", seal: "chalk")
        } throws: {
            if case PushError.messageParsingFailed = $0 { true } else { false }
        }
        #expect(try await client.getAllNotifications().isEmpty)
        let first = try #require(try await deliver("1"))
        #expect((first.messageId, first.messageText, first.ttl, first.pushType) == ("1", "A bird has come", 60, .challenge))
        #expect(first.additionalData?["wind"] as? String == "north")
        #expect(try await deliver("1") == first)
        #expect(try await client.approveChallengeNotification(first.id, challengeResponse: "3"))
        let second = try #require(try await deliver("2"))
        #expect(try await client.denyNotification(second.id))
        #expect(try await client.setDeviceToken("token-2"))
        #expect(handler.calls == ["approve bird-1 1 3", "deny bird-1 2", "token bird-1 token-2"])
        #expect(fixture.transport.requests.isEmpty)

        handler.isRefusing.turnOn()
        let third = try #require(try await deliver("3"))
        #expect(try await !client.denyNotification(third.id), "the handler answers false")
        #expect(try await !client.approveChallengeNotification(third.id, challengeResponse: "3"))
        #expect(try await client.getPendingNotifications() == [third])
        #expect(try await !client.setDeviceToken("token-3"))
    }

    @Test("A handler registered as pingam replaces the built-in one and receives the shared secret")
    func replacesBuiltInHandler() async throws {
        let handler = Carrier()
        let fixture = try await PushClientFixture {
            $0.storage = MemoryStorage()
            $0.customPushHandlers = ["pingam": handler]
        }
        let credential = try await fixture.enroll()
        #expect(handler.calls == ["register \(credential.id) REGISTER:1 amlbcookie=01 token-1 32"])
        let notification = try #require(
            try await fixture.client.processNotification(message: "carrier|1|\(credential.id)|wax"))
        #expect(try await fixture.client.approveChallengeNotification(notification.id, challengeResponse: "3"))
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A credential whose platform has no handler cannot answer")
    func missingHandler() async throws {
        let store = AccountRecords(unsealed: MemoryStore())
        let first = try await PushClientFixture {
            $0.storage = store
            $0.customPushHandlers = ["carrier": Carrier()]
        }
        try await first.client.saveCredential(
            PushCredential(
                id: "bird-1", issuer: "Loft", accountName: "mira", serverEndpoint: "https://loft.example.test/push",
                sharedSecret: Sample.secret, platformName: "carrier"))
        let notification = try #require(try await first.client.processNotification(message: "carrier|1|bird-1|wax"))
        let second = try await PushClientFixture { $0.storage = store }
        #expect(try await second.client.processNotification(message: "carrier|2|bird-1|wax") == nil)
        await #expect {
            _ = try await second.client.denyNotification(notification.id)
        } throws: {
            if case PushError.noHandlerForPlatform = $0 { true } else { false }
        }
    }

    @Test("A handler without its own verification uses HS256 with the shared secret")
    func defaultVerification() throws {
        let credential = PushCredential(
            id: "1", issuer: "X", accountName: "mira", serverEndpoint: "https://am.example.test/push",
            sharedSecret: Sample.secret)
        let message = try PushClientFixture.message(to: "1")
        let forged = try PushClientFixture.message(to: "1", secret: Secret([UInt8](repeating: 7, count: 32)))
        let handler = Plain()
        #expect(try handler.verify(messageData: message, credential: credential))
        #expect(try !handler.verify(messageData: forged, credential: credential))
        #expect(try !handler.verify(messageData: [:], credential: credential))
        #expect(try !handler.verify(message: "hello", credential: credential))
    }
}

/// A platform whose messages are `carrier|id|credential|seal`.
private final class Carrier: PushHandler {
    struct Strange: Error {}
    let isRefusing = Toggle()
    private let log = Mutex<[String]>([])
    var calls: [String] { log.withLock { $0 } }

    private func record(_ call: String) -> Bool {
        log.withLock { $0.append(call) }
        return !isRefusing.isOn
    }

    func canHandle(messageData: [String: Any]) -> Bool { messageData["carrier"] is [String: Any] }
    func canHandle(message: String) -> Bool { message.hasPrefix("carrier|") }

    func parseMessage(messageData: [String: Any]) throws -> [String: Any] {
        guard let bird = messageData["carrier"] as? [String: Any], messageData["count"] as? Int == 2,
            messageData["fraction"] as? Double == 0.5, messageData["list"] as? [Bool] == [true]
        else { throw Strange() }
        return parsed(bird["id"] as? String, bird["to"] as? String)
    }

    func parseMessage(message: String) throws -> [String: Any] {
        let parts = message.split(separator: "|").map(String.init)
        return parsed(parts[1], parts[2])
    }

    private func parsed(_ id: String?, _ credential: String?) -> [String: Any] {
        var parsed: [String: Any] = [
            "messageText": "A bird has come", "ttl": 60, "pushType": "challenge", "numbersChallenge": "1,2,3",
            "additionalData": ["wind": "north"],
        ]
        parsed["messageId"] = id
        parsed["credentialId"] = credential
        return parsed
    }

    func verify(messageData: [String: Any], credential: PushCredential) throws -> Bool {
        (messageData["carrier"] as? [String: Any])?["seal"] as? String == "wax"
    }

    func verify(message: String, credential: PushCredential) throws -> Bool { message.hasSuffix("|wax") }

    func sendApproval(credential: PushCredential, notification: PushNotification, params: [String: Any]) async throws -> Bool {
        record("approve \(credential.id) \(notification.messageId) \(params["challengeResponse"] as? String ?? "")")
    }

    func sendDenial(credential: PushCredential, notification: PushNotification, params: [String: Any]) async throws -> Bool {
        record("deny \(credential.id) \(notification.messageId)")
    }

    func setDeviceToken(credential: PushCredential, deviceToken: String, params: [String: Any]) async throws -> Bool {
        record("token \(credential.id) \(deviceToken)")
    }

    func register(credential: PushCredential, params: [String: Any]) async throws -> Bool {
        let length = credential.withSharedSecret { $0.count } ?? 0
        let values = ["messageId", "amlbCookie", "deviceId"].map { params[$0] as? String ?? "" }.joined(separator: " ")
        return record("register \(credential.id) \(values) \(length)")
    }
}

/// A platform that uses the default implementations.
private final class Plain: PushHandler {
    func canHandle(messageData: [String: Any]) -> Bool { true }
    func canHandle(message: String) -> Bool { true }
    func parseMessage(messageData: [String: Any]) throws -> [String: Any] { [:] }
    func parseMessage(message: String) throws -> [String: Any] { [:] }
    func sendApproval(credential: PushCredential, notification: PushNotification, params: [String: Any]) async throws -> Bool {
        true
    }
    func sendDenial(credential: PushCredential, notification: PushNotification, params: [String: Any]) async throws -> Bool {
        true
    }
    func setDeviceToken(credential: PushCredential, deviceToken: String, params: [String: Any]) async throws -> Bool { true }
    func register(credential: PushCredential, params: [String: Any]) async throws -> Bool { true }
}
