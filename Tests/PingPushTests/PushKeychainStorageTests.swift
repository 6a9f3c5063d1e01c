import Foundation
import PingPush
import SignetCore
import SignetStorage
import TestSupport
import Testing

@Suite("PushKeychainStorage")
struct PushKeychainStorageTests {
    private let store = MemoryStore()

    private func storage(_ service: String = "test", group: String? = nil) -> PushKeychainStorage {
        let store = store
        return PushKeychainStorage(
            credentialService: "\(service).credentials", notificationService: "\(service).notifications",
            tokenService: "\(service).tokens", accessGroup: group,
            in: VaultProvider { () throws(StoreError) in store })
    }

    private static func credential(_ id: String, at time: Double = 0) -> PushCredential {
        PushCredential(
            id: id, userId: "user-1", resourceId: "r-1", issuer: "Bank", displayIssuer: "The bank", accountName: "mira",
            displayAccountName: "Mira", serverEndpoint: "https://am.example.test/push", sharedSecret: "no base64 at all",
            createdAt: Date(timeIntervalSince1970: 1_700_000_000 + time), imageURL: "https://x.test/a.png",
            backgroundColor: "#FF0000", policies: #"{"a":{}}"#, lockingPolicy: "a", isLocked: true)
    }

    private static func notification(
        _ id: String, to credential: String = "c-1", ageInDays: Double = 0, pending: Bool = true
    ) -> PushNotification {
        PushNotification(
            id: id, credentialId: credential, ttl: 120, messageId: "m-\(id)", messageText: "Log in?", customPayload: "{}",
            challenge: "Y2g=", numbersChallenge: "1,2", loadBalancer: "lb=1", contextInfo: "{}", pushType: .challenge,
            createdAt: SystemWallClock().now.addingTimeInterval(-86_400 * ageInDays), pending: pending)
    }

    @Test("A storage is made with the defaults of the Ping SDK, or with names of the app")
    func createsStorageWithDefaultOrOwnNames() {
        let storages = [
            PushKeychainStorage(), PushKeychainStorage(credentialService: "a", notificationService: "b", tokenService: "c"),
            PushKeychainStorage(logger: LogManager.none, accessGroup: "com.example.group", accessibility: "ck"),
        ]
        #expect(storages.count == 3)
    }

    @Test("Credentials are stored with all values, replaced, listed by age, and removed")
    func storesPushCredentials() async throws {
        let storage = storage()
        #expect(try await storage.getAllPushCredentials().isEmpty)
        #expect(try await storage.retrievePushCredential(credentialId: "c-1") == nil)
        try await storage.storePushCredential(Self.credential("c-2", at: 1))
        try await storage.storePushCredential(Self.credential("c-1"))
        #expect(try await storage.getAllPushCredentials() == [Self.credential("c-1"), Self.credential("c-2", at: 1)])
        var changed = Self.credential("c-1")
        changed.unlockCredential()
        changed.displayIssuer = "Another"
        try await storage.storePushCredential(changed)
        let read = try #require(try await storage.retrievePushCredential(credentialId: "c-1"))
        #expect(read.displayIssuer == "Another" && !read.isLocked && read.lockingPolicy == nil)
        #expect(read.createdAt == changed.createdAt)
        #expect(try await storage.removePushCredential(credentialId: "c-1"))
        #expect(try await !storage.removePushCredential(credentialId: "c-1"))
        #expect(try await storage.retrievePushCredential(credentialId: "c-2")?.isLocked == true)
        try await storage.clearPushCredentials()
        try await storage.clearPushCredentials()
        #expect(try await storage.getAllPushCredentials().isEmpty)
    }

    @Test("Notifications are stored with all values, updated, found by their ids, and removed")
    func storesPushNotifications() async throws {
        let storage = storage()
        let first = Self.notification("n-1")
        try await storage.storePushNotification(first)
        #expect(try await storage.retrievePushNotification(notificationId: "n-1") == first)
        #expect(try await storage.getNotificationByMessageId(messageId: "m-n-1") == first)
        #expect(try await storage.retrievePushNotification(notificationId: "x") == nil)
        #expect(try await storage.getNotificationByMessageId(messageId: "x") == nil)
        var answered = first
        answered.markApproved()
        try await storage.updatePushNotification(answered)
        #expect(try await storage.retrievePushNotification(notificationId: "n-1") == answered)
        #expect(try await storage.removePushNotification(notificationId: "n-1"))
        #expect(try await !storage.removePushNotification(notificationId: "n-1"))
        for notification in [Self.notification("n-2"), Self.notification("n-3", to: "c-2"), Self.notification("n-4", to: "c-2")] {
            try await storage.storePushNotification(notification)
        }
        #expect(try await storage.removePushNotificationsForCredential(credentialId: "c-2") == 2)
        #expect(try await storage.removePushNotificationsForCredential(credentialId: "nobody") == 0)
        #expect(try await storage.getAllPushNotifications().map(\.id) == ["n-2"])
        try await storage.clearPushNotifications()
        try await storage.clearPushNotifications()
        #expect(try await storage.getAllPushNotifications().isEmpty)
    }

    @Test("Notifications are listed newest first, pending ones without the answered and expired, and counted by credential")
    func listsNotifications() async throws {
        let storage = storage()
        #expect(try await storage.getPendingPushNotifications().isEmpty)
        for notification in [
            Self.notification("n-3", ageInDays: 3), Self.notification("n-0"), Self.notification("n-2", to: "c-2", ageInDays: 2),
            Self.notification("n-1", ageInDays: 0.0001, pending: false),
        ] {
            try await storage.storePushNotification(notification)
        }
        #expect(try await storage.getAllPushNotifications().map(\.id) == ["n-0", "n-1", "n-2", "n-3"])
        #expect(try await storage.getPendingPushNotifications().map(\.id) == ["n-0"])
        #expect(try await storage.countPushNotifications(credentialId: nil) == 4)
        #expect(try await storage.countPushNotifications(credentialId: "c-2") == 1)
        #expect(try await storage.getOldestPushNotifications(limit: 2, credentialId: nil).map(\.id) == ["n-3", "n-2"])
        #expect(try await storage.getOldestPushNotifications(limit: 9, credentialId: "c-2").map(\.id) == ["n-2"])
    }

    /// The credential, the age in days or the number to keep, and the notifications that stay.
    static let purgeCases: [(credential: String?, days: Int?, count: Int?, kept: [String])] = [
        (nil, 7, nil, ["n-0", "n-5"]), ("c-2", 7, nil, ["n-0", "n-5", "n-20"]), (nil, 100, nil, ["n-0", "n-10", "n-20", "n-5"]),
        (nil, nil, 2, ["n-0", "n-5"]), ("c-2", nil, 1, ["n-0", "n-20", "n-5"]), (nil, nil, 9, ["n-0", "n-10", "n-20", "n-5"]),
    ]

    @Test("Old and surplus notifications are purged, of one credential or of all", arguments: purgeCases)
    func purgesOldAndSurplusNotifications(row: (credential: String?, days: Int?, count: Int?, kept: [String])) async throws {
        let storage = storage()
        for (age, credential) in [(0.0, "c-1"), (5, "c-2"), (10, "c-2"), (20, "c-1")] {
            try await storage.storePushNotification(Self.notification("n-\(Int(age))", to: credential, ageInDays: age))
        }
        let removed =
            if let days = row.days {
                try await storage.purgePushNotificationsByAge(maxAgeDays: days, credentialId: row.credential)
            } else {
                try await storage.purgePushNotificationsByCount(maxCount: row.count ?? 0, credentialId: row.credential)
            }
        #expect(removed == 4 - row.kept.count)
        #expect(try await storage.getAllPushNotifications().map(\.id).sorted() == row.kept.sorted())
    }

    @Test("The device token is stored, replaced and removed, and another storage of the same service reads it")
    func storesAndReplacesDeviceToken() async throws {
        let (storage, other) = (storage(), storage())
        #expect(try await storage.getCurrentPushDeviceToken() == nil)
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        try await storage.storePushDeviceToken(PushDeviceToken(token: "t-1", createdAt: time))
        #expect(try await other.getCurrentPushDeviceToken()?.createdAt == time)
        try await storage.storePushDeviceToken(PushDeviceToken(token: "t-2"))
        #expect(try await other.getCurrentPushDeviceToken()?.token == "t-2")
        try await storage.clearPushDeviceTokens()
        try await storage.clearPushDeviceTokens()
        #expect(try await other.getCurrentPushDeviceToken() == nil)
    }

    @Test("Services and access groups keep their values apart")
    func separatesPushServices() async throws {
        let storages = [storage("one"), storage("two"), storage("one", group: "g")]
        for (number, storage) in storages.enumerated() {
            try await storage.storePushCredential(Self.credential("c-\(number)"))
        }
        for (number, storage) in storages.enumerated() {
            #expect(try await storage.getAllPushCredentials().map(\.id) == ["c-\(number)"])
        }
    }

    @Test("Values that are stored at the same time are all kept")
    func storesConcurrently() async throws {
        let storage = storage()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await storage.storePushCredential(Self.credential("c-\(number)"))
                    try await storage.storePushNotification(Self.notification("n-\(number)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.getAllPushCredentials().count == 20)
        #expect(try await storage.countPushNotifications(credentialId: "c-1") == 20)
    }

    @Test("A keychain that cannot be opened is a storageFailure with the reason")
    func failingKeychain() async {
        let storage = PushKeychainStorage(
            in: VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open vault", "make one") })
        await #expect {
            _ = try await storage.getAllPushCredentials()
        } throws: {
            guard case PushStorageError.storageFailure(_, let cause as StoreError) = $0 else { return false }
            return cause.code == .noVault
        }
    }

    @Test("A client works over a PushKeychainStorage, and a second client reads what the first has stored")
    func servesClient() async throws {
        let storage = storage()
        let first = try await PushClientFixture { $0.storage = storage }
        let credential = try await first.enroll()
        let notification = try #require(
            try await first.client.processNotification(messageData: PushClientFixture.message(to: credential.id)))
        #expect(try await first.client.approveNotification(notification.id))
        let again = self.storage()
        let second = try await PushClientFixture { $0.storage = again }
        #expect(try await second.client.getCredentials().map(\.id) == [credential.id])
        #expect(try await second.client.getNotification(notificationId: notification.id)?.approved == true)
        #expect(try await second.client.getDeviceToken() == "token-1")
        let next = try await second.client.processNotification(
            messageData: PushClientFixture.message(to: credential.id, messageId: "AUTHENTICATE:2"))
        #expect(try await second.client.denyNotification(#require(next).id))
    }
}
