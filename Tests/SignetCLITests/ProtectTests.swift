import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet init and signet vault")
struct ProtectTests {
    private static let phrase = "correct horse battery staple"

    /// A vault that is sealed by a passphrase, with one account in it.
    private func withPassphraseVault(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let made = try await cli.signet(
                "init", "--protect", "passphrase", "--passphrase-fd", "0", "--json", input: .text(Self.phrase + "\n"))
            #expect(try made.succeeds().json["protection"]?.string == "passphrase")
            try await cli.signet(
                "enroll", "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD", "--passphrase-fd", "0",
                input: .text(Self.phrase)
            ).succeeds()
            try await body(cli)
        }
    }

    @Test("Only the right passphrase opens a vault, and a failed attempt changes nothing")
    func opensWithRightPassphraseOnly() async throws {
        try await withPassphraseVault { cli in
            let before = try cli.vaultFiles()
            let code = try await cli.signet("code", "mira", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            #expect(code.line.count == 6)
            for wrong in ["wrong", ""] {
                try await cli.signet("code", "mira", "--passphrase-fd", "0", input: .text(wrong)).fails(78, "passphrase")
            }
            try await cli.signet("code", "mira").fails(78, "--passphrase-fd")
            try await cli.signet("accounts", "--passphrase-fd", "77").fails(78, "descriptor 77")
            #expect(try cli.vaultFiles() == before)
            for (_, bytes) in before { #expect(bytes.range(of: Data(Self.phrase.utf8)) == nil) }
        }
    }

    @Test("Without --protect signet init takes the first usable key protector, and never a key file")
    func picksFirstUsableProtector() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let unreachable = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent"]
            let refused = try await cli.signet("init", environment: unreachable)
            refused.fails(78, "tpm:", "secret-service:", "credential:", "passphrase:", "--protect keyfile")
            #expect(!FileManager.default.fileExists(atPath: cli.home))

            let credentials = cli.directory.file("credentials")
            try FileManager.default.createDirectory(
                atPath: credentials, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            _ = try cli.write((0..<32).map { UInt8($0) }, to: "credentials/signet-vault-key", mode: 0o400)
            let environment = unreachable.merging(["CREDENTIALS_DIRECTORY": credentials]) { $1 }
            let made = try await cli.signet("init", environment: environment).succeeds()
            #expect(made.output.contains("sealed by credential"))
            try await cli.signet("accounts", environment: environment).succeeds()
            try await cli.signet("accounts", environment: unreachable).fails(78, "CREDENTIALS_DIRECTORY")
        }
    }

    @Test("signet init --protect with an unusable key protector exits with 78 and makes no vault")
    func refusesUnusableProtector() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let unreachable = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent"]
            for protection in ["tpm", "secret-service", "credential", "passphrase"] {
                let outcome = try await cli.signet("init", "--protect", protection, environment: unreachable)
                #expect(outcome.status == 78, "\(protection): \(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: cli.home + "/vault.sqlite"))
            }
            try await cli.signet("init", "--protect", "magic").fails(64, "magic")
        }
    }

    @Test("Key slots are added, listed and removed, any one opens the vault, and the last one stays")
    func managesKeySlots() async throws {
        try await withPassphraseVault { cli in
            try await cli.signet("vault", "key", "add", "keyfile", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            let slots = try await cli.signet("vault", "key", "list", "--json").succeeds().jsonLines
            let slotProtectors = slots.map { $0["protector"]?.string }
            #expect(slotProtectors == ["passphrase", "keyfile"])
            #expect(try await cli.accounts().count == 1)
            try await cli.signet("vault", "key", "remove", "1").succeeds()
            try await cli.signet("vault", "key", "remove", "2").fails(65, "no other slot")
            try await cli.signet("vault", "key", "remove", "9").fails(66, "slot 9")
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            try await cli.signet("vault", "key", "add", "passphrase", "--new-passphrase-fd", "0", input: .text("another one\n"))
                .succeeds()
            try FileManager.default.removeItem(atPath: cli.home + "/vault.key")
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text("another one")).succeeds()
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).fails(78)
        }
    }

    @Test("Without a terminal a new passphrase requires the option that gives its descriptor")
    func requiresNewPassphraseOption() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("vault", "key", "add", "passphrase").fails(78, "--new-passphrase-fd")
        }
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("init", "--protect", "passphrase").fails(78, "descriptor: --passphrase-fd")
        }
    }

    @Test("A key rotation requires every slot, and refuses a passphrase that does not open the old slot")
    func rotatesEverySlot() async throws {
        try await withPassphraseVault { cli in
            try await cli.signet("vault", "key", "add", "keyfile", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            let before = try cli.vaultFiles()
            try await cli.signet("vault", "key", "rotate", "--passphrase-fd", "0", input: .text(Self.phrase + "\n")).succeeds()
            let after = try cli.vaultFiles()
            #expect(after["vault.sqlite"] != before["vault.sqlite"])
            #expect(after["vault.key"] == before["vault.key"])
            #expect(try await cli.accounts().count == 1)
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()

            try await cli.signet("vault", "key", "add", "passphrase", "--new-passphrase-fd", "0", input: .text("second\n"))
                .succeeds()
            let mistyped = Self.phrase + "\nsecnd\n"
            try await cli.signet("vault", "key", "rotate", "--passphrase-fd", "0", input: .text(mistyped)).fails(78, "passphrase")
            try await cli.signet("accounts", "--passphrase-fd", "0", input: .text("second")).succeeds()
            let right = Self.phrase + "\nsecond\n"
            try await cli.signet("vault", "key", "rotate", "--passphrase-fd", "0", input: .text(right)).succeeds()
            for phrase in [Self.phrase, "second"] {
                try await cli.signet("accounts", "--passphrase-fd", "0", input: .text(phrase)).succeeds()
            }
        }
    }
}

