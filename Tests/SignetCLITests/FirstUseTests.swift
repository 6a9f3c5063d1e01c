import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet as the first command on a machine")
struct FirstUseTests {
    private static let unreachable = [
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent", "CREDENTIALS_DIRECTORY": "",
    ]

    @Test("signet enroll makes the vault, says in one line how it is kept and how to add a recovery key, and says it once")
    func enrollMakesVault() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let first = try await cli.signet("enroll", OATHSample.uri(), environment: Self.unreachable).succeeds()
            #expect(first.errors.split(separator: "\n").count == 1, "\(first.errors)")
            for word in ["warning", cli.home, "a copy of that directory can be read", "signet vault recovery-key"] {
                #expect(first.errors.contains(word), "\(first.errors)")
            }
            #expect(try await cli.accounts().count == 1)
            let second = try await cli.signet("enroll", OATHSample.uri(account: "noa"), environment: Self.unreachable).succeeds()
            #expect(second.errors == "")
        }
    }

    @Test("With --json the notice about the new vault is a line of JSON on standard error")
    func reportsVaultAsJSON() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let made = try await cli.signet("enroll", OATHSample.uri(), "--json", environment: Self.unreachable).succeeds()
            let notice = try JSON.value(of: Array(made.errors.utf8))["vault"]
            #expect(notice?["path"]?.string == cli.home)
            #expect(notice?["protection"]?.string == "keyfile" && notice?["hasRecovery"] == .bool(false))
            #expect(notice?["refusals"]?.array?.isEmpty == false)
        }
    }

    @Test("signet import makes the vault, and a dry run, wrong input and a login without a server make none")
    func importMakesVault() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            for arguments in [
                ["enroll", "--dry-run", OATHSample.uri()], ["enroll", "otpauth://totp/"], ["login"], ["login", "not a server"],
                ["login", "https://am.example.test/am", "--browser"],
            ] {
                _ = try await cli.start(arguments, environment: Self.unreachable).end()
                #expect(!FileManager.default.fileExists(atPath: cli.home), "\(arguments)")
            }
            let file = try cli.write(Array(OATHSample.uri().utf8), to: "uris.txt")
            let made = try await cli.signet("import", file, environment: Self.unreachable).succeeds()
            #expect(made.errors.contains("made a vault"))
            #expect(try await cli.accounts().count == 1)
        }
    }

    @Test("A passphrase on a descriptor is preferred to a key file")
    func takesPassphrase() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let arguments = ["enroll", OATHSample.uri(), "--passphrase-fd", "0"]
            let made = try await cli.start(arguments, input: .text("correct horse\n"), environment: Self.unreachable).end()
            #expect(try made.succeeds().errors.contains("sealed by passphrase"))
            try await cli.signet("accounts", environment: Self.unreachable).fails(78, "--passphrase-fd")
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text("correct horse")).succeeds()
        }
    }

    @Test("SIGNET_REQUIRE is enforced by every command that stores or reads, and not by those that raise the protection")
    func enforcesRequirement() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let hardware = Self.unreachable.merging(["SIGNET_REQUIRE": "hardware"]) { $1 }
            for arguments in [["enroll", OATHSample.uri()], ["init"], ["init", "--protect", "keyfile"]] {
                let refused = try await cli.start(arguments + ["--json"], environment: hardware).end()
                refused.fails(78, "hardware")
                #expect(refused.jsonError?["code"]?.string == "store.protectionTooWeak")
                #expect(!FileManager.default.fileExists(atPath: cli.home))
            }
            try await cli.signet("enroll", OATHSample.uri(), environment: ["SIGNET_REQUIRE": "much"]).fails(65, "SIGNET_REQUIRE")
            try await cli.signet("init", "--protect", "keyfile").succeeds()
            let commands = [
                ["accounts"], ["enroll", OATHSample.uri()], ["export", "--yes", "-"],
                ["backup", "create", "--skip-damaged", "-", "--file-passphrase-fd", "0"],
            ]
            for arguments in commands {
                try await cli.start(arguments, environment: hardware).end().fails(78, "signet vault key add")
            }
            let doctor = try await cli.signet("doctor", environment: hardware)
            #expect(doctor.status == 78 && doctor.output.contains("hardware (SIGNET_REQUIRE)"))
            try await cli.signet("vault", "recovery-key", environment: hardware).succeeds()
        }
    }

    @Test("signet vault recovery-key prints a key that opens the vault, and signet doctor reports it")
    func makesRecoveryKey() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let before = try await cli.signet("doctor", "--json", environment: Self.unreachable).succeeds().json["vault"]
            #expect(before?["level"]?.string == "keyfile" && before?["hasRecovery"] == .bool(false))
            let words = try await cli.signet("doctor", environment: Self.unreachable).succeeds().output
            #expect(words.contains("warning: a copy of this directory can be read") && words.contains("recovery         none"))

            let key = try await cli.signet("vault", "recovery-key").succeeds().line
            #expect(key.count == 39)
            try FileManager.default.removeItem(atPath: cli.home + "/vault.key")
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text(key)).succeeds()
            let after = try await cli.signet("doctor", "--passphrase-fd", "0", "--json").json["vault"]
            #expect(after?["hasRecovery"] == .bool(true))
        }
    }

    @Test("Without a vault signet doctor names the key protector that a new one would get")
    func predictsProtector() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let none = try await cli.signet("doctor", "--json", environment: Self.unreachable)
            #expect(none.status == 78 && none.json["newVault"]?.string == "keyfile")
            let reason = try #require(none.json["protectors"]?["secret-service"]?["reason"]?.string)
            let text = try await cli.signet("doctor", environment: Self.unreachable).output
            for words in ["keyfile: a file of mode 0600", "does not work here: ", "works here\n"] {
                #expect(text.contains(words))
            }
            #expect(text.components(separatedBy: reason).count == 2, "a reason is not repeated: \(text)")
        }
    }

    @Test("Four commands that store first at the same time end with one vault and all accounts")
    func createsOneVaultByFourCommands() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await withThrowingTaskGroup(of: Outcome.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await cli.signet("enroll", OATHSample.uri(account: "mira\(number)"), environment: Self.unreachable)
                    }
                }
                for try await outcome in group { try outcome.succeeds() }
            }
            #expect(try await cli.accounts().count == 4)
        }
    }

    @Test(
        "With a TPM the first account is sealed by it, and signet doctor calls it hardware",
        .enabled(if: SoftwareTPM.missing() == nil, "no swtpm here"))
    func enrollUsesTPM() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await SoftwareTPM.with { tpm in
                let environment = Self.unreachable.merging(["SIGNET_TCTI": tpm.tcti, "SIGNET_REQUIRE": "hardware"]) { $1 }
                let made = try await cli.signet("enroll", OATHSample.uri(), environment: environment).succeeds()
                #expect(made.errors.contains("sealed by tpm") && !made.errors.contains("warning"))
                let doctor = try await cli.signet("doctor", "--json", environment: environment).succeeds().json
                #expect(doctor["vault"]?["isHardware"] == .bool(true) && doctor["vault"]?["hasRecovery"] == .bool(false))
                #expect(doctor["required"]?.string == "hardware")
            }
        }
    }
}
