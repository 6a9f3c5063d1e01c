import Foundation
import PingPush
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("A push client over an app's PushStorage")
struct PushStorageTests {
    private static func credential(
        _ id: String = "c-1", secret: String = Sample.secret, endpoint: String = "https://am.example.test/push",
        lockingPolicy: String? = nil, policies: String? = nil
    ) -> PushCredential {
        PushCredential(
            id: id, issuer: "Harbor Bank", accountName: "mira", serverEndpoint: endpoint, sharedSecret: secret,
            policies: policies,
            lockingPolicy: lockingPolicy, isLocked: lockingPolicy != nil, additionalData: ["color": "blue"])
    }

    private static func notification(
        _ id: String, to credential: String = "c-1", type: PushType = .default, challenge: String? = "Y2hhbGxlbmdl",
        age: Double = 0
    ) -> PushNotification {
        PushNotification(
            id: id, credentialId: credential, ttl: 120, messageId: "m-\(id)", challenge: challenge, pushType: type,
            createdAt: Sample.start.addingTimeInterval(-age), additionalData: ["source": "app"])
    }

    private static func fixture(
        _ storage: any PushStorage, handler: Answering? = nil, configure: (PushConfiguration) -> Void = { _ in }
    ) async throws -> PushClientFixture {
        try await PushClientFixture {
            $0.storage = storage
            if let handler { $0.customPushHandlers = [PushPlatform.pingAM.rawValue: handler] }
            configure($0)
        }
    }

    @Test("A registration, a message and an answer are kept in the app's storage")
    func keepsFlow() async throws {
        let storage = ListStorage()
        let fixture = try await Self.fixture(storage)
        let credential = try await fixture.enroll()
        #expect(await storage.credentials.map(\.id) == [credential.id])
        #expect(await storage.token?.token == "token-1")
        let data = try PushClientFixture.message(to: credential.id, userID: "user-7")
        let notification = try #require(try await fixture.client.processNotification(messageData: data))
        #expect(try await fixture.client.processNotification(messageData: data) == notification)
        #expect(await storage.notifications == [notification])
        #expect(await storage.credentials.map(\.userId) == ["user-7"])
        #expect(try await fixture.client.approveNotification(notification.id))
        let answered = try #require(await storage.notifications.first)
        #expect(answered.approved && !answered.pending && answered.respondedAt == Sample.start)
        #expect(try await fixture.client.deleteCredential(credentialId: credential.id))
        #expect(await storage.credentials.isEmpty)
        #expect(await storage.notifications.isEmpty)
    }

    @Test("A credential is saved, read and deleted in the app's storage")
    func savesCredential() async throws {
        let storage = ListStorage()
        let client = try await Self.fixture(storage).client
        #expect(try await client.saveCredential(Self.credential()).id == "c-1")
        #expect(try await client.getCredentials().map(\.id) == ["c-1"])
        var changed = try #require(try await client.getCredential(credentialId: "c-1"))
        changed.displayIssuer = "The bank"
        try await client.saveCredential(changed)
        #expect(await storage.credentials.map(\.displayIssuer) == ["The bank"])
        #expect(try await client.deleteCredential(credentialId: "c-1"))
        #expect(try await !client.deleteCredential(credentialId: "c-1"))
        #expect(try await client.getCredential(credentialId: "c-1") == nil)
    }

    @Test("A credential of the app's storage keeps its secret in JSON, so that the storage can keep it on disk")
    func secretSurvivesJSON() async throws {
        let storage = ListStorage()
        let client = try await Self.fixture(storage).client
        let credential = try await PushClientFixture { $0.storage = storage }.enroll()
        let stored = try #require(await storage.credentials.first)
        let copy = try JSONDecoder().decode(PushCredential.self, from: JSONEncoder().encode(stored))
        #expect(copy == stored)
        #expect(try await copy.toUri() == stored.toUri())
        let returned = try #require(try await client.getCredential(credentialId: credential.id))
        #expect(try String(decoding: JSONEncoder().encode(returned), as: UTF8.self).contains("sharedSecret"))
        let vaulted = try await PushClientFixture().enroll()
        #expect(try !String(decoding: JSONEncoder().encode(vaulted), as: UTF8.self).contains("sharedSecret"))
    }

