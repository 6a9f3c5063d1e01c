import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Tests of the names and shapes of the ForgeRock SDK for Android.
@Suite("Names of the Android SDK")
struct AndroidTests {
    @Test("A storage client whose methods have no labels stores everything that an enrollment and a message need")
    func storesInClientWithoutLabels() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(LabelFreeClient(recording), platform: .android)
        let (account, totp, push) = try await fixture.enrollBoth()
        #expect(account.identifier == Sample.identifier)
        #expect(try totp.generateCode().code.count == 6)
        let notification = try fixture.receive()
        try await notification.accept()
        #expect(fixture.client.getNotification(identifier: notification.identifier)?.isApproved == true)
        #expect(try PushDeviceToken.fromJson(recording.content.token ?? "").tokenId == "token-1")
        #expect(recording.calls.contains("getMechanismByUUID"))
        #expect(fixture.client.removeMechanism(mechanism: push) && fixture.client.removeMechanism(mechanism: totp))
        #expect(recording.content.accounts.isEmpty && recording.content.notifications.isEmpty)
    }

    @Test("The SDK calls a client's own getMechanismByUUID, and getMechanismForUUID when it has none")
    func callsOwnGetMechanismByUUID() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        let totp = try await fixture.client.createMechanismFromUri(Sample.totp)
        recording.begin()
        #expect(fixture.client.getMechanismByUUID(totp.mechanismUUID)?.identifier == totp.identifier)
        #expect(recording.calls == ["getMechanismForUUID"])
    }

    @Test("The builder's device token is stored by the start, and a changed one is sent to servers")
    func startsWithDeviceToken() async throws {
        let recording = ClientRecording()
        let transport = ScriptedTransport(ClientFixture.accept)
        func start(_ token: String) async throws -> FRAClient {
            try await FRAClientBuilder(ClientFixture.settings(transport, ManualClock(Sample.start), .android))
                .withStorage(RecordingClient(recording)).withDeviceToken(token).start()
        }
        let client = try await start("token-1")
        // Ends after the update that the start began.
        await #expect(throws: PushNotificationError.self) { try await client.updateDeviceToken("token-1") }
        #expect(try await client.createMechanismFromUri(Sample.push) is PushMechanism)
        #expect(transport.requests.count == 1)
        let next = try await start("token-2")
        #expect(try PushDeviceToken.fromJson(recording.content.token ?? "").tokenId == "token-2")
        // A repeated update ends after the one that the start began.
        try await next.updateDeviceToken("token-2")
        #expect(transport.requests.last?.url.hasSuffix("_action=refresh") == true)
        #expect(transport.requests.count == 2)
    }

    @Test("Push types have the names of the Android SDK, and codes and JSON keep those of the iOS SDK")
    func namesPushTypes() {
        let types = [PushType.DEFAULT, PushType.CHALLENGE, PushType.BIOMETRIC]
        #expect(types == [.default, .challenge, .biometric])
        #expect(types.map(\.rawValue) == ["default", "challenge", "biometric"])
        #expect(PushType.allCases.count == 3)
    }
}

/// A storage client in the form of the Android SDK, which keeps JSON in memory.
private final class LabelFreeClient: AndroidStorageClient {
    private let recording: ClientRecording

    init(_ recording: ClientRecording) {
        self.recording = recording
    }

    private var mechanisms: [Mechanism] { recording.content.mechanisms.values.compactMap { try? Mechanisms.fromJson($0) } }
    private var notifications: [PushNotification] {
        recording.content.notifications.values.compactMap { try? PushNotification.fromJson($0) }
    }

    func getAccount(_ accountId: String) -> Account? {
        recording.content.accounts[accountId].flatMap { try? Account.fromJson($0) }
    }
    func getAllAccounts() -> [Account] { recording.content.accounts.values.compactMap { try? Account.fromJson($0) } }
    func removeAccount(_ account: Account) -> Bool {
        recording.change("removeAccount") { $0.accounts[account.identifier] = nil }
    }
    func setAccount(_ account: Account) -> Bool {
        recording.change("setAccount") { $0.accounts[account.identifier] = account.toJson() }
    }
    func getMechanismsForAccount(_ account: Account) -> [Mechanism] {
        mechanisms.filter { $0.accountIdentifier == account.identifier }
    }
    func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? {
        recording.record("getMechanismByUUID")
        return mechanisms.first { $0.mechanismUUID == mechanismUID }
    }
    func removeMechanism(_ mechanism: Mechanism) -> Bool {
        recording.change("removeMechanism") { $0.mechanisms[mechanism.identifier] = nil }
    }
    func setMechanism(_ mechanism: Mechanism) -> Bool {
        recording.change("setMechanism") { $0.mechanisms[mechanism.identifier] = mechanism.toJson() }
    }
    func getAllNotificationsForMechanism(_ mechanism: Mechanism) -> [PushNotification] {
        notifications.filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }
    func removeNotification(_ pushNotification: PushNotification) -> Bool {
        recording.change("removeNotification") { $0.notifications[pushNotification.identifier] = nil }
    }
    func setNotification(_ pushNotification: PushNotification) -> Bool {
        recording.change("setNotification") { $0.notifications[pushNotification.identifier] = pushNotification.toJson() }
    }
    func isEmpty() -> Bool { recording.content.accounts.isEmpty }
    func setPushDeviceToken(_ pushDeviceToken: PushDeviceToken) -> Bool {
        recording.change("setPushDeviceToken") { $0.token = pushDeviceToken.toJson() }
    }
    func getPushDeviceToken() -> PushDeviceToken? { recording.content.token.flatMap { try? PushDeviceToken.fromJson($0) } }
}
