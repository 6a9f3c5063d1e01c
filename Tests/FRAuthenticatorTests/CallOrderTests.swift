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
        let prepare: @Sendable (Bench) async throws -> @Sendable () async throws -> Void
        var testDescription: String { operation }
    }

    static let list = ["getAllAccounts", "getMechanismsForAccount", "getAllNotificationsForMechanism"]

    static let enrollment: [Row] = [
        Row(
            operation: "add OATH", calls: ["getMechanismsForAccount", "setMechanism", "getAccount", "setAccount"]
        ) { bench in { _ = try await bench.client.createMechanismFromUri(Sample.totp) } },
        Row(
            operation: "add push", calls: ["getMechanismsForAccount", "POST", "setMechanism", "getAccount", "setAccount"]
        ) { bench in
            try bench.client.registerForRemoteNotifications("token-1")
            return { _ = try await bench.client.createMechanismFromUri(Sample.push) }
        },
        // The ForgeRock SDK stores the OATH mechanism before it registers for push, and leaves it behind when that fails or the
        // app ends meanwhile. Signet stores both mechanisms together, so each call is made once.
        Row(
            operation: "add mfauth",
            calls: ["getMechanismsForAccount", "POST", "setMechanism", "setMechanism", "getAccount", "setAccount"]
        ) { bench in
            try bench.client.registerForRemoteNotifications("token-1")
            return { _ = try await bench.client.createMechanismFromUri(Sample.combined) }
        },
    ]

    static let accounts: [Row] = [
        Row(operation: "getAllAccounts", calls: list) { bench in
            try await bench.enrollBoth()
            return { _ = bench.client.getAllAccounts() }
        },
        Row(
            operation: "getAccount(identifier:)",
            calls: ["getAccount", "getMechanismsForAccount", "getAllNotificationsForMechanism"]
        ) { bench in
            try await bench.enrollBoth()
            return { _ = bench.client.getAccount(identifier: Sample.identifier) }
        },
        Row(
            operation: "getAccount(mechanism:)",
            calls: ["getAccount", "getMechanismsForAccount", "getAllNotificationsForMechanism"]
        ) { bench in
            let totp = try await bench.enrollBoth().totp
            return { _ = bench.client.getAccount(mechanism: totp) }
        },
        Row(operation: "updateAccount", calls: ["getAccount", "setAccount"]) { bench in
            let account = try await bench.enrollBoth().account
            return {
                account.displayIssuer = "Harbour"
                try bench.client.updateAccount(account: account)
            }
        },
        Row(
            operation: "removeAccount",
            calls: [
                "getAllNotificationsForMechanism", "removeNotification", "removeMechanism", "removeMechanism", "removeAccount",
            ]
        ) { bench in
            try await bench.enrollBoth()
            _ = try bench.receive()
            let account = try bench.whole().account
            return { bench.client.removeAccount(account: account) }
        },
        Row(operation: "lock", calls: ["setAccount"]) { bench in
            _ = try await bench.client.createMechanismFromUri(Sample.totp(policies: #"{"custom":{}}"#))
            guard let account = bench.client.getAllAccounts().first else { throw Unexpected() }
            return { try bench.client.lockAccount(account: account, policy: NamedPolicy(name: "custom")) }
        },
        Row(operation: "unlock", calls: ["setAccount"]) { bench in
            _ = try await bench.client.createMechanismFromUri(Sample.totp(policies: #"{"custom":{}}"#))
            guard let account = bench.client.getAllAccounts().first else { throw Unexpected() }
            try bench.client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
            return { try bench.client.unlockAccount(account: account) }
        },
    ]

    static let mechanisms: [Row] = [
        Row(operation: "getMechanism(notification:)", calls: ["getMechanismForUUID"]) { bench in
            try await bench.enrollBoth()
            let notification = try bench.receive()
            return { _ = bench.client.getMechanism(notification: notification) }
        },
        Row(
            operation: "removeMechanism, push",
            calls: ["getAllNotificationsForMechanism", "removeNotification", "removeMechanism"]
        ) { bench in
            try await bench.enrollBoth()
            _ = try bench.receive()
            let push = try bench.whole().push
            return { bench.client.removeMechanism(mechanism: push) }
        },
        Row(operation: "removeMechanism, OATH", calls: ["removeMechanism"]) { bench in
            let totp = try await bench.enrollBoth().totp
            return { bench.client.removeMechanism(mechanism: totp) }
        },
        Row(operation: "generateCode, TOTP", calls: ["getAccount"]) { bench in
            let totp = try await bench.enrollBoth().totp
            return { _ = try totp.generateCode() }
        },
        Row(operation: "generateCode, HOTP", calls: ["getAccount", "setMechanism"]) { bench in
            let hotp = try await bench.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism
            return { _ = try hotp?.generateCode() }
        },
        Row(
            operation: "generateCode, HOTP, twice", calls: ["getAccount", "setMechanism", "getAccount", "setMechanism"]
        ) { bench in
            let hotp = try await bench.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism
            return {
                _ = try hotp?.generateCode()
                _ = try hotp?.generateCode()
            }
        },
    ]

    static let push: [Row] = [
        Row(operation: "getAllNotifications(mechanism:)", calls: ["getAllNotificationsForMechanism"]) { bench in
            let push = try await bench.enrollBoth().push
            return { _ = bench.client.getAllNotifications(mechanism: push) }
        },
        Row(operation: "getAllNotifications()", calls: ["getAllNotifications"]) { bench in
            { _ = bench.client.getAllNotifications() }
        },
        Row(operation: "getNotification(identifier:)", calls: ["getNotification"]) { bench in
            { _ = bench.client.getNotification(identifier: "any") }
        },
        Row(operation: "removeNotification", calls: ["removeNotification"]) { bench in
            try await bench.enrollBoth()
            let notification = try bench.receive()
            return { bench.client.removeNotification(notification: notification) }
        },
        Row(
            operation: "receive push", calls: ["getNotificationByMessageId", "getMechanismForUUID", "setNotification"]
        ) { bench in
            let uid = try await bench.enrollBoth().push.mechanismUUID
            return { _ = try bench.client.handleMessage("1", try Sample.message(to: uid)) }
        },
        Row(
            operation: "receive push with a user id",
            calls: ["getNotificationByMessageId", "getMechanismForUUID", "setMechanism", "setNotification"]
        ) { bench in
            let uid = try await bench.enrollBoth().push.mechanismUUID
            return { _ = try bench.client.handleMessage("1", try Sample.message(to: uid, userID: "user-7f3a")) }
        },
        Row(operation: "approve", calls: ["getMechanismForUUID", "getAccount", "POST", "setNotification"]) { bench in
            try await bench.enrollBoth()
            let notification = try bench.receive()
            return { try await notification.accept() }
        },
        Row(operation: "deny", calls: ["getMechanismForUUID", "getAccount", "POST", "setNotification"]) { bench in
            try await bench.enrollBoth()
            let notification = try bench.receive()
            return { try await notification.deny() }
        },
        // Servers of mechanisms enrolled before the first token, as by an import, are sent the token later.
        Row(operation: "first token", calls: ["getAllAccounts", "setPushDeviceToken"]) { bench in
            { try bench.client.registerForRemoteNotifications("token-1") }
        },
        // The ForgeRock SDK forgets which servers still need the token when the app ends. Signet stores the progress.
        Row(
            operation: "update all tokens",
            calls: ["setPushDeviceToken", "getAllAccounts", "getMechanismsForAccount", "POST", "setPushDeviceToken"]
        ) { bench in
            try await bench.enrollBoth()
            return { try await bench.client.updateDeviceToken("token-2") }
        },
        Row(operation: "same token", calls: []) { bench in
            try bench.client.registerForRemoteNotifications("token-1")
            return { try bench.client.registerForRemoteNotifications("token-1") }
        },
    ]

    @Test(
        "An operation calls the storage client in the order of the ForgeRock SDK",
        arguments: enrollment + accounts + mechanisms + push)
    func callsStorageInOrderOfForgeRockSDK(row: Row) async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook)) { request async throws(TransportError) in
            notebook.note(request.method)
            return try await Bench.accept(request)
        }
        let operation = try await row.prepare(bench)
        notebook.begin()
        try await operation()
        #expect(notebook.calls == row.calls)
    }

    @Test("A client reads the device token once when it starts, and nothing else")
    func readsDeviceTokenAtStart() throws {
        let notebook = Notebook()
        _ = try Bench(RecordingClient(notebook))
        #expect(notebook.calls == ["getPushDeviceToken"])
    }

    @Test("A mechanism object reads its counter again after another object changed it")
    func readsMechanismAgainAfterChange() async throws {
        let notebook = Notebook()
        let bench = try Bench(RecordingClient(notebook))
        guard let first = try await bench.client.createMechanismFromUri(Sample.hotp) as? HOTPMechanism,
            let second = bench.client.getMechanismByUUID(first.mechanismUUID) as? HOTPMechanism
        else { throw Unexpected() }
        #expect(try first.generateCode().code == "099169")
        notebook.begin()
        #expect(try second.generateCode().code == "802135")
        #expect(notebook.calls == ["getMechanismForUUID", "getAccount", "setMechanism"])
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