    @Test("A short secret is refused when a credential is saved, and when one from the storage is to sign")
    func refusesShortSecrets() async throws {
        let storage = ListStorage()
        let fixture = try await Self.fixture(storage)
        await #expect {
            try await fixture.client.saveCredential(Self.credential(secret: "secret"))
        } throws: {
            if case PushError.invalidParameterValue = $0 { true } else { false }
        }
        let cases = [
            Self.credential("c-1", secret: "secret"), Self.credential("c-2", endpoint: "http://am.example.test/push"),
        ]
        for credential in cases {
            try await storage.storePushCredential(credential)
            try await storage.storePushNotification(Self.notification("n-\(credential.id)", to: credential.id))
            await #expect {
                try await fixture.client.approveNotification("n-\(credential.id)")
            } throws: {
                if case PushError.invalidParameterValue = $0 { true } else { false }
            }
        }
        try await storage.storePushCredential(Self.credential("c-3"))
        try await storage.storePushNotification(Self.notification("n-3", to: "c-3", challenge: nil))
        await #expect {
            try await fixture.client.approveNotification("n-3")
        } throws: {
            if case PushError.invalidParameterValue(let text) = $0 { text.contains("challenge") } else { false }
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("Notifications of the app's storage are listed, answered and counted by the client")
    func readsNotifications() async throws {
        let storage = ListStorage()
        let fixture = try await Self.fixture(storage) { $0.notificationCleanupConfig = .countBased(maxNotifications: 2) }
        let client = fixture.client
        try await client.saveCredential(Self.credential())
        var denied = Self.notification("n-2", age: 10)
        denied.markDenied()
        for notification in [Self.notification("n-1"), denied, Self.notification("n-3", age: 300)] {
            try await storage.storePushNotification(notification)
        }
        #expect(try await client.getAllNotifications().map(\.id) == ["n-1", "n-2", "n-3"])
        #expect(try await client.getPendingNotifications().map(\.id) == ["n-1"], "n-2 was denied, and n-3 has expired")
        let expired = try await client.getNotification(notificationId: "n-3")
        #expect(expired?.isExpired == true && expired?.messageId == "m-n-3")
        #expect(try await client.getNotification(notificationId: "nobody") == nil)
        #expect(try await client.cleanupNotifications() == 1)
        #expect(await storage.notifications.map(\.id).sorted() == ["n-1", "n-2"])
    }

    @Test("An answer is passed to the handler and stored with the decision", arguments: [true, false])
    func answersByHandler(isApproving: Bool) async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await client.saveCredential(Self.credential())
        try await storage.storePushNotification(Self.notification("n-1", challenge: nil))
        let isDone = try await isApproving ? client.approveNotification("n-1") : client.denyNotification("n-1")
        #expect(isDone)
        #expect(await handler.calls.all == [isApproving ? "approve n-1 - -" : "deny n-1"])
        let stored = try #require(await storage.notifications.first)
        #expect(stored.approved == isApproving && !stored.pending && stored.respondedAt != nil)
        #expect(stored.additionalData?["source"] as? String == "app", "what only the app's value has stays")
    }

    @Test("The number and the recognition method of an approval reach the handler without white space")
    func passesParameters() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await client.saveCredential(Self.credential())
        try await storage.storePushNotification(Self.notification("n-1", type: .challenge))
        try await storage.storePushNotification(Self.notification("n-2", type: .biometric))
        #expect(try await client.approveChallengeNotification("n-1", challengeResponse: " 4321 "))
        #expect(try await client.approveBiometricNotification("n-2", authenticationMethod: " face "))
        #expect(await handler.calls.all == ["approve n-1 4321 -", "approve n-2 - face"])
        for blank in ["", "   "] {
            await #expect {
                try await client.approveChallengeNotification("n-1", challengeResponse: blank)
            } throws: {
                if case PushError.invalidParameterValue = $0 { true } else { false }
            }
        }
    }

    @Test("After a handler has answered false, the client's methods return false and the notification stays pending")
    func handlerAnswersFalse() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await client.saveCredential(Self.credential())
        try await storage.storePushNotification(Self.notification("n-1"))
        await handler.calls.refuse()
        #expect(try await !client.approveNotification("n-1"))
        #expect(try await !client.denyNotification("n-1"))
        #expect(try await !client.setDeviceToken("token-2"))
        #expect(await storage.notifications.map(\.pending) == [true])
        await #expect(throws: PushError.self) { try await client.addCredentialFromUri(Sample.push) }
        #expect(await storage.credentials.count == 1)
    }

    @Test("An error of a handler is passed on, and the notification stays pending")
    func handlerFails() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await client.saveCredential(Self.credential())
        try await storage.storePushNotification(Self.notification("n-1"))
        await handler.calls.fail()
        await #expect(throws: Calls.Failure.self) { try await client.approveNotification("n-1") }
        #expect(await storage.notifications.map(\.pending) == [true])
    }

    @Test("The device token is stored, told to the handler of each credential, and not told twice")
    func sendsTokenToHandlersOnce() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await client.saveCredential(Self.credential())
        #expect(try await client.setDeviceToken("token-1"))
        #expect(try await client.setDeviceToken("token-2", credentialId: "c-1"))
        #expect(try await client.setDeviceToken("token-2"))
        #expect(await handler.calls.all == ["token c-1 token-1", "token c-1 token-2"])
        #expect(await storage.token?.token == "token-2")
        #expect(try await client.getDeviceToken() == "token-2")
    }

    @Test("A locked credential of the app's storage cannot answer, and keeps its lock")
    func lockedCredential() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        try await storage.storePushCredential(Self.credential(lockingPolicy: "byApp"))
        try await storage.storePushNotification(Self.notification("n-1"))
        for isApproving in [true, false] {
            await #expect {
                _ = try await isApproving ? client.approveNotification("n-1") : client.denyNotification("n-1")
            } throws: {
                if case PushError.credentialLocked = $0 { true } else { false }
            }
        }
        #expect(try await client.getCredentials().map(\.lockingPolicy) == ["byApp"])
        #expect(await handler.calls.all.isEmpty)
    }

    @Test("A policy of the app locks a credential that names it")
    func policyLocks() async throws {
        let storage = ListStorage()
        let client = try await Self.fixture(storage) { config in
            config.policyEvaluator = MfaPolicyEvaluator.create { $0.policies = [Unmet()] }
        }.client
        let saved = try await client.saveCredential(Self.credential(policies: #"{"unmet":{}}"#))
        #expect(saved.isLocked && saved.lockingPolicy == "unmet")
        #expect(try await client.getCredentials().map(\.isLocked) == [true])
    }

    @Test("A message for an unknown credential, or one that the handler does not verify, is refused and not stored")
    func refusesMessages() async throws {
        let (storage, handler) = (ListStorage(), Answering())
        let client = try await Self.fixture(storage, handler: handler).client
        await #expect {
            _ = try await client.processNotification(messageData: ["message": "payload"])
        } throws: {
            if case PushError.credentialNotFound = $0 { true } else { false }
        }
        try await client.saveCredential(Self.credential())
        await #expect {
            _ = try await client.processNotification(messageData: ["message": "payload"])
        } throws: {
            if case PushError.messageParsingFailed = $0 { true } else { false }
        }
        #expect(await storage.notifications.isEmpty)
    }

    @Test("A failure of the app's storage is a storageFailure, and nothing is lost")
    func storageFails() async throws {
        let storage = ListStorage()
        let client = try await Self.fixture(storage).client
        try await client.saveCredential(Self.credential())
        await storage.breakDown(true)
        await #expect {
            _ = try await client.getCredentials()
        } throws: {
            if case PushError.storageFailure = $0 { true } else { false }
        }
        await storage.breakDown(false)
        #expect(try await client.getCredentials().count == 1)
    }
}

