import SignetAuthenticator
import SignetCore
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

/// The files of `Fixtures/Exports`, which a script wrote from the published format of each program (`Fixtures/Exports/README.md`).
@Suite("Exports of Bitwarden, Proton, ente, cotp, Stratum and pass-otp")
struct ExportFileTests {
    /// A file, and what becomes of its entries.
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        let format: ImportFormat
        var isEncrypted = false
        /// The part that an error about a wrong passphrase names.
        var sealedPart = ""
        let accounts: [AccountID]
        let skipped: [[String]]
        var leftOut: [String: Int] = [:]
        var testDescription: String { name }

        func bytes() throws -> [UInt8] { try TransferFixture.bytes("Exports/\(name)") }
    }

    private static let bare = AccountID(issuer: "Bare", accountName: "noa")
    private static let nameless = AccountID(issuer: "Nameless", accountName: "ivan")
    private static let gordon = AccountID(issuer: "Steam", accountName: "gordon")
    private static let gamer = AccountID(issuer: "Steam", accountName: "gamer")
    private static let hash = AccountID(issuer: "Number#1", accountName: "noa")
    private static let bitwarden = [TransferFixture.bank, bare, TransferFixture.steam, nameless]
    private static let bitwardenSkips = [["Broken: mira", "totp", "invalid"], ["Old: mira", "unknown", "unsupportedAlgorithm"]]
    private static let bitwardenRest = ["password": 2, "deleted entry": 1]
    private static let proton = [TransferFixture.bank, gamer, gordon]
    private static let ente = [TransferFixture.bank, TransferFixture.steam, hash]

    static let plain = [
        File(
            name: "bitwarden.json", format: .bitwarden, accounts: bitwarden, skipped: bitwardenSkips, leftOut: bitwardenRest),
        File(
            name: "bitwarden.csv", format: .bitwarden, accounts: bitwarden, skipped: bitwardenSkips, leftOut: ["password": 2]),
        File(name: "proton.json", format: .proton, accounts: proton, skipped: [["Broken: Broken", "unknown", "invalid"]]),
        File(
            name: "ente.txt", format: .ente, accounts: ente, skipped: [["Old: mira", "unknown", "unsupportedAlgorithm"]],
            leftOut: ["deleted entry": 1]),
        File(
            name: "pass-otp.txt", format: .passOTP,
            accounts: [TransferFixture.bank, AccountID(issuer: "Twin", accountName: "bob")],
            skipped: [["Twin: bob", "hotp", "nameTaken"], ["Broken: bob", "unknown", "invalid"]], leftOut: ["line": 3]),
    ]

    static let encrypted = [
        File(
            name: "bitwarden-pbkdf2.json", format: .bitwarden, isEncrypted: true, sealedPart: "encKeyValidation_DO_NOT_EDIT",
            accounts: bitwarden, skipped: bitwardenSkips, leftOut: bitwardenRest),
        File(
            name: "bitwarden-argon2id.json", format: .bitwarden, isEncrypted: true, sealedPart: "encKeyValidation_DO_NOT_EDIT",
            accounts: bitwarden, skipped: bitwardenSkips, leftOut: bitwardenRest),
        File(
            name: "proton-encrypted.json", format: .proton, isEncrypted: true, sealedPart: "content", accounts: proton,
            skipped: [["Broken: Broken", "unknown", "invalid"]]),
        File(
            name: "ente-encrypted.json", format: .ente, isEncrypted: true, sealedPart: "encryptedData", accounts: ente,
            skipped: [["Old: mira", "unknown", "unsupportedAlgorithm"]], leftOut: ["deleted entry": 1]),
        File(
            name: "cotp-encrypted.json", format: .cotp, isEncrypted: true, sealedPart: "cipher",
            accounts: [TransferFixture.bank, TransferFixture.steam], skipped: [["Y: mira", "yandex", "unsupportedType"]]),
        File(
            name: "stratum-encrypted.stratum", format: .stratum, isEncrypted: true, sealedPart: "file",
            accounts: [TransferFixture.bank, TransferFixture.steam], skipped: [["Mobile: mira", "motp", "unsupportedType"]]),
        File(
            name: "stratum-legacy.authpro", format: .stratum, isEncrypted: true, sealedPart: "file",
            accounts: [TransferFixture.bank, TransferFixture.steam], skipped: [["Mobile: mira", "motp", "unsupportedType"]]),
    ]

    @Test("Every entry is imported or reported with a reason", arguments: plain + encrypted)
    func readsExport(file: File) throws {
        let bytes = try file.bytes()
        #expect(ImportFormat.detect(bytes) == file.format)
        let content = try ImportFormat.read(bytes, passphrase: file.isEncrypted ? TransferFixture.passphrase : nil)
        #expect(content.accounts.map(\.id) == file.accounts)
        #expect(content.skipped.rows == file.skipped)
        #expect(content.leftOut == file.leftOut)
        let bank = content.kinds(of: TransferFixture.bank)
        #expect(bank?.first == (try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60)))
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode(TransferFixture.other)))
        for id in [TransferFixture.steam, Self.gamer] where file.accounts.contains(id) {
            #expect(content.kinds(of: id) == [.oath(steam)])
        }
        for entry in content.skipped { #expect(!entry.detail.contains("!!!!") && !entry.detail.contains(TransferFixture.other)) }
    }

    @Test("An encrypted export asks for a passphrase and refuses a wrong one", arguments: encrypted)
    func asksForPassphraseOfSealedExport(file: File) throws {
        let bytes = try file.bytes()
        let missing = try #require(throws: ImportError.self) { try file.format.read(bytes) }
        #expect(missing.code == .passphraseNeeded && missing.format == file.format)
        let wrong = try #require(throws: ImportError.self) {
            try file.format.read(bytes, passphrase: Secret("Correct horse".utf8))
        }
        #expect(wrong.code == .wrongPassphrase && wrong.format == file.format && wrong.part == file.sealedPart)
    }

    @Test("A truncated encrypted export is refused", arguments: encrypted)
    func refusesTruncatedExport(file: File) throws {
        let bytes = try file.bytes()
        for length in stride(from: 1, to: bytes.count - 1, by: 13) {
            #expect(throws: ImportError.self) { try file.format.read(Array(bytes[..<length])) }
        }
    }

    @Test("A file with changed bytes is read or refused without a crash", arguments: plain + encrypted)
    func toleratesChangedExport(file: File) throws {
        let bytes = try file.bytes()
        for seed in 0..<20 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? file.format.read(changed)
            _ = ImportFormat.detect(changed)
        }
    }

    @Test("Groups, notes and icons are read")
    func readsDetails() throws {
        let bitwarden = try ImportFormat.read(TransferFixture.bytes("Exports/bitwarden.json")).accounts.first
        #expect(bitwarden?.groups == ["Banks"] && bitwarden?.note?.text == "by post")
        let table = try ImportFormat.read(TransferFixture.bytes("Exports/bitwarden.csv")).accounts.first
        #expect(table?.groups == ["Banks"] && table?.note?.text == "by post")
        let ente = try ImportFormat.read(TransferFixture.bytes("Exports/ente.txt")).accounts.first
        #expect(ente?.groups == ["Banks"] && ente?.note?.text == "by post, daily" && ente?.iconName == "bank")
        let proton = try ImportFormat.read(TransferFixture.bytes("Exports/proton.json")).accounts.first
        #expect(proton?.note?.text == "by post")
    }

    // MARK: Stratum

    @Test("Stratum: The encrypted backup that OTPClient wrote has the same accounts as its plain one")
    func readsEncryptedStratum() throws {
        let sealed = try TransferFixture.bytes("Programs/otpclient-5.1.6-stratum-encrypted.bin")
        #expect(ImportFormat.detect(sealed) == .stratum)
        let content = try ImportFormat.read(sealed, passphrase: Secret("labpass1".utf8))
        let plain = try ImportFormat.read(TransferFixture.bytes("Programs/otpclient-5.1.6-stratum-plain.json"))
        #expect(content == plain && !content.accounts.isEmpty)
    }

    // MARK: Bitwarden

    @Test("Bitwarden: An export for one account is refused with advice")
    func refusesAccountExport() throws {
        let bytes = try TransferFixture.bytes("Exports/bitwarden-account.json")
        #expect(ImportFormat.detect(bytes) == .bitwarden)
        let error = try #require(throws: ImportError.self) {
            try ImportFormat.read(bytes, passphrase: TransferFixture.passphrase)
        }
        #expect(error.code == .malformed && error.part == "encrypted" && error.reason.contains("Password protected"))
    }

    @Test("Bitwarden: A key alone is SHA-1 by definition, and an empty label takes the names of the item")
    func readsKeysOfBitwarden() throws {
        let content = try ImportFormat.read(TransferFixture.bytes("Exports/bitwarden.json"))
        for (id, assumesSHA1) in [(Self.bare, false), (Self.nameless, true)] {
            let mechanisms = content.accounts.first { $0.id == id }?.mechanisms
            #expect(mechanisms?.map(\.kind) == [try TransferFixture.totp(TransferFixture.other)])
            #expect(mechanisms?.map(\.assumesSHA1) == [assumesSHA1])
        }
    }

    @Test(
        "Bitwarden: The names of an item fill an empty label only",
        arguments: [
            (#""name":"A","login":{"username":"a","totp":"otpauth://totp/B:b?secret=JBSWY3DPEHPK3PXP"}"#, "B: b"),
            (#""name":"A","login":{"username":"a","totp":"otpauth://totp?secret=JBSWY3DPEHPK3PXP"}"#, "A: a"),
            (#""name":"A: 1","login":{"username":"a@b","totp":"otpauth://totp/?secret=JBSWY3DPEHPK3PXP"}"#, "A: 1: a@b"),
            (#""name":"A","login":{"totp":"otpauth://totp/?secret=JBSWY3DPEHPK3PXP&issuer=C"}"#, "C: Untitled"),
            (#""login":{"username":"a","totp":"otpauth://totp/?secret=JBSWY3DPEHPK3PXP"}"#, "a: a"),
            (#""name":"A","login":{"username":null,"totp":"JBSWY3DPEHPK3PXP"}"#, "A: Untitled"),
            (#""name":null,"login":{"totp":"steam://JBSWY3DPEHPK3PXP"}"#, "Untitled: Untitled"),
        ])
    func namesAccounts(members: String, name: String) throws {
        let file = #"{"encrypted":false,"items":[{"type":1,\#(members)}]}"#
        let content = try ImportFormat.read(Array(file.utf8))
        let names = content.accounts.map { "\($0.id.issuer): \($0.id.accountName)" }
        #expect(names == [name])
    }

    @Test("Bitwarden: The CSV file of an organization is read, and a row without the column is reported")
    func readsOrganizationTable() throws {
        let header = "collections,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp"
        let file = "\(header)\n\"Mail,Web\",login,A,,,0,,a,x,JBSWY3DPEHPK3PXP\n,login,B\n"
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.map(\.id) == [AccountID(issuer: "A", accountName: "a")])
        #expect(content.accounts.first?.groups == ["Mail", "Web"])
        #expect(content.skipped.rows == [["row 3", "unknown", "invalid"]])
    }

    // MARK: ente

    @Test("Ente Auth: A single URI is a list of URIs, which can be enrolled too")
    func detectsSingleURI() throws {
        let lines = String(decoding: try TransferFixture.bytes("Exports/ente.txt"), as: UTF8.self).split(separator: "\n")
        let first = try #require(lines.first)
        #expect(ImportFormat.detect(Array(first.utf8)) == .otpauth)
        let content = try ImportFormat.ente.read(Array(first.utf8))
        #expect(content.accounts.map(\.id) == [TransferFixture.bank])
    }

    @Test("Ente Auth: Lines in quotation marks are read, and a broken parameter of the app hides no entry")
    func readsQuotedLines() throws {
        let list = """
            "otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP&codeDisplay=%7B%22trashed%22"
            otpauth://totp/B:b+c@d.org?secret=JBSWY3DPEHPK3PXP&issuer=B&codeDisplay=%ZZ
            """
        #expect(ImportFormat.detect(Array(list.utf8)) == .ente)
        let read = try ImportFormat.ente.read(Array(list.utf8))
        #expect(read.accounts.first?.id == AccountID(issuer: "A", accountName: "a"))
        #expect(read.accounts.count + read.skipped.count == 2)
    }

    // MARK: pass-otp

    @Test("Pass-otp: The counter in the file is used already, so the import takes the next one, also for a second name")
    func advancesCounters() async throws {
        let content = try ImportFormat.read(TransferFixture.bytes("Exports/pass-otp.txt"))
        #expect(content.kinds(of: TransferFixture.bank)?.last == (try TransferFixture.hotp(counter: 8)))
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(content, renamingTwins: true)
        let stored = try await authenticator.accounts()
        for (name, secret, counter) in [("bob", TransferFixture.other, UInt64(1)), ("bob (2)", TransferFixture.secret, 5)] {
            let account = stored.first { $0.account.id == AccountID(issuer: "Twin", accountName: name) }
            let expected = try TransferFixture.hotp(secret, counter: counter)
            #expect(account?.mechanisms.map(\.kind) == [expected])
        }
    }

    @Test("Pass-otp: A counter at its end stays there, and a file without a URI is refused")
    func keepsLastCounter() throws {
        let uri = "otpauth://hotp/A:a?secret=JBSWY3DPEHPK3PXP&counter=18446744073709551615"
        let content = try ImportFormat.read(Array("password\n\(uri)\n".utf8))
        let kind = content.accounts.first?.mechanisms.first?.kind
        #expect(kind == (try TransferFixture.hotp(TransferFixture.other, counter: .max)))
        #expect(throws: ImportError.self) { try ImportFormat.passOTP.read(Array("password\n".utf8)) }
        #expect(ImportFormat.detect(Array("password\nuser: mira\n".utf8)) == nil)
    }

    @Test("An OpenPGP message is refused with the way to decrypt it")
    func refusesOpenPGP() throws {
        let error = try #require(throws: ImportError.self) {
            try ImportFormat.read(Array("-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----\n".utf8))
        }
        #expect(error.code == .unknownFormat && error.reason.contains("pass show"))
    }

    // MARK: Hostile files

    /// A file that is refused, and the part that the error names.
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let code: ImportError.Code
        let part: String
        var testDescription: String { String(text.prefix(80)) }

        init(_ text: String, _ code: ImportError.Code, _ part: String) {
            (self.text, self.code, self.part) = (text, code, part)
        }
    }

    private static let sealed = "2.AAAAAAAAAAAAAAAAAAAAAA==|AAAAAAAAAAAAAAAAAAAAAA==|AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static func bitwardenFile(_ costs: String, data: String = sealed) -> String {
        #"{"encrypted":true,"passwordProtected":true,"salt":"AAAAAAAAAAAAAAAAAAAAAA==",\#(costs),"#
            + #""encKeyValidation_DO_NOT_EDIT":"\#(sealed)","data":"\#(data)"}"#
    }

    private static func enteFile(_ costs: String, nonce: String = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", data: String? = nil)
        -> String
    {
        let data = data ?? String(repeating: "A", count: 24)
        return #"{"version":1,"kdfParams":{\#(costs)},"encryptedData":"\#(data)","encryptionNonce":"\#(nonce)"}"#
    }

    static let rows = [
        Row(#"{"encrypted":false,"items":{}}"#, .unknownFormat, "file"),
        Row(#"{"encrypted":true,"items":[]}"#, .malformed, "encrypted"),
        Row(#"{"encrypted":true,"passwordProtected":true,"data":"x"}"#, .malformed, "salt"),
        Row(bitwardenFile(#""kdfType":0"#), .malformed, "kdfIterations"),
        Row(bitwardenFile(#""kdfType":0,"kdfIterations":1"#), .tooCostly, "kdfIterations"),
        Row(bitwardenFile(#""kdfType":0,"kdfIterations":9223372036854775807"#), .tooCostly, "kdfIterations"),
        Row(bitwardenFile(#""kdfType":1,"kdfIterations":3"#), .malformed, "kdfMemory"),
        Row(bitwardenFile(#""kdfType":1,"kdfIterations":3,"kdfMemory":1025,"kdfParallelism":4"#), .tooCostly, "kdfMemory"),
        Row(
            bitwardenFile(#""kdfType":1,"kdfIterations":3,"kdfMemory":9223372036854775807,"kdfParallelism":4"#), .tooCostly,
            "kdfMemory"),
        Row(bitwardenFile(#""kdfType":1,"kdfIterations":3,"kdfMemory":-64,"kdfParallelism":4"#), .tooCostly, "kdfMemory"),
        Row(bitwardenFile(#""kdfType":1,"kdfIterations":3,"kdfMemory":64,"kdfParallelism":0"#), .tooCostly, "kdfMemory"),
        Row(bitwardenFile(#""kdfType":1,"kdfIterations":100000,"kdfMemory":1024,"kdfParallelism":4"#), .tooCostly, "kdfMemory"),
        Row(bitwardenFile(#""kdfType":2,"kdfIterations":3"#), .newerVersion, "kdfType"),
        Row(bitwardenFile(#""kdfType":0,"kdfIterations":5000"#, data: "7.AAAA"), .newerVersion, "data"),
        Row(bitwardenFile(#""kdfType":0,"kdfIterations":5000"#, data: "2.AAAA|AAAA"), .malformed, "data"),
        Row(bitwardenFile(#""kdfType":0,"kdfIterations":5000"#, data: "text"), .malformed, "data"),
        Row(#"{"version":2,"entries":[]}"#, .newerVersion, "version"),
        Row(#"{"version":0,"entries":[]}"#, .malformed, "version"),
        Row(#"{"version":1,"salt":"AAAA","content":"AAAA"}"#, .malformed, "salt"),
        Row(#"{"version":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==","content":"AAAA"}"#, .malformed, "content"),
        Row(#"{"version":3,"salt":"AAAAAAAAAAAAAAAAAAAAAA==","content":"AAAA"}"#, .newerVersion, "version"),
        Row(enteFile(#""memLimit":1048576,"opsLimit":2"#), .malformed, "kdfParams"),
        Row(enteFile(#""memLimit":1048576,"opsLimit":0,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#), .tooCostly, "kdfParams"),
        Row(enteFile(#""memLimit":9223372036854775807,"opsLimit":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#), .tooCostly, "kdfParams"),
        Row(enteFile(#""memLimit":1073741824,"opsLimit":65,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#), .tooCostly, "kdfParams"),
        Row(enteFile(#""memLimit":-1,"opsLimit":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#), .tooCostly, "kdfParams"),
        Row(
            enteFile(#""memLimit":8192,"opsLimit":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#, nonce: "AAAA"), .malformed,
            "encryptionNonce"
        ),
        Row(
            enteFile(#""memLimit":8192,"opsLimit":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#, data: "AAAA"), .malformed,
            "encryptedData"),
        Row(enteFile(#""memLimit":8192,"opsLimit":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==""#), .wrongPassphrase, "encryptedData"),
        Row(#"{"version":2,"nonce":"AAAA","salt":"AAAA","cipher":"AAAA"}"#, .newerVersion, "version"),
        Row(#"{"version":1,"nonce":"AAAA","salt":"AAAA","cipher":"AAAA"}"#, .malformed, "salt"),
        Row(#"{"version":1,"nonce":"AAAA","salt":"AAAAAAAAAAAAAAAAAAAAAA==","cipher":"AAAA"}"#, .malformed, "nonce"),
        Row("AUTHENTICATORPRO", .malformed, "file"), Row("AuthenticatorPro", .malformed, "file"),
    ]

    @Test("A hostile file is refused by an error that names the part, before a costly computation", arguments: rows)
    func refusesHostileFile(row: Row) throws {
        let error = try #require(throws: ImportError.self) {
            try ImportFormat.read(Array(row.text.utf8), passphrase: TransferFixture.passphrase)
        }
        #expect(error.code == row.code && error.part == row.part, "\(error)")
    }
}
