import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet import, export and backup")
struct ImportExportTests {
    private static let phrase = "correct horse battery staple"

    /// A file in another program's format; a script made it (Tests/SignetTransferTests/Fixtures/make).
    private static func fixture(_ name: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appending(path: "SignetTransferTests/Fixtures/\(name)").path(percentEncoded: false)
    }

    private func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    // MARK: import

    @Test(
        "signet import reads a file of every format, reports each entry, and imports nothing twice",
        arguments: [
            ("aegis-plain.json", "aegis", false, 5), ("aegis-encrypted.json", "aegis", true, 5),
            ("2fas-encrypted.2fas", "2fas", true, 5),
            ("andotp-encrypted.bin", "andotp", true, 5), ("otpauth.txt", "otpauth", false, 6), ("google.txt", "google", false, 3),
            ("forgerock-android.json", "forgerock", false, 2), ("keychain.plist", "keychain", false, 6),
            ("archive-v1.signet", "signet", true, 3),
        ])
    func importsEveryFormat(file: String, format: String, isEncrypted: Bool, count: Int) async throws {
        try await CommandLineFixture.with { cli in
            let input: TestProcess.Input = isEncrypted ? .text(Self.phrase + "\n") : .nothing
            let words = ["import", Self.fixture(file), "--json", "--file-passphrase-fd", "0"]
            let first = try await cli.run(words, input: input).succeeds().json
            #expect(first["formats"] == .array([.string(format)]))
            #expect(first["imported"]?.array?.count == count)
            #expect(first["dryRun"] == .bool(false))
            let accounts = try await cli.accounts()
            let mechanisms = accounts.flatMap { $0["mechanisms"]?.array ?? [] }
            #expect(mechanisms.count == count)

            let second = try await cli.run(words, input: input).succeeds().json
            #expect(second["imported"] == .array([]))
            let reasons = (second["skipped"]?.array ?? []).compactMap { $0["reason"]?.string }
            let duplicates = reasons.filter { $0 == "duplicate" }
            #expect(duplicates.count >= count)
            #expect(try await cli.accounts() == accounts)
        }
    }

    @Test(
        "signet import, also in a dry run, names an account that is locked or restricted by a policy", arguments: [true, false])
    func reportsRestrictedAccounts(dryRun: Bool) async throws {
        try await CommandLineFixture.with { cli in
            let words = ["import", Self.fixture("forgerock-android.json")] + (dryRun ? ["--dry-run"] : [])
            let report = try await cli.run(words).succeeds().output
            let restrictedLine = report.split(separator: "\n").first { $0.hasPrefix("Restricted: Harbor Bank: mira") }
            let line = try #require(restrictedLine)
            #expect(line.contains("locked (deviceTampering)") && line.contains("biometricAvailable"))
        }
    }

    @Test("Imported accounts make the right codes")
    func importsWorkingAccounts() async throws {
        try await CommandLineFixture.with { cli in
            let report = try await cli.signet("import", "-", input: .text(OATHSample.uri("hotp", "&counter=7"))).succeeds()
            #expect(report.output.contains("Imported 1 mechanism of 1 account (otpauth list)"))
            #expect(try await cli.signet("code", "mira").succeeds().line == "099169")
            #expect(try await cli.signet("code", "mira").succeeds().line == "802135")
            // The counter has advanced since; the import must not set it back.
            try await cli.signet("import", "-", input: .text(OATHSample.uri("hotp", "&counter=7"))).succeeds()
            #expect(try await cli.accounts().count == 1)
            let next = try await cli.signet("code", "mira", "--json").succeeds().json
            #expect(next["counter"] == .integer(9))
        }
    }