/// A policy that no device meets.
private struct Unmet: MfaPolicy {
    let name = "unmet"
    func evaluate(data: [String: Any]?) async throws -> Bool { false }
}

/// The calls of a handler, and how it answers.
actor Calls {
    struct Failure: Error {}
    private(set) var all: [String] = []
    private var isRefusing = false
    private var isFailing = false

    func refuse() { isRefusing = true }
    func fail() { isFailing = true }

    func record(_ call: String) throws -> Bool {
        if isFailing { throw Failure() }
        if !isRefusing { all.append(call) }
        return !isRefusing
    }
}

/// A handler as an app of the Ping SDK writes it.
final class Answering: PushHandler {
    let calls = Calls()

    func canHandle(messageData: [String: Any]) -> Bool { true }
    func canHandle(message: String) -> Bool { true }
    func parseMessage(messageData: [String: Any]) throws -> [String: Any] { ["credentialId": "c-1", "messageId": "m-1"] }
    func parseMessage(message: String) throws -> [String: Any] { ["credentialId": "c-1", "messageId": "m-1"] }

    func sendApproval(
        credential: PushCredential, notification: PushNotification, params: [String: Any]
    ) async throws -> Bool {
        let number = params["challengeResponse"] as? String ?? "-"
        let method = params["authenticationMethod"] as? String ?? "-"
        return try await calls.record("approve \(notification.id) \(number) \(method)")
    }

