#if os(Linux)
import Foundation
import SignetCore
import TestSupport
import Testing

/// The samples of the vendors' documentation in apps that import the other SDKs' modules only, each in a process of its own on a
/// machine that has never seen Signet.
///
/// The apps are built in the Swift 5 and in the Swift 6 language mode.
@Suite("Samples of the vendors' documentation, as processes with an empty home directory")
struct AppProcessTests {
    static let forgeRock = ["ForgeRockApp", "ForgeRockApp6"]
    private static let ping = ["PingApp", "PingApp6"]
    private static let uri = "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

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
            try await machine.expect("document-storage", Self.uri, gives: "Harbor Bank:mira")
            try await machine.expect("android-storage", Self.uri, gives: "Harbor Bank")
            try await machine.expect("android-label-free-storage", Self.uri, gives: "Harbor Bank true")
            #expect(!machine.hasVault)
        }
    }

    private static let shown = #"Login attempt {"remoteIp":"198.51.100.23"}"#
    private static let number = PushKind.number(choices: [34, 56, 82])

    /// Runs `body` on a new machine with the port of a server that accepts each push request.
    private func withPushServer(_ app: String, _ body: (Machine, Int) async throws -> Void) async throws {
        let server = try RawServer { connection in
            _ = connection.request()
            connection.answer("200 OK", headers: ["Content-Type: application/json", "Connection: close"], "{}")
        }
        defer { server.stop() }
        try await Machine.with(app) { machine in try await body(machine, server.port) }
    }

    /// Enrolls the machine for push with a sample, and returns the UUID of the mechanism.
    private func enroll(_ machine: Machine, _ sample: String, port: Int) async throws -> String {
        let mechanism = try await machine.run(sample, Self.pushURI(port: port))
        #expect(mechanism.count > 20 && !mechanism.hasPrefix("error"), "\(mechanism)")
        return mechanism
    }

    @Test(
        "An app accepts push messages of two types, denies one, and needs a user check for a biometric one", arguments: forgeRock)
    func answersPushMessages(app: String) async throws {
        try await withPushServer(app) { machine, port in
            let mechanism = try await enroll(machine, "enroll-push", port: port)
            let tapped = try await machine.run("message", "AUTHENTICATE:1", Self.message(to: mechanism, .tap))
            #expect(tapped == "approved \(Self.shown)")
            let chosen = try await machine.run("message", "AUTHENTICATE:2", Self.message(to: mechanism, Self.number))
            #expect(chosen == "approved \(Self.shown)")
            let denied = try await machine.run("deny", "AUTHENTICATE:3", Self.message(to: mechanism, .tap))
            #expect(denied == "denied \(Self.shown)")
            let biometric = try Self.message(to: mechanism, .biometric)
            let unchecked = try await machine.run("message", "AUTHENTICATE:4", biometric)
            #expect(unchecked.hasPrefix("error "), "\(unchecked)")
            try await machine.expect("recognized-message", "AUTHENTICATE:4", biometric, gives: "approved \(Self.shown)")
        }
    }

    @Test("An app reads the values of a push message", arguments: forgeRock)
    func readsPushPayload(app: String) async throws {
        try await withPushServer(app) { machine, port in
            let mechanism = try await enroll(machine, "enroll-push", port: port)
            let custom = #"{"transaction":"42"}"#
            try await machine.expect(
                "payload", "AUTHENTICATE:1", Self.message(to: mechanism, Self.number, customPayload: custom),
                gives: "\(custom); Login attempt; 198.51.100.23; no user agent; challenge; [34, 56, 82]; sent")
            try await machine.expect(
                "payload", "AUTHENTICATE:2", Self.message(to: mechanism, .tap),
                gives: "no payload; Login attempt; 198.51.100.23; no user agent; default; no numbers; sent")
        }
    }

    @Test("The document's app delegate registers the token, and accepts messages of the server only", arguments: forgeRock)
    func acceptsInAppDelegate(app: String) async throws {
        try await withPushServer(app) { machine, port in
            let failed = try await machine.run("delegate-failed", Self.pushURI(port: port))
            #expect(failed.hasPrefix("error "), "\(failed)")
            let mechanism = try await enroll(machine, "delegate-enroll", port: port)
            let message = try Self.message(to: mechanism, .tap)
            try await machine.expect("delegate-message", "AUTHENTICATE:1", message, gives: "accepted")
            try await machine.expect("delegate-message", "AUTHENTICATE:2", "not a message", gives: "no notification")
        }
    }

    @Test("With the names of the SDK for Android an app answers each type of push message", arguments: forgeRock)
    func answersPushMessagesWithAndroidNames(app: String) async throws {
        try await withPushServer(app) { machine, port in
            let mechanism = try await enroll(machine, "android-enroll-push", port: port)
            let rows: [(kind: PushKind, answer: String)] = [
                (.tap, "true default no numbers Login attempt"), (Self.number, "true challenge [34, 56, 82] Login attempt"),
                (.biometric, "true biometric no numbers Login attempt"),
            ]
            for (index, row) in rows.enumerated() {
                let message = try Self.message(to: mechanism, row.kind)
                try await machine.expect("android-message", "AUTHENTICATE:\(index)", message, gives: row.answer)
            }
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

    @Test("An app with the document's `import Storage` saves an item, and the next process finds it", arguments: ping)
    func savesItem(app: String) async throws {
        let lucky = "Lucky Golden Retriever"
        try await Machine.with(app) { machine in
            try await machine.expect("get", gives: "nothing")
            #expect(machine.isEmpty)
            try await machine.expect("save", gives: lucky)
            try await machine.expect("get", gives: lucky)
            #expect(machine.hasVault)
        }
        for sample in ["cached", "encrypted", "own-encryptor"] {
            try await Machine.with(app) { machine in try await machine.expect(sample, gives: lucky) }
        }
        try await Machine.with(app) { machine in
            try await machine.expect("custom", gives: "\(lucky), nothing")
            #expect(machine.isEmpty)
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
                try await machine.expect("encrypted", gives: "Lucky Golden Retriever")
                try await machine.expect("get-unencrypted", gives: "sealed")
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
            try await machine.expect("built-oath", Self.uri, gives: "Harbor Bank 6")
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

    private static func pushURI(port: Int) -> String {
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        let endpoint = "http://127.0.0.1:\(port)/am/json/alpha/push/sns/message?_action="
        return "pushauth://push/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))"
            + "&s=\(SampleApp.secret)&c=G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
    }

    /// Returns a message that the server signs now.
    private static func message(to mechanism: String, _ kind: PushKind, customPayload: String? = nil) throws -> String {
        PushMessage(
            mechanismUID: mechanism, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120,
            sentAt: SystemWallClock().now,
            text: "Login attempt", customPayload: customPayload, contextInfo: #"{"remoteIp":"198.51.100.23"}"#
        ).sealed(with: Secret(try Base64.decode(SampleApp.secret)))
    }
}
#endif
