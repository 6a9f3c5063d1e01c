import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet init and signet protect")
struct ProtectTests {
    private static let phrase = "correct horse battery staple"

    /// A vault that is sealed by a passphrase, with one account in it.
    private func withPassphraseVault(_ body: (Workplace) async throws -> Void) async throws {
        try await Workplace.with(vault: false) { place in
            let made = try await place.signet(
                "init", "--protect", "passphrase", "--passphrase-fd", "0", "--json", input: .text(Self.phrase + "\n"))
            #expect(try made.succeeds().json["protection"]?.string == "passphrase")
            try await place.signet(
                "enroll", "otpauth://totp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD", "--passphrase-fd", "0",
                input: .text(Self.phrase)
            ).succeeds()
            try await body(place)
        }
    }

    @Test("Only the right passphrase opens a vault, and a failed attempt changes nothing")
    func opensWithRightPassphraseOnly() async throws {
        try await withPassphraseVault { place in
            let before = try place.vaultFiles()
            let code = try await place.signet("code", "mira", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            #expect(code.line.count == 6)
            for wrong in ["wrong", ""] {
                try await place.signet("code", "mira", "--passphrase-fd", "0", input: .text(wrong)).fails(78, "passphrase")
            }
            try await place.signet("code", "mira").fails(78, "--passphrase-fd")
            try await place.signet("accounts", "--passphrase-fd", "77").fails(78, "descriptor 77")
            #expect(try place.vaultFiles() == before)
            for (_, bytes) in before { #expect(bytes.range(of: Data(Self.phrase.utf8)) == nil) }
        }
    }

    @Test("Without --protect signet init takes the first usable key protector, and never a key file")
    func picksFirstUsableProtector() async throws {
        try await Workplace.with(vault: false) { place in
            let nobody = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent"]
            let refused = try await place.signet("init", environment: nobody)
            refused.fails(78, "tpm:", "secret-service:", "credential:", "passphrase:", "--protect keyfile")
            #expect(!FileManager.default.fileExists(atPath: place.home))

            let credentials = place.directory.file("credentials")
            try FileManager.default.createDirectory(
                atPath: credentials, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            _ = try place.write((0..<32).map { UInt8($0) }, to: "credentials/signet-vault-key", mode: 0o400)
            let environment = nobody.merging(["CREDENTIALS_DIRECTORY": credentials]) { $1 }
            let made = try await place.signet("init", environment: environment).succeeds()
            #expect(made.output.contains("sealed by credential"))
            try await place.signet("accounts", environment: environment).succeeds()
            try await place.signet("accounts", environment: nobody).fails(78, "CREDENTIALS_DIRECTORY")
        }
    }

    @Test("signet init --protect with an unusable key protector exits with 78 and makes no vault")
    func refusesUnusableProtector() async throws {
        try await Workplace.with(vault: false) { place in
            let nobody = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent"]
            for protection in ["tpm", "secret-service", "credential", "passphrase"] {
                let outcome = try await place.signet("init", "--protect", protection, environment: nobody)
                #expect(outcome.status == 78, "\(protection): \(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: place.home + "/vault.sqlite"))
            }
            try await place.signet("init", "--protect", "magic").fails(64, "magic")
        }
    }

    @Test("Key slots are added, listed and removed, any one opens the vault, and the last one stays")
    func managesKeySlots() async throws {
        try await withPassphraseVault { place in
            try await place.signet("protect", "add", "keyfile", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            let slots = try await place.signet("protect", "list", "--json").succeeds().jsonLines
            let slotProtectors = slots.map { $0["protector"]?.string }
            #expect(slotProtectors == ["passphrase", "keyfile"])
            #expect(try await place.accounts().count == 1)
            try await place.signet("protect", "remove", "1").succeeds()
            try await place.signet("protect", "remove", "2").fails(65, "only way")
            try await place.signet("protect", "remove", "9").fails(66, "slot 9")
            try await place.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            try await place.signet("protect", "add", "passphrase", "--new-passphrase-fd", "0", input: .text("another one\n"))
                .succeeds()
            try FileManager.default.removeItem(atPath: place.home + "/vault.key")
            try await place.signet("accounts", "--passphrase-fd", "0", input: .text("another one")).succeeds()
            try await place.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).fails(78)
        }
    }

    @Test("Without a terminal a new passphrase requires the option that gives its descriptor")
    func requiresNewPassphraseOption() async throws {
        try await Workplace.with { place in
            try await place.signet("protect", "add", "passphrase").fails(78, "--new-passphrase-fd")
        }
        try await Workplace.with(vault: false) { place in
            try await place.signet("init", "--protect", "passphrase").fails(78, "descriptor: --passphrase-fd")
        }
    }

    @Test("A key rotation requires every slot, and refuses a passphrase that does not open the old slot")
    func rotatesEverySlot() async throws {
        try await withPassphraseVault { place in
            try await place.signet("protect", "add", "keyfile", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
            let before = try place.vaultFiles()
            try await place.signet("protect", "rotate", "--passphrase-fd", "0", input: .text(Self.phrase + "\n")).succeeds()
            let after = try place.vaultFiles()
            #expect(after["vault.sqlite"] != before["vault.sqlite"])
            #expect(after["vault.key"] == before["vault.key"])
            #expect(try await place.accounts().count == 1)
            try await place.signet("accounts", "--passphrase-fd", "0", input: .text(Self.phrase)).succeeds()

            try await place.signet("protect", "add", "passphrase", "--new-passphrase-fd", "0", input: .text("second\n"))
                .succeeds()
            let slip = Self.phrase + "\nsecnd\n"
            try await place.signet("protect", "rotate", "--passphrase-fd", "0", input: .text(slip)).fails(78, "passphrase")
            try await place.signet("accounts", "--passphrase-fd", "0", input: .text("second")).succeeds()
            let right = Self.phrase + "\nsecond\n"
            try await place.signet("protect", "rotate", "--passphrase-fd", "0", input: .text(right)).succeeds()
            for phrase in [Self.phrase, "second"] {
                try await place.signet("accounts", "--passphrase-fd", "0", input: .text(phrase)).succeeds()
            }
        }
    }
}

@Suite("signet with real key protectors")
struct RealKeyProtectorTests {
    private static let uri = "otpauth://hotp/Harbor%20Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD&counter=0"

    /// Makes a vault with a key protector: it opens with it, not without it, and an older copy of it is noticed.
    private func lifeOfAVault(_ protection: String, _ environment: [String: String], without nobody: [String: String])
        async throws
    {
        try await Workplace.with(vault: false) { place in
            func signet(_ arguments: String...) async throws -> Outcome {
                try await place.start(arguments, environment: environment).end()
            }
            let made = try await signet("init", "--json").succeeds()
            #expect(made.json["protection"]?.string == protection)
            try await signet("enroll", Self.uri).succeeds()
            let older = try place.vaultFiles()
            let first = try await signet("code", "mira").succeeds().line
            #expect(try await signet("code", "mira").succeeds().line != first)
            try await place.signet("code", "mira", environment: nobody).fails(78)
            let told = try await signet("doctor", "--json").succeeds().json
            #expect(told["protectors"]?[protection]?["usable"] == .bool(true))

            for (name, bytes) in older { try bytes.write(to: URL(filePath: "\(place.home)/\(name)")) }
            for name in ["vault.sqlite-wal", "vault.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: "\(place.home)/\(name)")
            }
            try await signet("code", "mira").fails(78, "older copy", "accept-rollback")
            try await signet("protect", "accept-rollback").succeeds()
            #expect(try await signet("code", "mira").succeeds().line == first)
        }
    }

    @Test(
        "A vault in a TPM opens with it only, and an older copy is noticed",
        .enabled(if: SoftwareTPM.missing() == nil, "no swtpm here"))
    func protectsWithTPM() async throws {
        try await SoftwareTPM.with { tpm in
            let environment = tpm.environment.merging(["SIGNET_TCTI": tpm.tcti]) { $1 }
            try await lifeOfAVault("tpm", environment, without: ["SIGNET_TCTI": "device:/nonexistent"])
        }
    }

    @Test(
        "A vault in the desktop's keyring opens with it only, and an older copy is noticed",
        .enabled(if: Keyring.missingPrograms.isEmpty, "no keyring here"))
    func protectsWithKeyring() async throws {
        try await Keyring.with(password: "unlocked") { keyring in
            let nobody = ["SIGNET_TCTI": "device:/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
            let environment = nobody.merging(keyring.environment) { $1 }
            try await lifeOfAVault("secret-service", environment, without: nobody)
        }
    }
}

@Suite("signet doctor")
struct DoctorTests {
    @Test("signet doctor reports the vault's key slots and why other protectors are unusable, without opening it")
    func reportsHealthyVault() async throws {
        try await Workplace.with { place in
            try FileManager.default.moveItem(atPath: place.home + "/vault.key", toPath: place.home + "/kept")
            let lost = try await place.signet("doctor", "--json")
            #expect(lost.status == 78)
            try FileManager.default.moveItem(atPath: place.home + "/kept", toPath: place.home + "/vault.key")
            let before = try place.vaultFiles()
            let told = try await place.signet("doctor", "--json").succeeds().json
            #expect(told["vault"]?["format"] == .integer(1))
            let slotProtectors = told["vault"]?["slots"]?.array?.map { $0["protector"]?.string }
            #expect(slotProtectors == ["keyfile"])
            #expect(told["vault"]?["lastBackup"] == nil)
            #expect(told["place"] == .array([]))
            let protectors = try #require(told["protectors"]?.object)
            #expect(Set(protectors.keys) == ["tpm", "secret-service", "credential", "passphrase", "keyfile"])
            for (name, protector) in protectors where protector["usable"] == .bool(false) {
                #expect(protector["reason"]?.string?.isEmpty == false, "\(name)")
            }
            #expect(try place.vaultFiles() == before)
            let words = try await place.signet("doctor").succeeds().output
            for word in ["keyfile", "SQLite", "Secret Service", "private", "last backup"] { #expect(words.contains(word)) }
        }
    }

    @Test("signet doctor exits with the problem's code for a missing, an exposed and a damaged vault")
    func reportsVaultProblems() async throws {
        try await Workplace.with(vault: false) { place in
            let none = try await place.signet("doctor")
            #expect(none.status == 78)
            #expect(none.output.contains("does not exist"))
        }
        try await Workplace.with { place in
            try #require(chmod(place.home, 0o755) == 0)
            let open = try await place.signet("doctor", "--json")
            #expect(open.status == 77)
            #expect(open.json["place"]?.array?.isEmpty == false)
            try #require(chmod(place.home, 0o700) == 0)
            try Data("not a database at all, but long enough to be one".utf8).write(
                to: URL(filePath: place.home + "/vault.sqlite"))
            #expect(try await place.signet("doctor").status == 74)
        }
    }
}
