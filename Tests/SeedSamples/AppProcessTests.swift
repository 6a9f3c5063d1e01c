#if os(Linux)
import Foundation
import SignetCore
import TestSupport
import Testing

import struct SignetTesting.TemporaryDirectory

/// A machine with an empty home directory, on which an app of `Examples` runs.
private struct Machine {
    let app: String
    let home: TemporaryDirectory
    /// No TPM and no keyring, wherever the test runs.
    var hardware = ["SIGNET_TCTI": "device:/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]

    /// Runs `body` with an app on a new machine.
    static func with(_ app: String, _ body: (Machine) async throws -> Void) async throws {
        try await TemporaryDirectory.with { home in try await body(Machine(app: app, home: home)) }
    }

    /// Runs a sample of the app, and returns the line that it prints.
    func run(_ sample: String...) async throws -> String { try await outcome(sample).line }

    private func outcome(_ sample: [String]) async throws -> TestProcess.Outcome {
        let own = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "SWIFT_BACKTRACE": "enable=no", "HOME": home.path,
            "XDG_DATA_HOME": home.file("data"), "XDG_CONFIG_HOME": home.file("config"), "XDG_STATE_HOME": home.file("state"),
            "XDG_CACHE_HOME": home.file("cache"),
        ]
        return try await TestProcess.run(Programs.built(app), sample, environment: hardware.merging(own) { $1 })
    }

    /// Runs a sample of the app, and expects it to print this line.
    func expect(_ sample: String..., gives line: String, location: SourceLocation = #_sourceLocation) async throws {
        let ended = try await outcome(sample)
        #expect(ended.line == line, "\(ended.errors)", sourceLocation: location)
    }

    var isEmpty: Bool { (try? FileManager.default.contentsOfDirectory(atPath: home.path)) == [] }
    var hasVault: Bool { FileManager.default.fileExists(atPath: home.file("data/signet")) }
}

/// The samples of the vendors' documentation in apps that import the other SDKs' modules only, each in a process of its own on a
/// machine that has never seen Signet.
///
/// The apps are built in the Swift 5 and in the Swift 6 language mode.
@Suite("Samples of the vendors' documentation, as processes with an empty home directory")
struct AppProcessTests {
    private static let forgeRock = ["ForgeRockApp", "ForgeRockApp6"]
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
            try await machine.expect("builder", Self.uri, gives: "Harbor Bank")
            #expect(!machine.hasVault)
        }
    }

    @Test(
        "An app accepts push messages of two types, denies one, and cannot accept a biometric one by itself", arguments: forgeRock
    )
    func answersPushMessages(app: String) async throws {
        let server = try RawServer { connection in
            _ = connection.request()
            connection.answer("200 OK", headers: ["Content-Type: application/json", "Connection: close"], "{}")
        }
        defer { server.stop() }
        try await Machine.with(app) { machine in
            let mechanism = try await machine.run("enroll-push", Self.pushURI(port: server.port))
            #expect(mechanism.count > 20 && !mechanism.hasPrefix("error"), "\(mechanism)")
            let shown = #"Login attempt {"remoteIp":"198.51.100.23"}"#
            let tapped = try await machine.run("message", "AUTHENTICATE:1", Self.message(to: mechanism, .tap))
            #expect(tapped == "approved \(shown)")
            let number = PushKind.number(choices: [34, 56, 82])
            let chosen = try await machine.run("message", "AUTHENTICATE:2", Self.message(to: mechanism, number))
            #expect(chosen == "approved \(shown)")
            let denied = try await machine.run("deny", "AUTHENTICATE:3", Self.message(to: mechanism, .tap))
            #expect(denied == "denied \(shown)")
            let biometric = try await machine.run("message", "AUTHENTICATE:4", Self.message(to: mechanism, .biometric))
            #expect(biometric.hasPrefix("error "), "\(biometric)")
        }
    }

    @Test("A login keeps its tokens for the next process, and another scope at the next start removes them", arguments: forgeRock)
    func logsIn(app: String) async throws {
        let scope = "openid profile email address"
        try await TestServer.live(TenantFixture.configuration()) { server in
            try await Machine.with(app) { machine in
                try await machine.expect("user", server.url, gives: "nobody")
                try await machine.expect("login", server.url, gives: scope)
                try await machine.expect("user", server.url, gives: scope)
                try await machine.expect("second-start", server.url, gives: "\(scope), nobody")
                try await machine.expect("login", server.url, gives: scope)
                try await machine.expect("logout", server.url, gives: "nobody")
                try await machine.expect("user", server.url, gives: "nobody")
            }
        }
    }

    @Test("Dynamic configuration is not persistent: a start without it fails in the next process", arguments: forgeRock)
    func forgetsDynamicConfiguration(app: String) async throws {
        try await TestServer.live(TenantFixture.configuration()) { server in
            try await Machine.with(app) { machine in
                try await machine.expect("login", server.url, gives: "openid profile email address")
                let started = try await machine.run("start-without-options")
                #expect(started.hasPrefix("error "), "\(started)")
            }
        }
    }

    @Test("There is a secured key on a machine with a TPM, and none without", arguments: forgeRock)
    func securedKeyNeedsHardware(app: String) async throws {
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

    @Test("KeychainStorage saves an item as documented, and the next process finds it", arguments: ping)
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

    @Test("OathClient makes codes with a storage of the app, and keeps credentials in its own", arguments: ping)
    func keepsCredentials(app: String) async throws {
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

    private static func pushURI(port: Int) -> String {
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        let endpoint = "http://127.0.0.1:\(port)/am/json/alpha/push/sns/message?_action="
        return "pushauth://push/Harbor%20Bank:mira?r=\(base64(endpoint + "register"))&a=\(base64(endpoint + "authenticate"))"
            + "&s=\(SampleApp.secret)&c=G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU&m=REGISTER:1&issuer=\(base64("Harbor Bank"))"
    }

    /// Returns a message that the server signs now.
    private static func message(to mechanism: String, _ kind: PushKind) throws -> String {
        PushMessage(
            mechanismUID: mechanism, challenge: Array("challenge".utf8), kind: kind, timeToLive: 120,
            sentAt: SystemWallClock().now,
            text: "Login attempt", customPayload: nil, contextInfo: #"{"remoteIp":"198.51.100.23"}"#
        ).sealed(with: Secret(try Base64.decode(SampleApp.secret)))
    }
}
#endif