    func sendDenial(credential: PushCredential, notification: PushNotification, params: [String: Any]) async throws -> Bool {
        try await calls.record("deny \(notification.id)")
    }

    func setDeviceToken(credential: PushCredential, deviceToken: String, params: [String: Any]) async throws -> Bool {
        try await calls.record("token \(credential.id) \(deviceToken)")
    }

    func register(credential: PushCredential, params: [String: Any]) async throws -> Bool {
        try await calls.record("register \(credential.id)")
    }
}

/// A push storage as an app writes it.
actor ListStorage: PushStorage {
    struct Broken: Error {}
    private(set) var credentials: [PushCredential] = []
    private(set) var notifications: [PushNotification] = []
    private(set) var token: PushDeviceToken?
    private var isBroken = false

    func breakDown(_ isBroken: Bool) { self.isBroken = isBroken }

    func storePushCredential(_ credential: PushCredential) async throws {
        credentials = credentials.filter { $0.id != credential.id } + [credential]
    }
    func getAllPushCredentials() async throws -> [PushCredential] {
        if isBroken { throw Broken() }
        return credentials
    }
    func retrievePushCredential(credentialId: String) async throws -> PushCredential? {
        credentials.first { $0.id == credentialId }
    }
    func removePushCredential(credentialId: String) async throws -> Bool {
        defer { credentials.removeAll { $0.id == credentialId } }
        return credentials.contains { $0.id == credentialId }
    }
    func clearPushCredentials() async throws { credentials = [] }
    func storePushNotification(_ notification: PushNotification) async throws {
        notifications = notifications.filter { $0.id != notification.id } + [notification]
    }
    func updatePushNotification(_ notification: PushNotification) async throws { try await storePushNotification(notification) }
    func getAllPushNotifications() async throws -> [PushNotification] { notifications }
    func getPendingPushNotifications() async throws -> [PushNotification] { notifications.filter(\.pending) }
    func retrievePushNotification(notificationId: String) async throws -> PushNotification? {
        notifications.first { $0.id == notificationId }
    }
    func getNotificationByMessageId(messageId: String) async throws -> PushNotification? {
        notifications.first { $0.messageId == messageId }
    }
    func removePushNotification(notificationId: String) async throws -> Bool {
        defer { notifications.removeAll { $0.id == notificationId } }
        return notifications.contains { $0.id == notificationId }
    }
    func removePushNotificationsForCredential(credentialId: String) async throws -> Int { 0 }
    func clearPushNotifications() async throws { notifications = [] }
    func storePushDeviceToken(_ token: PushDeviceToken) async throws { self.token = token }
    func getCurrentPushDeviceToken() async throws -> PushDeviceToken? { token }
    func clearPushDeviceTokens() async throws { token = nil }
    func countPushNotifications(credentialId: String?) async throws -> Int { notifications.count }
    func getOldestPushNotifications(limit: Int, credentialId: String?) async throws -> [PushNotification] { [] }
    func purgePushNotificationsByAge(maxAgeDays: Int, credentialId: String?) async throws -> Int { 0 }
    func purgePushNotificationsByCount(maxCount: Int, credentialId: String?) async throws -> Int { 0 }
}
