import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// The calls on a storage client and their order are those of the ForgeRock SDK (protocol/authenticator.md section 7.6).
@Suite("Calls on an app's storage client")
struct CallOrderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let operation: String
        let calls: [String]
        /// Prepares what the operation needs, and returns the operation.
        let prepare: @Sendable (ClientFixture) async throws -> @Sendable () async throws -> Void
        var testDescription: String { operation }
    }

    static let list = ["getAllAccounts", "getMechanismsForAccount", "getAllNotificationsForMechanism"]

    static let enrollment: [Row] = [
        Row(
            operation: "add OATH", calls: ["getMechanismsForAccount", "setMechanism", "getAccount", "setAccount"]
        ) { fixture in { _ = try await fixture.client.createMechanismFromUri(Sample.totp) } },
        Row(
            operation: "add push", calls: ["getMechanismsForAccount", "POST", "setMechanism", "getAccount", "setAccount"]
        ) { fixture in
            try fixture.client.registerForRemoteNotifications("token-1")
            return { _ = try await fixture.client.createMechanismFromUri(Sample.push) }
        },
        // The ForgeRock SDK stores the OATH mechanism before it registers for push, and leaves it behind when that fails or the
        // app ends meanwhile. Signet stores both mechanisms together, so each call is made once.
        Row(
            operation: "add mfauth",
            calls: ["getMechanismsForAccount", "POST", "setMechanism", "setMechanism", "getAccount", "setAccount"]
        ) { fixture in
            try fixture.client.registerForRemoteNotifications("token-1")
            return { _ = try await fixture.client.createMechanismFromUri(Sample.combined) }
        },
    ]

    static let accounts: [Row] = [
        Row(operation: "getAllAccounts", calls: list) { fixture in
            try await fixture.enrollBoth()
            return { _ = fixture.client.getAllAccounts() }
        },
        Row(
            operation: "getAccount(identifier:)",
            calls: ["getAccount", "getMechanismsForAccount", "getAllNotificationsForMechanism"]
        ) { fixture in
            try await fixture.enrollBoth()
            return { _ = fixture.client.getAccount(identifier: Sample.identifier) }
        },
        Row(
            operation: "getAccount(mechanism:)",
            calls: ["getAccount", "getMechanismsForAccount", "getAllNotificationsForMechanism"]
        ) { fixture in
            let totp = try await fixture.enrollBoth().totp
            return { _ = fixture.client.getAccount(mechanism: totp) }
        },
        Row(operation: "updateAccount", calls: ["getAccount", "setAccount"]) { fixture in
            let account = try await fixture.enrollBoth().account
            return {
                account.displayIssuer = "Harbour"
                try fixture.client.updateAccount(account: account)
            }
        },
        Row(
            operation: "removeAccount",
            calls: [
                "getAllNotificationsForMechanism", "removeNotification", "removeMechanism", "removeMechanism", "removeAccount",
            ]
        ) { fixture in
            try await fixture.enrollBoth()
            _ = try fixture.receive()
            let account = try fixture.enrolled().account
            return { fixture.client.removeAccount(account: account) }
        },
        Row(operation: "lock", calls: ["setAccount"]) { fixture in
            _ = try await fixture.client.createMechanismFromUri(Sample.totp(policies: #"{"custom":{}}"#))
            guard let account = fixture.client.getAllAccounts().first else { throw Unexpected() }
            return { try fixture.client.lockAccount(account: account, policy: NamedPolicy(name: "custom")) }
        },
        Row(operation: "unlock", calls: ["setAccount"]) { fixture in
            _ = try await fixture.client.createMechanismFromUri(Sample.totp(policies: #"{"custom":{}}"#))
            guard let account = fixture.client.getAllAccounts().first else { throw Unexpected() }
            try fixture.client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
            return { try fixture.client.unlockAccount(account: account) }
        },
    ]

    static let mechanisms: [Row] = [
        Row(operation: "getMechanism(notification:)", calls: ["getMechanismForUUID"]) { fixture in
            try await fixture.enrollBoth()
            let notification = try fixture.receive()
            return { _ = fixture.client.getMechanism(notification: notification) }
        },
        Row(
            operation: "removeMechanism, push",
            calls: ["getAllNotificationsForMechanism", "removeNotification", "removeMechanism"]
        ) { fixture in
            try await fixture.enrollBoth()
            _ = try fixture.receive()
            let push = try fixture.enrolled().push
            return { fixture.client.removeMechanism(mechanism: push) }
        },
        Row(operation: "removeMechanism, OATH", calls: ["removeMechanism"]) { fixture in
            let totp = try await fixture.enrollBoth().totp
            return { fixture.client.removeMechanism(mechanism: totp) }
        },
        Row(operation: "generateCode, TOTP", calls: ["getAccount"]) { fixture in
            let totp = try await fixture.enrollBoth().totp
            return { _ = try totp.generateCode() }
        },
        Row(operation: "generateCode, HOTP", calls: ["getAccount", "setMechanism"]) { fixture in
            let hotp = try await fixture.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism
            return { _ = try hotp?.generateCode() }
        },
        Row(
            operation: "generateCode, HOTP, twice", calls: ["getAccount", "setMechanism", "getAccount", "setMechanism"]
        ) { fixture in
            let hotp = try await fixture.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism
            return {
                _ = try hotp?.generateCode()
                _ = try hotp?.generateCode()
            }
        },
    ]

    static let push: [Row] = [
        Row(operation: "getAllNotifications(mechanism:)", calls: ["getAllNotificationsForMechanism"]) { fixture in
            let push = try await fixture.enrollBoth().push
            return { _ = fixture.client.getAllNotifications(mechanism: push) }
        },
        Row(operation: "getAllNotifications()", calls: ["getAllNotifications"]) { fixture in
            { _ = fixture.client.getAllNotifications() }
        },
        Row(operation: "getNotification(identifier:)", calls: ["getNotification"]) { fixture in
            { _ = fixture.client.getNotification(identifier: "any") }
        },
        Row(operation: "removeNotification", calls: ["removeNotification"]) { fixture in
            try await fixture.enrollBoth()
            let notification = try fixture.receive()
            return { fixture.client.removeNotification(notification: notification) }
        },
        Row(
            operation: "receive push", calls: ["getNotificationByMessageId", "getMechanismForUUID", "setNotification"]
        ) { fixture in
            let uid = try await fixture.enrollBoth().push.mechanismUUID
            return { _ = try fixture.client.handleMessage("1", try Sample.message(to: uid)) }
        },
        Row(
            operation: "receive push with a user id",
            calls: ["getNotificationByMessageId", "getMechanismForUUID", "setMechanism", "setNotification"]
        ) { fixture in
            let uid = try await fixture.enrollBoth().push.mechanismUUID
            return { _ = try fixture.client.handleMessage("1", try Sample.message(to: uid, userID: "user-7f3a")) }
        },
        Row(operation: "approve", calls: ["getMechanismForUUID", "getAccount", "POST", "setNotification"]) { fixture in
            try await fixture.enrollBoth()
            let notification = try fixture.receive()
            return { try await notification.accept() }
        },
        Row(operation: "deny", calls: ["getMechanismForUUID", "getAccount", "POST", "setNotification"]) { fixture in
            try await fixture.enrollBoth()
            let notification = try fixture.receive()
            return { try await notification.deny() }
        },
        // Servers of mechanisms enrolled before the first token, as by an import, are sent the token later.
        Row(operation: "first token", calls: ["getAllAccounts", "setPushDeviceToken"]) { fixture in
            { try fixture.client.registerForRemoteNotifications("token-1") }
        },
        // The ForgeRock SDK forgets which servers still need the token when the app ends. Signet stores the progress.
        Row(
            operation: "update all tokens",
            calls: ["setPushDeviceToken", "getAllAccounts", "getMechanismsForAccount", "POST", "setPushDeviceToken"]
        ) { fixture in
            try await fixture.enrollBoth()
            return { try await fixture.client.updateDeviceToken("token-2") }
        },
        Row(operation: "same token", calls: []) { fixture in
            try fixture.client.registerForRemoteNotifications("token-1")
            return { try fixture.client.registerForRemoteNotifications("token-1") }
        },
    ]

    @Test(
        "An operation calls the storage client in the order of the ForgeRock SDK",
        arguments: enrollment + accounts + mechanisms + push)
    func callsStorageInOrderOfForgeRockSDK(row: Row) async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording)) { request async throws(TransportError) in
            recording.record(request.method)
            return try await ClientFixture.accept(request)
        }
        let operation = try await row.prepare(fixture)
        recording.begin()
        try await operation()
        #expect(recording.calls == row.calls)
    }

    @Test("A client reads the device token once when it starts, and nothing else")
    func readsDeviceTokenAtStart() throws {
        let recording = ClientRecording()
        _ = try ClientFixture(RecordingClient(recording))
        #expect(recording.calls == ["getPushDeviceToken"])
    }

    @Test("A mechanism object reads its counter again after another object changed it")
    func readsMechanismAgainAfterChange() async throws {
        let recording = ClientRecording()
        let fixture = try ClientFixture(RecordingClient(recording))
        guard let first = try await fixture.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism,
            let second = fixture.client.getMechanismByUUID(first.mechanismUUID) as? HOTPMechanism
        else { throw Unexpected() }
        #expect(try first.generateCode().code == "099169")
        recording.begin()
        #expect(try second.generateCode().code == "802135")
        #expect(recording.calls == ["getMechanismForUUID", "getAccount", "setMechanism"])
    }
}

/// A policy with a given name and result.
struct NamedPolicy: FRAPolicy {
    let name: String
    var data: Any?
    var isMet = true

    init(name: String, isMet: Bool = true) {
        self.name = name
        self.isMet = isMet
    }

    func evaluate() -> Bool { isMet }
}