    @Test("signet import --dry-run gives the same report, changes nothing and needs no vault")
    func previewsImport() async throws {
        let file = Self.fixture("aegis-plain.json")
        try await CommandLineFixture.with(vault: false) { cli in
            let dry = try await cli.signet("import", file, "--dry-run").succeeds()
            #expect(dry.output.contains("Would import 5 mechanisms of 4 accounts (Aegis vault)"))
            #expect(dry.output.contains("Games: gamer  [totp]  codes of Steam"))
            #expect(dry.output.contains("Old: hash  [totp]  unsupportedAlgorithm"))
            #expect(dry.output.contains("Left out"))
            #expect(!FileManager.default.fileExists(atPath: cli.home))
        }
        try await CommandLineFixture.with { cli in
            let before = try cli.vaultFiles()
            try await cli.signet("import", file, "--dry-run").succeeds()
            #expect(try cli.vaultFiles() == before)
        }
    }

    @Test("The QR codes of one export can be imported at once or one after the other")
    func importsExportParts() async throws {
        try await CommandLineFixture.with { cli in
            let codes = try String(contentsOfFile: Self.fixture("google.txt"), encoding: .utf8).split(separator: "\n")
            let files = try codes.enumerated().map { try cli.write($1.utf8, to: "code\($0).txt") }
            let part = try await cli.run(["import", files[0], "--json"]).succeeds().json
            #expect(part["imported"]?.array?.count == 2)
            let reasons = part["skipped"]?.array?.compactMap { $0["reason"]?.string }
            #expect(reasons == ["missingPart", "missingPart"])
            let whole = try await cli.run(["import", "--json"] + files).succeeds().json
            #expect(whole["imported"]?.array?.count == 1)
            #expect(whole["formats"] == .array([.string("google"), .string("google"), .string("google")]))
        }
    }

    @Test("Pictures of the QR codes of one export are imported together")
    func importsExportPictures() async throws {
        try await CommandLineFixture.with { cli in
            let codes = try String(contentsOfFile: Self.fixture("google.txt"), encoding: .utf8).split(separator: "\n").prefix(2)
            let files = try codes.enumerated().map { try cli.write(QRDrawing(text: String($1)).png(), to: "code\($0).png") }
            let report = try await cli.run(["import", "--json"] + files).succeeds().json
            #expect(report["imported"]?.array?.count == 3)
            let skipped = report["skipped"]?.array?.compactMap { $0["name"]?.string }
            #expect(skipped == ["QR code 3 of 3"])
        }
    }

    @Test("A picture of an enrollment code and a store link is imported, and the link is reported", arguments: [false, true])
    func importsPictureOfTwoCodes(linkIsFirst: Bool) async throws {
        try await CommandLineFixture.with { cli in
            let texts = [OATHSample.uri(), "https://play.google.com/store/apps/details?id=example.test"]
            let codes = try (linkIsFirst ? texts.reversed() : texts).map { try QRDrawing(text: $0).image(scale: 4) }
            let picture = try PNGCodec.encode(GrayImage.sideBySide(codes[0], codes[1]))
            let report = try await cli.signet("import", "--json", cli.write(picture, to: "x.png")).succeeds().json
            let accounts = report["imported"]?.array?.compactMap { $0["account"]?.string }
            #expect(accounts == ["mira"])
            #expect(report["skipped"]?.array?.count == 1)
        }
    }

