import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

/// Calls that the ForgeRock SDK answers before `FRAClient.start()`; each test has an `FRAProcess` of its own.
@Suite("Calls before the start")
struct BeforeStartTests {
    private static let application = "any application"
    private static let token = Data([0xAB, 0x01])
    private static let totp =
        #"{"type":"otpauth","oathType":"totp","mechanismUID":"u","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1}"#
    private static let hotp =
        #"{"type":"otpauth","oathType":"hotp","mechanismUID":"h","issuer":"i","accountName":"a","secret":"KDJ7CDBN","timeAdded":1,"counter":7}"#

    /// Settings with a directory in which no vault can be opened or created, unless another one is given.
    private static func settings(vault: String = "/dev/null/vault") -> LegacySettings {
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.vault = VaultDirectory(path: vault)
        return settings
    }

    @Test("A device token from before the start is known at once, stored by the start and used by an enrollment")
    func keepsDeviceTokenUntilStart() async throws {
        try await FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            let handler = FRAPushHandler.shared
            #expect(handler.deviceToken == nil)
            handler.application(Self.application, didRegisterForRemoteNotificationsWithDeviceToken: Self.token)
            #expect(handler.deviceToken == "AB01")
            let recording = ClientRecording()
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            #expect(recording.content.token == nil)
            await FRAClient.start()
            #expect(handler.deviceToken == "AB01")
            #expect(try PushDeviceToken.fromJson(recording.content.token ?? "").tokenId == "AB01")
            let client = try #require(FRAClient.shared)
            #expect(try await client.createMechanismFromUri(Sample.push) is PushMechanism)
        }
    }

    @Test("A failed registration before the start forgets the token, and the start removes a stored one")
    func forgetsDeviceTokenBeforeStart() async throws {
        try await FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            let handler = FRAPushHandler.shared
            handler.application(Self.application, didRegisterForRemoteNotificationsWithDeviceToken: Self.token)
            handler.application(Self.application, didFailToRegisterForRemoteNotificationsWithError: Unexpected())
            #expect(handler.deviceToken == nil)
            let recording = ClientRecording()
            _ = recording.change("add") { $0.token = #"{"tokenId":"OLD","timeAdded":1}"# }
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            await FRAClient.start()
            #expect(handler.deviceToken == nil && recording.content.token == nil)
        }
    }

    @Test("An empty device token is read back before the start and never stored")
    func neverStoresEmptyDeviceToken() async throws {
        try await FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            let handler = FRAPushHandler.shared
            handler.application(Self.application, didRegisterForRemoteNotificationsWithDeviceToken: Data())
            #expect(handler.deviceToken == "")
            let recording = ClientRecording()
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            await FRAClient.start()
            handler.application(Self.application, didRegisterForRemoteNotificationsWithDeviceToken: Data())
            #expect(handler.deviceToken == nil && recording.content.token == nil)
        }
    }

    @Test("A push message is received before the start, with the app's storage client")
    func receivesMessageBeforeStart() async throws {
        let recording = ClientRecording()
        let push = try await ClientFixture(RecordingClient(recording)).enrollBoth().push
        let message = try Sample.message(to: push.mechanismUUID)
        try await FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            let received = FRAPushHandler.shared.application(
                Self.application, didReceiveRemoteNotification: ["aps": ["messageId": "1", "data": message]])
            let notification = try #require(received)
            #expect(FRAClient.shared == nil && recording.content.notifications.count == 1)
            try await notification.accept()
            await FRAClient.start()
            #expect(FRAClient.shared?.getNotification(identifier: notification.identifier)?.isApproved == true)
        }
    }

    @Test("A message that cannot be received before the start gives nil and the reason")
    func reportsUnreadableStoreBeforeStart() throws {
        FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            let handler = FRAPushHandler.shared
            #expect(handler.application(Self.application, didReceiveRemoteNotification: ["aps": ["alert": "hello"]]) == nil)
            #expect(FRAClient.lastStorageError == nil)
            #expect(
                handler.application(
                    Self.application, didReceiveRemoteNotification: ["aps": ["messageId": "1", "data": "a.b.c"]]) == nil)
            #expect((FRAClient.lastStorageError as? StoreError)?.code == .insecurePermissions)
        }
    }

    @Test("A message that lacks a part, or that no mechanism of the store is for, gives nil and is not stored")
    func refusesUnusableMessages() throws {
        let claims = ["c": "Y2hhbGxlbmdl", "t": "120", "u": "unknown", "l": "YW1sYmNvb2tpZT0wMQ=="]
        func message(without name: String?) throws -> String {
            let payload = JSONValue.object(claims.filter { $0.key != name }.mapValues { .string($0) })
            return CompactJWS.sign(JSON.encode(payload), with: Secret(try Base64.decode(Sample.secret)))
        }
        var deliveries: [[String: Any]] = [["data": try message(without: nil)], ["messageId": "1", "data": "non-jwt"]]
        for name in [nil, "c", "t", "u", "l"] { deliveries.append(["messageId": "1", "data": try message(without: name)]) }
        try FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            let recording = ClientRecording()
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            for delivery in deliveries {
                let received = FRAPushHandler.shared.application(
                    Self.application, didReceiveRemoteNotification: ["aps": delivery])
                #expect(received == nil)
            }
            #expect(recording.content.notifications.isEmpty)
        }
    }

    @Test("A decoded time-based mechanism gives codes without a vault, and respects a lock that the storage client has")
    func generatesCodeOfDecodedTOTP() async throws {
        let mechanism = try #require(try Mechanisms.fromJson(Self.totp) as? TOTPMechanism)
        try await TemporaryDirectory.with { directory in
            try await FRAProcess.$current.withValue(FRAProcess(Self.settings(vault: directory.file("home/signet")))) {
                let code = try mechanism.generateCode()
                #expect(code.code.count == 6 && code.start == Sample.start.timeIntervalSince1970)
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
                let recording = ClientRecording()
                try FRAClient.setStorage(storage: RecordingClient(recording)).get()
                #expect(try mechanism.generateCode() == code)
                _ = recording.change("lock") {
                    $0.accounts["i-a"] = #"{"issuer":"i","accountName":"a","timeAdded":1,"lock":true,"lockingPolicy":"custom"}"#
                }
                #expect(throws: AccountError.accountLocked("custom")) { try mechanism.generateCode() }
                await FRAClient.start()
                #expect(throws: AccountError.accountLocked("custom")) { try mechanism.generateCode() }
                #expect(recording.content.mechanisms.isEmpty)
            }
        }
    }

    @Test("A decoded counter-based mechanism is stored with its new counter before it gives a code")
    func generatesCodeOfDecodedHOTP() throws {
        let mechanism = try #require(try Mechanisms.fromJson(Self.hotp) as? HOTPMechanism)
        try FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            #expect(throws: FRAError.self) { try mechanism.generateCode() }
            let recording = ClientRecording()
            try FRAClient.setStorage(storage: RecordingClient(recording)).get()
            let first = try mechanism.generateCode()
            #expect(mechanism.counter == 8)
            let stored = try #require(recording.content.mechanisms["i-a-hotp"])
            #expect((try Mechanisms.fromJson(stored) as? HOTPMechanism)?.counter == 8)
            #expect(recording.content.accounts.keys.sorted() == ["i-a"])
            #expect(try mechanism.generateCode() != first && mechanism.counter == 9)
            // Another mechanism of this type would take the place of the stored one.
            let other = Self.hotp.replacing(#""mechanismUID":"h""#, with: #""mechanismUID":"other""#)
            let unstored = try #require(try Mechanisms.fromJson(other) as? HOTPMechanism)
            #expect(throws: (any Error).self) { try unstored.generateCode() }
            #expect(recording.content.mechanisms.count == 1)
        }
    }

    @Test("An app that sets the shared client to nil can change the settings and start again")
    func startsAgainAfterReset() throws {
        try FRAProcess.$current.withValue(FRAProcess(Self.settings())) {
            #expect(FRAClient.shared == nil)
            try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            FRAClient.start()
            let first = try #require(FRAClient.shared)
            #expect(throws: FRAError.invalidStateForChangingStorage) {
                try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            }
            FRAClient.shared = nil
            try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            FRAClient.start()
            #expect(FRAClient.shared != nil && FRAClient.shared != first)
        }
    }
}