@Suite("signet with real key protectors")
struct RealKeyProtectorTests {
    private static let uri = "otpauth://hotp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD&counter=0"

    /// Makes a vault with a key protector: it opens with it, not without it, and an older copy of it is noticed.
    private func checkVaultLifecycle(_ protection: String, _ environment: [String: String], without unreachable: [String: String])
        async throws
    {
        try await CommandLineFixture.with(vault: false) { cli in
            func signet(_ arguments: String...) async throws -> Outcome {
                try await cli.start(arguments, environment: environment).end()
            }
            let made = try await signet("init", "--json").succeeds()
            #expect(made.json["protection"]?.string == protection)
            try await signet("enroll", Self.uri).succeeds()
            let older = try cli.vaultFiles()
            let first = try await signet("code", "mira").succeeds().line
            #expect(try await signet("code", "mira").succeeds().line != first)
            try await cli.signet("code", "mira", environment: unreachable).fails(78)
            let doctor = try await signet("doctor", "--json").succeeds().json
            #expect(doctor["protectors"]?[protection]?["usable"] == .bool(true))

            for (name, bytes) in older { try bytes.write(to: URL(filePath: "\(cli.home)/\(name)")) }
            for name in ["vault.sqlite-wal", "vault.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: "\(cli.home)/\(name)")
            }
            try await signet("code", "mira").fails(78, "older copy", "accept-rollback")
            try await signet("vault", "accept-rollback").succeeds()
            #expect(try await signet("code", "mira").succeeds().line == first)
        }
    }

    @Test(
        "A vault in a TPM opens with it only, and an older copy is noticed",
        .enabled(if: SoftwareTPM.missing() == nil, "no swtpm here"))
    func protectsWithTPM() async throws {
        try await SoftwareTPM.with { tpm in
            let environment = tpm.environment.merging(["SIGNET_TCTI": tpm.tcti]) { $1 }
            try await checkVaultLifecycle("tpm", environment, without: ["SIGNET_TCTI": "device:/nonexistent"])
        }
    }

    @Test(
        "A vault in the desktop's keyring opens with it only, and an older copy is noticed",
        .enabled(if: Keyring.missingPrograms.isEmpty, "no keyring here"))
    func protectsWithKeyring() async throws {
        try await Keyring.with(password: "unlocked") { keyring in
            let unreachable = ["SIGNET_TCTI": "device:/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
            let environment = unreachable.merging(keyring.environment) { $1 }
            try await checkVaultLifecycle("secret-service", environment, without: unreachable)
        }
    }
}

@Suite("signet doctor")
struct DoctorTests {
    @Test("signet doctor reports the vault's key slots and why other protectors are unusable, without opening it")
    func reportsHealthyVault() async throws {
        try await CommandLineFixture.with { cli in
            try FileManager.default.moveItem(atPath: cli.home + "/vault.key", toPath: cli.home + "/kept")
            let lost = try await cli.signet("doctor", "--json")
            #expect(lost.status == 78)
            try FileManager.default.moveItem(atPath: cli.home + "/kept", toPath: cli.home + "/vault.key")
            let before = try cli.vaultFiles()
            let doctor = try await cli.signet("doctor", "--json").succeeds().json
            #expect(doctor["vault"]?["format"] == .integer(2))
            let slotProtectors = doctor["vault"]?["slots"]?.array?.map { $0["protector"]?.string }
            #expect(slotProtectors == ["keyfile"])
            #expect(doctor["vault"]?["lastBackup"] == nil)
            #expect(doctor["permissionProblems"] == .array([]))
            let protectors = try #require(doctor["protectors"]?.object)
            #expect(Set(protectors.keys) == ["tpm", "secret-service", "credential", "passphrase", "keyfile"])
            for (name, protector) in protectors where protector["usable"] == .bool(false) {
                #expect(protector["reason"]?.string?.isEmpty == false, "\(name)")
            }
            #expect(try cli.vaultFiles() == before)
            let words = try await cli.signet("doctor").succeeds().output
            for word in ["keyfile", "SQLite", "Secret Service", "private", "last backup"] { #expect(words.contains(word)) }
        }
    }

    @Test("signet doctor exits with the problem's code for a missing, an exposed and a damaged vault")
    func reportsVaultProblems() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let none = try await cli.signet("doctor")
            #expect(none.status == 78)
            #expect(none.output.contains("does not exist"))
        }
        try await CommandLineFixture.with { cli in
            try #require(chmod(cli.home, 0o755) == 0)
            let open = try await cli.signet("doctor", "--json")
            #expect(open.status == 77)
            #expect(open.json["permissionProblems"]?.array?.isEmpty == false)
            try #require(chmod(cli.home, 0o700) == 0)
            try Data("not a database at all, but long enough to be one".utf8).write(
                to: URL(filePath: cli.home + "/vault.sqlite"))
            #expect(try await cli.signet("doctor").status == 74)
        }
    }
}