    @Test(
        "A picture of a URI with a line break or contradictory parameters imports nothing, and the URI is reported as invalid",
        arguments: ["\n&digits=8", "&digits=6&digits=8", "&issuer=Other"])
    func refusesContradictoryPicture(rest: String) async throws {
        try await CommandLineFixture.with { cli in
            let picture = try cli.write(QRDrawing(text: OATHSample.uri() + rest).png(), to: "x.png")
            let outcome = try await cli.signet("import", "--json", picture).succeeds()
            #expect(outcome.json["imported"] == .array([]))
            #expect(outcome.json["skipped"]?.array?.first?["reason"]?.string == "invalid")
            #expect(!outcome.output.contains(OATHSample.secretText))
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("Pictures of a real export are imported with their codes, and enroll names import for them")
    func importsRealPictures() async throws {
        try await CommandLineFixture.with { cli in
            let files = (2...4).map { Self.fixture("Programs/google-v2-3batches-\($0).png") }
            try await cli.signet("enroll", files[0]).fails(65, "Google Authenticator export", "signet import")
            let report = try await cli.run(["import", "--json", "--rename"] + files).succeeds().json
            let imported = report["imported"]?.array ?? []
            #expect(imported.count == 17 && report["skipped"] == .array([]))
            let renamed = imported.filter { $0["renamedFrom"]?.string == "bob" }.compactMap { $0["account"]?.string }
            #expect(renamed == ["bob (2)"])
            #expect(try await cli.signet("code", "Counter Five:alice").succeeds().line == "81402702")
        }
    }

    @Test("signet import names a file of a known format that it cannot read, and what to export instead")
    func namesUnsupportedFile() async throws {
        try await CommandLineFixture.with { cli in
            let file = try cli.write([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5, 0, 0, 0, 0] as [UInt8], to: "old.kdb")
            try await cli.signet("import", file).fails(65, "KeePass 1", "KeePassXC")
        }
    }

    @Test("signet import reports two secrets of one name, keeps both with --rename, and marks an assumed hash function")
    func reportsTwinsWithoutRename() async throws {
        let list = ["JBSWY3DPEHPK3PXP", OATHSample.secretText].map { "otpauth://totp/Twin:bob?secret=\($0)" }
            .joined(separator: "\n")
        try await CommandLineFixture.with { cli in
            let plain = try await cli.signet("import", "-", "--dry-run", input: .text(list)).succeeds()
            #expect(plain.output.contains("Twin: bob  [totp]  nameTaken") && plain.output.contains("--rename"))
            let report = try await cli.signet("import", "-", "--rename", input: .text(list)).succeeds()
            #expect(report.output.contains("Twin: bob (2)  [totp]  renamed: bob has another secret  SHA1 assumed"))
            let again = try await cli.signet("import", "-", "--rename", "--json", input: .text(list)).succeeds().json
            let reasons = again["skipped"]?.array?.compactMap { $0["reason"]?.string }
            #expect(reasons == ["duplicate", "duplicate"])
            let names = try await cli.accounts().compactMap { $0["account"]?.string }
            #expect(names.sorted() == ["bob", "bob (2)"])
        }
    }

    @Test("An unreadable import file is refused with the documented exit code, and nothing is changed")
    func refusesUnreadableImport() async throws {
        try await CommandLineFixture.with { cli in
            let before = try cli.vaultFiles()
            try await cli.signet("import", cli.directory.file("none")).fails(66, "No such file")
            try await cli.signet("import").fails(64, "file")
            try await cli.signet("import", cli.directory.path).fails(65, "directory")
            try await cli.signet("import", "-", input: .text("hello")).fails(65, "none of these", "Aegis")
            try await cli.signet("import", "-", "--format", "magic", input: .text("x")).fails(64, "magic")
            try await cli.signet("import", "-", "--format", "aegis", input: .text("hello")).fails(65, "Aegis vault", "not JSON")
            let file = Self.fixture("aegis-encrypted.json")
            try await cli.signet("import", file).fails(78, "--file-passphrase-fd")
            let wrong = try await cli.signet("import", file, "--file-passphrase-fd", "0", "--json", input: .text("wrong"))
            #expect(wrong.status == 65)
            #expect(wrong.jsonError?["code"]?.string == "import.wrongPassphrase")
            #expect(wrong.jsonError?["part"]?.string == "header.slots")
            #expect(try cli.vaultFiles() == before)
        }
    }

    // MARK: export

    @Test("signet export asks first, writes mode 0600, overwrites only on request, and can be imported again")
    func exportsAccounts() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("export", cli.directory.file("none.txt"), "--yes").fails(66, "nothing was written")
            try await cli.signet("import", Self.fixture("forgerock-ios.jsonl")).succeeds()
            try await cli.signet("import", "-", input: .text(OATHSample.uri(issuer: "X"))).succeeds()
            let file = cli.directory.file("list.txt")
            try await cli.signet("export", file).fails(77, "--yes")
            #expect(!FileManager.default.fileExists(atPath: file))
            let report = try await cli.signet("export", file, "--yes", "--json").succeeds().json
            let reasons = report["skipped"]?.array?.compactMap { $0["reason"]?.string }
            #expect(reasons?.contains("notExpressible") == true)
            #expect(try mode(of: file) == 0o600)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(OATHSample.secretText) && text.hasPrefix("otpauth://"))

            try await cli.signet("export", file, "--yes").fails(73, "--replace")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            try await cli.signet("export", file, "--yes", "--replace").succeeds()
            let nowhere = cli.directory.file("nowhere/export.txt")
            try await cli.signet("export", nowhere, "--yes").fails(66, "no such directory")
            let piped = try await cli.signet("export", "-", "--yes").succeeds()
            #expect(piped.output == text)
            #expect(piped.errors.contains("in clear"))
            let names = try FileManager.default.contentsOfDirectory(atPath: cli.directory.path)
            let unfinished = names.filter { $0.hasSuffix(".new") }
            #expect(unfinished.isEmpty)

            try await CommandLineFixture.with { other in
                let back = try await other.signet("import", file, "--json").succeeds().json
                #expect(back["imported"]?.array?.count == text.split(separator: "\n").count)
            }
        }
    }

