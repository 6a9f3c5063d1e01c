#if os(Linux)
import Foundation
import SignetCore
import TestSupport
import Testing

/// The samples of the vendors' documentation in apps that use the public declarations of the other SDKs' modules only, each in a
/// process of its own on a machine that has never seen Signet.
///
/// The apps are built in the Swift 5 and in the Swift 6 language mode. `SignetSampleTests` has the samples that only Signet
/// compiles.
@Suite("Samples of the vendors' documentation, as processes with an empty home directory")
struct AppProcessTests {
    static let forgeRock = ["ForgeRockApp", "ForgeRockApp6"]
    private static let ping = ["PingApp", "PingApp6"]
    static let uri = "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

    @Test("The default storage client stores an account, and the next process finds it", arguments: forgeRock)
    func storesAccountInDefaultClient(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("accounts", gives: "")
            #expect(machine.isEmpty)
            try await machine.expect("enroll", Self.uri, gives: "Harbor Bank:mira")
            try await machine.expect("accounts", gives: "Harbor Bank:mira")
            #expect(machine.hasVault)
        }
    }

    @Test("A custom storage client gets everything, and no vault is made", arguments: forgeRock)
    func storesAccountInCustomClient(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("custom-storage", Self.uri, gives: "Harbor Bank:mira")
            #expect(!machine.hasVault)
        }
    }

    static let shown = #"Login attempt {"remoteIp":"198.51.100.23"}"#
    static let number = PushKind.number(choices: [34, 56, 82])

    @Test(
        "An app accepts push messages of two types, denies one, and accepts no biometric one without a user check",
        arguments: forgeRock)
    func answersPushMessages(app: String) async throws {
        try await Machine.withPushServer(app) { machine, port in
            let mechanism = try await machine.enroll("enroll-push", port: port)
            let tapped = try await machine.run("message", "AUTHENTICATE:1", Machine.message(to: mechanism, .tap))
            #expect(tapped == "approved \(Self.shown)")
            let chosen = try await machine.run("message", "AUTHENTICATE:2", Machine.message(to: mechanism, Self.number))
            #expect(chosen == "approved \(Self.shown)")
            let denied = try await machine.run("deny", "AUTHENTICATE:3", Machine.message(to: mechanism, .tap))
            #expect(denied == "denied \(Self.shown)")
            let biometric = try Machine.message(to: mechanism, .biometric)
            let unchecked = try await machine.run("message", "AUTHENTICATE:4", biometric)
            #expect(unchecked.hasPrefix("error "), "\(unchecked)")
        }
    }

    @Test("An app reads the values of a push message", arguments: forgeRock)
    func readsPushPayload(app: String) async throws {
        try await Machine.withPushServer(app) { machine, port in
            let mechanism = try await machine.enroll("enroll-push", port: port)
            let custom = #"{"transaction":"42"}"#
            try await machine.expect(
                "payload", "AUTHENTICATE:1", Machine.message(to: mechanism, Self.number, customPayload: custom),
                gives: "\(custom); Login attempt; 198.51.100.23; no user agent; challenge; [34, 56, 82]; sent")
            try await machine.expect(
                "payload", "AUTHENTICATE:2", Machine.message(to: mechanism, .tap),
                gives: "no payload; Login attempt; 198.51.100.23; no user agent; default; no numbers; sent")
        }
    }

    @Test("The document's app delegate registers the token, and accepts messages of the server only", arguments: forgeRock)
    func acceptsInAppDelegate(app: String) async throws {
        try await Machine.withPushServer(app) { machine, port in
            let failed = try await machine.run("delegate-failed", Machine.pushURI(port: port))
            #expect(failed.hasPrefix("error "), "\(failed)")
            let mechanism = try await machine.enroll("delegate-enroll", port: port)
            let message = try Machine.message(to: mechanism, .tap)
            try await machine.expect("delegate-message", "AUTHENTICATE:1", message, gives: "accepted")
            try await machine.expect("delegate-message", "AUTHENTICATE:2", "not a message", gives: "no notification")
        }
    }

    @Test("There is a secured key on a machine with a TPM, and none without", arguments: forgeRock)
    func securedKeyOfAppNeedsTPM(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("secured-key", gives: "false false")
            guard SoftwareTPM.missing() == nil else { return }
            try await SoftwareTPM.with { tpm in
                var equipped = machine
                equipped.hardware.merge(tpm.environment) { $1 }
                equipped.hardware["SIGNET_TCTI"] = tpm.tcti
                try await equipped.expect("secured-key", gives: "true true")
            }
        }
    }

    @Test("An app saves an item, and the next process finds it", arguments: ping)
    func savesItem(app: String) async throws {
        let lucky = "Lucky Golden Retriever"
        try await Machine.with(app) { machine in
            try await machine.expect("get", gives: "nothing")
            #expect(machine.isEmpty)
            try await machine.expect("save", gives: lucky)
            try await machine.expect("get", gives: lucky)
            #expect(machine.hasVault)
        }
        for (sample, line) in [("encrypted", lucky), ("own-encryptor", "\(lucky), sealed")] {
            try await Machine.with(app) { machine in try await machine.expect(sample, gives: line) }
        }
        try await Machine.with(app) { machine in
            try await machine.expect("custom", gives: "\(lucky), nothing")
            #expect(machine.isEmpty)
        }
    }

    @Test("A storage with a cache reads its item once, and does not see a change by another storage", arguments: ping)
    func readsItemFromCache(app: String) async throws {
        let lucky = "Lucky Golden Retriever"
        try await Machine.with(app) { machine in
            try await machine.expect("cached", gives: "\(lucky), \(lucky), Rex Boxer")
            try await machine.expect("cache-reads", gives: "1 3")
        }
    }

    @Test(
        "With a TPM the document's encryptor seals an item, which opens in the next process and not without the encryptor",
        .enabled(if: SoftwareTPM.missing() == nil, "\(SoftwareTPM.missing() ?? "")"), arguments: ping)
    func sealsItemWithTPM(app: String) async throws {
        try await SoftwareTPM.with { tpm in
            try await Machine.with(app) { machine in
                var machine = machine
                machine.hardware.merge(tpm.environment) { $1 }
                machine.hardware["SIGNET_TCTI"] = tpm.tcti
                // A process that ends with a loaded key leaves the key in a TPM that has no resource manager, so the TPM is restarted.
                try await machine.expect("encrypted", gives: "Lucky Golden Retriever")
                try await tpm.restart()
                try await machine.expect("get-unencrypted", gives: "sealed")
                try await tpm.restart()
                try await machine.expect("get-encrypted", gives: "Lucky Golden Retriever")
            }
        }
        try await Machine.with(app) { machine in
            try await machine.expect("encrypted", gives: "Lucky Golden Retriever")
            try await machine.expect("get-unencrypted", gives: "Lucky Golden Retriever")
        }
    }

    @Test("OathClient makes codes with a storage of the app, and keeps credentials in its own", arguments: ping)
    func makesCodesWithStorageOfApp(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("configured-oath", Self.uri, gives: "Harbor Bank 6")
            #expect(!machine.hasVault)
            try await machine.expect("oath", Self.uri, gives: "Harbor Bank")
            try await machine.expect("credentials", gives: "Harbor Bank")
        }
    }

    @Test("PushClient keeps the device token", arguments: ping)
    func keepsDeviceToken(app: String) async throws {
        try await Machine.with(app) { machine in
            try await machine.expect("push-token", gives: "token-1")
            try await machine.expect("stored-push-token", gives: "token-1")
        }
    }

    @Test("A journey keeps its session and tokens for the next process, or in the app's storages only", arguments: ping)
    func logsInWithJourney(app: String) async throws {
        try await TestServer.live(TenantFixture.configuration()) { server in
            try await Machine.with(app) { machine in
                let custom = try await machine.run("custom-journey-storage", server.url)
                #expect(custom == "openid profile")
                let none = try await machine.run("user", server.url)
                #expect(none.hasPrefix("error "), "\(none)")
                try await machine.expect("login", server.url, gives: "openid profile")
                try await machine.expect("user", server.url, gives: "openid profile")
            }
        }
    }
}
#endif
