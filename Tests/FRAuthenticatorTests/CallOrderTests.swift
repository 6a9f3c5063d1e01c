import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// What a storage client is asked for, and in which order, is what the original SDK asks it for (protocol/authenticator.md
/// section 7.6).
@Suite("The calls on a storage client")
struct CallOrderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let operation: String
        let calls: [String]
        /// Makes ready what the operation needs, and returns the operation.
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
        // Here the original stores the codes before it asks the server for push, and leaves them behind when that fails or the
        // app is ended meanwhile. Both halves are stored together here, so each thing is asked for once.
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
        // Who was enrolled before there was a token, as by an import, is to be told of it.
        Row(operation: "first token", calls: ["getAllAccounts", "setPushDeviceToken"]) { bench in
            { try bench.client.registerForRemoteNotifications("token-1") }
        },
        // The original forgets who is still to be told when the app ends meanwhile. Here the client keeps what became of it.
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

    @Test("are those of the original", arguments: enrollment + accounts + mechanisms + push)
    func order(row: Row) async throws {
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

    @Test("begin with the device token, once")
    func atTheStart() throws {
        let notebook = Notebook()
        _ = try Bench(RecordingClient(notebook))
        #expect(notebook.calls == ["getPushDeviceToken"])
    }

    @Test("ask again for what another operation has changed")
    func outOfDate() async throws {
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

/// A policy by its name.
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