    @Test("signet export reports how many of the user's display names it leaves out")
    func reportsOmittedDisplayNames() async throws {
        try await CommandLineFixture.with { cli in
            let service =
                #"{"name":"My bank","secret":"JBSWY3DPEHPK3PXP","otp":{"issuer":"Harbor Bank","account":"mira","tokenType":"TOTP"}}"#
            let backup = #"{"schemaVersion":4,"services":[\#(service)]}"#
            try await cli.signet("import", "-", input: .text(backup)).succeeds()
            let report = try await cli.signet("export", cli.directory.file("list.txt"), "--yes", "--json").succeeds().json
            #expect(report["leftOut"]?["display name"]?.lenientInteger == 1)
            let piped = try await cli.signet("export", "-", "--yes").succeeds()
            #expect(piped.errors.contains("display name (1)"))
        }
    }

    @Test("signet export --replace replaces an ordinary file only, never a link or a device")
    func replacesOrdinaryFilesOnly() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", "-", input: .text(OATHSample.uri(issuer: "X"))).succeeds()
            let (file, link) = (try cli.write("before".utf8, to: "target"), cli.directory.file("link"))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
            try await cli.signet("export", link, "--yes", "--replace").fails(77, "not an ordinary file")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "before")
            try await cli.signet("export", "/dev/null", "--yes", "--replace").fails(77, "not an ordinary file")
            let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
            #expect(type == .typeCharacterSpecial)
        }
    }

    @Test("Accounts whose names differ only in case are selected by exact case; otherwise case is ignored")
    func selectsAccountsByExactCase() async throws {
        try await CommandLineFixture.with { cli in
            for name in ["mira", "Mira"] {
                let uri = "otpauth://totp/Bank:\(name)?secret=\(OATHSample.secretText)"
                try await cli.signet("import", "-", input: .text(uri)).succeeds()
            }
            for name in ["mira", "Mira"] {
                let code = try await cli.signet("code", "Bank:\(name)", "--json").succeeds().json
                #expect(code["account"]?.string == name)
                try await cli.signet("accounts", "rename", name, "--issuer", "of \(name)").succeeds()
            }
            try await cli.signet("code", "MIRA").fails(65, "several", "Bank:mira, shown as 'of mira: mira'")
            try await cli.signet("code", "OF MIRA").fails(65, "several")
            // As `signet accounts` shows them, and as a user would type them.
            for name in ["of mira: mira", "of mira:mira", "Bank: mira"] {
                let code = try await cli.signet("code", name, "--json").succeeds().json
                #expect(code["account"]?.string == "mira", "\(name)")
            }
        }
    }

    @Test("signet export omits a record that cannot be read, writes the others and exits with 74", arguments: [true, false])
    func exportsWithoutDamagedRecord(isOnlyOne: Bool) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri(account: "mira")).succeeds()
            let store = try SQLiteStore(path: cli.home + "/vault.sqlite", creating: false)
            try store.write { (records: any RecordWriter) throws(StoreError) in
                for record in try records.records(.mechanism, after: nil, limit: 9) {
                    // The last byte belongs to the tag. The digest of the records covers the first bytes only.
                    var bytes = try record.content.get()
                    bytes[bytes.count - 1] ^= 1
                    try records.put(bytes, RecordKey(.mechanism, name: record.name))
                }
            }
            if !isOnlyOne { try await cli.signet("enroll", OATHSample.uri(account: "noa")).succeeds() }
            let file = cli.directory.file("list.txt")
            let outcome = try await cli.signet("export", file, "--yes")
            #expect(outcome.status == 74)
            #expect(outcome.errors.contains("1 record cannot be read; see 'signet accounts'"), "\(outcome.errors)")
            let list = try? String(contentsOf: URL(filePath: file), encoding: .utf8)
            #expect(list?.split(separator: "\n").count == (isOnlyOne ? nil : 1))
            #expect(list?.contains("mira") != true)
        }
    }

    // MARK: backup

    @Test("A backup is verified without a vault, restored in another one, and shown by signet doctor once complete")
    func backsUpAndRestores() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", Self.fixture("forgerock-android.json")).succeeds()
            try await cli.signet("import", Self.fixture("aegis-plain.json")).succeeds()
            let file = cli.directory.file("accounts.signet")
            #expect(try await cli.signet("doctor", "--json").succeeds().json["vault"]?["lastBackup"] == nil)
            try await cli.signet("backup", "create", file, "--file-passphrase-fd", "0", input: .text("")).fails(65, "empty")
            try await cli.signet("backup", "create", file).fails(78, "--file-passphrase-fd")
            #expect(!FileManager.default.fileExists(atPath: file))
            let piped = try await cli.signet(
                "backup", "create", "-", "--file-passphrase-fd", "0", "--json", input: .text(Self.phrase))
            try piped.succeeds()
            #expect(piped.output.hasPrefix("SIGNETAR") && piped.errors.contains(#""recorded":false"#))
            #expect(try await cli.signet("doctor", "--json").succeeds().json["vault"]?["lastBackup"] == nil)

            let made = try await cli.signet(
                "backup", "create", file, "--notifications", "--file-passphrase-fd", "0", "--json", input: .text(Self.phrase)
            ).succeeds().json
            #expect(made["recorded"] == .bool(true) && made["push"] == .integer(1) && made["notifications"] == .integer(1))
            #expect(try mode(of: file) == 0o600)
            #expect(try await cli.signet("doctor", "--json").succeeds().json["vault"]?["lastBackup"]?.string != nil)
            try await cli.signet(
                "backup", "create", file, "--file-passphrase-fd", "0", input: .text(Self.phrase)
            ).fails(73, "--replace")

            try await CommandLineFixture.with(vault: false) { other in
                let verified = try await other.signet(
                    "backup", "verify", file, "--file-passphrase-fd", "0", "--json", input: .text(Self.phrase)
                ).succeeds().json
                for name in ["accounts", "mechanisms", "totp", "hotp", "push", "notifications"] {
                    #expect(verified[name] == made[name], "\(name)")
                }
                #expect(!FileManager.default.fileExists(atPath: other.home))
                try await other.signet("init", "--protect", "keyfile").succeeds()
                try await other.signet("backup", "restore", file, "--file-passphrase-fd", "0", input: .text(Self.phrase))
                    .succeeds()
                #expect(try await other.accounts() == cli.accounts())
                #expect(try await other.messages() == cli.messages())
            }
        }
    }

    @Test("A backup of accounts with plain http endpoints is complete only where the user allows that host")
    func restoresPlainHTTPWhenAllowed() async throws {
        try await CommandLineFixture.with { cli in
            let export = try String(contentsOf: URL(filePath: Self.fixture("forgerock-android.json")), encoding: .utf8)
            let plain = try cli.write(export.replacing("https:", with: "http:").utf8, to: "plain.json")
            let allowed = ["--allow-http", "am.example.test"]
            #expect(try await cli.run(["import", plain] + allowed).succeeds().output.contains("push"))
            let file = cli.directory.file("b.signet")
            try await cli.signet("backup", "create", file, "--file-passphrase-fd", "0", input: .text(Self.phrase)).succeeds()

            let reading = ["--file-passphrase-fd", "0"]
            let refused = try await cli.run(["backup", "verify", file] + reading, input: .text(Self.phrase))
            #expect(refused.status == 65)
            #expect(refused.errors.contains("left out by 'restore'"))
            #expect(refused.output.contains("A backup of") && refused.output.contains("plain http"))
            try await cli.run(["backup", "verify", file] + reading + allowed, input: .text(Self.phrase)).succeeds()
            try await CommandLineFixture.with { other in
                try await other.run(["backup", "restore", file] + reading + allowed, input: .text(Self.phrase)).succeeds()
                #expect(try await other.accounts() == cli.accounts())
            }
        }
    }

    @Test("A backup that is damaged, truncated or opened with another passphrase is refused")
    func refusesBadBackup() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let bytes = try Data(contentsOf: URL(filePath: Self.fixture("archive-v1.signet")))
            let short = try cli.write(bytes.dropLast(), to: "short")
            try await cli.signet("backup", "verify", short).fails(65, "cut off")
            var changed = bytes
            changed[200] ^= 1
            let damaged = try cli.write(changed, to: "damaged")
            try await cli.signet("backup", "verify", damaged, "--file-passphrase-fd", "0", input: .text(Self.phrase)).fails(
                65, "changed since")
            try await cli.signet(
                "backup", "verify", Self.fixture("archive-v1.signet"), "--file-passphrase-fd", "0", input: .text("wrong")
            ).fails(65, "passphrase")
            changed = bytes
            changed[8] = 9
            let newer = try cli.write(changed, to: "newer")
            try await cli.signet("backup", "restore", newer).fails(65, "newer Signet")
            try await cli.signet("backup", "verify", cli.directory.file("none")).fails(66)
            try await cli.signet("backup", "restore", Self.fixture("aegis-plain.json")).fails(65, "Signet archive")
        }
    }

    @Test("A service creates and reads backups with a systemd credential")
    func backsUpWithCredential() async throws {
        try await CommandLineFixture.with { cli in
            let credentials = cli.directory.file("credentials")
            try FileManager.default.createDirectory(
                atPath: credentials, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            _ = try cli.write((Self.phrase + "\n").utf8, to: "credentials/signet-archive-passphrase", mode: 0o400)
            let environment = ["CREDENTIALS_DIRECTORY": credentials]
            let file = cli.directory.file("b.signet")
            try await cli.signet("backup", "create", file, environment: environment).succeeds()
            try await cli.signet("backup", "verify", file, environment: environment).succeeds()
            try await cli.signet("backup", "verify", file, "--file-passphrase-fd", "0", input: .text(Self.phrase)).succeeds()
        }
    }

    @Test("A full disk leaves the existing backup file in place, and no backup is recorded", .enabled(if: SmallDisk.isPossible))
    func keepsBackupOnFullDisk() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", Self.fixture("aegis-plain.json")).succeeds()
            try await SmallDisk.with(cli.directory.file("disk"), kilobytes: 512) { disk in
                let file = disk.path + "/b.signet"
                try Data("before".utf8).write(to: URL(filePath: file))
                try disk.fill()
                try await cli.signet(
                    "backup", "create", file, "--replace", "--file-passphrase-fd", "0", input: .text(Self.phrase)
                ).fails(74, "no space")
                #expect(try Data(contentsOf: URL(filePath: file)) == Data("before".utf8))
                #expect(try await cli.signet("doctor", "--json").succeeds().json["vault"]?["lastBackup"] == nil)
            }
        }
    }
}

extension CommandLineFixture {
    /// Runs `signet` with its arguments in an array.
    fileprivate func run(_ arguments: [String], input: TestProcess.Input = .nothing) async throws -> Outcome {
        try await TaskLimiter.processes.pass { try await start(arguments, input: input).end() }
    }
}
