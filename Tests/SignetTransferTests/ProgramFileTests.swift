import Foundation
import SignetAuthenticator
import SignetCore
import SignetTransfer
import TestSupport
import Testing

/// Exports that real programs wrote from the same 21 accounts, and lists after the format of a program.
///
/// `Fixtures/Programs/accounts.json` has the accounts with their codes at one time, which oathtool computed.
@Suite("Exports of real programs")
struct ProgramFileTests {
    /// An account of `accounts.json`.
    struct Expected: Sendable {
        let id: String
        let account: AccountID
        let secret: [UInt8]
        let code: String

        /// The account as reports name it.
        var name: String { "\(account.issuer): \(account.accountName)" }

        init(_ json: JSONValue) throws {
            id = try #require(json["id"]?.string)
            let (issuer, name) = (try #require(json["issuer"]?.string), try #require(json["name"]?.string))
            account = AccountID(issuer: issuer.isEmpty ? name : issuer, accountName: name)
            secret = try Base32.decode(try #require(json["secret"]?.string))
            code = try #require(json["code_at_1700000000"]?.string)
        }
    }

    /// A file, and what becomes of the accounts that it should have.
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        let format: ImportFormat
        /// The accounts of `accounts.json` that the program did not write.
        var absent: Set<String> = []
        /// The accounts that are skipped, with the reasons.
        var skipped: [String: SkippedEntry.Reason]
        /// The number of skipped entries that are not in `accounts.json`.
        var otherSkips = 0
        /// The accounts whose hash function the program left out, so that their codes are wrong.
        var wrong: Set<String> = []
        /// The passphrase of an encrypted file.
        var passphrase: String?
        var testDescription: String { name }
    }

    private static let common: [String: SkippedEntry.Reason] = ["twin2": .nameTaken]
    private static let sorted: [String: SkippedEntry.Reason] = ["twin1": .nameTaken]

    static let files = [
        File(name: "aegis-by-spec-v2-plain.json", format: .aegis, skipped: common),
        File(name: "otpclient-5.1.6-aegis-plain.json", format: .aegis, absent: ["hotp53"], skipped: common),
        File(name: "otpclient-5.1.6-2fas-plain.2fas", format: .twoFAS, absent: ["hotp53"], skipped: common),
        File(name: "otpclient-5.1.6-stratum-plain.json", format: .stratum, absent: ["hotp53"], skipped: common),
        // The lines of two accounts are cut off and joined with the next line.
        File(
            name: "otpclient-3.1.4-freeotpplus.txt", format: .otpauth,
            skipped: common.merging(
                ["emoji": .invalid, "noissuer": .invalid, "percent": .invalid, "namecolon": .invalid],
                uniquingKeysWith: { $1 })),
        File(name: "cotp-1.9.10-cotp.json", format: .cotp, skipped: sorted),
        File(name: "cotp-1.9.10-otp-uri.json", format: .cotp, skipped: sorted),
        File(name: "cotp-1.9.10-andotp.json", format: .andOTP, skipped: sorted),
        File(name: "cotp-1.9.10-freeotpplus.json", format: .freeOTPPlus, skipped: sorted),
        // Three entries are there a second time, in other fields of KeePass.
        File(
            name: "keepassxc-2.7.4.csv", format: .keePassXC, absent: ["hotp0", "hotp5", "hotp53"], skipped: common, otherSkips: 3),
        // Five accounts are there a second time, in the fields of KeeTrayTOTP and of KeePass; those of KeeTrayTOTP have no hash.
        File(
            name: "keepassxc-2.7.4.xml", format: .keePassXML, absent: ["hotp0", "hotp5", "hotp53"], skipped: common,
            otherSkips: 5),
        // The database has the same entries as the XML file.
        File(
            name: "keepassxc-2.7.4.kdbx", format: .keePass, absent: ["hotp0", "hotp5", "hotp53"], skipped: common, otherSkips: 5,
            passphrase: "labpass1"),
        File(
            name: "python-pskc-1.4-pbkdf2.xml", format: .pskc, absent: ["steam"], skipped: common, passphrase: "labpass1"),
        File(
            name: "python-pskc-1.4-plain.xml", format: .pskc, absent: ["steam"], skipped: common),
        File(
            name: "google-v2-3batches.txt", format: .google, absent: ["sha512-7-60", "ten", "period15", "steam"],
            skipped: ["twin2": .nameTaken]),
        // The program names no hash function, and does not escape the label.
        File(
            name: "numberstation-1.3.0.txt", format: .otpauth, absent: ["steam"],
            skipped: ["twin2": .nameTaken, "percent": .invalid],
            wrong: ["sha256-8", "sha512-7-60"]),
    ]

    private static func bytes(_ name: String) throws -> [UInt8] { try TransferFixture.bytes("Programs/\(name)") }

    private static func accounts() throws -> [Expected] {
        let json = try JSON.value(of: bytes("accounts.json"))
        return try #require(json.array).map { try Expected($0) }
    }

    private static func settings(_ mechanism: ImportedMechanism) -> OATHSettings? {
        if case .oath(let settings) = mechanism.kind { settings } else { nil }
    }

    private static func code(_ settings: OATHSettings) -> String {
        settings.code(at: Date(timeIntervalSince1970: 1_700_000_000)).digits
    }

    @Test(
        "Every account of a program's file is imported with its codes, or reported with its name and a reason", arguments: files)
    func importsOrReportsEveryAccount(file: File) throws {
        let bytes = try Self.bytes(file.name)
        #expect(ImportFormat.detect(bytes) == file.format)
        let content = try ImportFormat.read(bytes, passphrase: file.passphrase.map { Secret($0.utf8) })
        let accounts = try Self.accounts().filter { !file.absent.contains($0.id) }
        for expected in accounts {
            let mechanisms = content.accounts.first { $0.id == expected.account }?.mechanisms ?? []
            let own = mechanisms.first { Self.settings($0)?.secret == Secret(expected.secret) }
            if let reason = file.skipped[expected.id] {
                #expect(own == nil, "\(expected.id)")
                // A label that is not escaped ends at its first question mark.
                let isReported = content.skipped.contains { $0.reason == reason && expected.name.hasPrefix($0.name) }
                #expect(isReported, "\(expected.id)")
                continue
            }
            let imported = try #require(own, "\(expected.id)")
            let code = Self.settings(imported).map(Self.code)
            #expect((code == expected.code) != file.wrong.contains(expected.id), "\(expected.id)")
            if file.wrong.contains(expected.id) { #expect(imported.assumesSHA1, "\(expected.id)") }
        }
        #expect(content.mechanismCount == accounts.count - file.skipped.count)
        #expect(content.skipped.count == file.skipped.count + file.otherSkips)
    }

    @Test("A skipped line of a list has the name of its account and the number of the line")
    func namesAccountAndLine() throws {
        let content = try ImportFormat.read(Self.bytes("otpclient-3.1.4-freeotpplus.txt"))
        let details = content.skipped.map { "\($0.name) [\($0.type)] \($0.detail.prefix(8))" }
        #expect(
            details == [
                "🦊 Fox: heidi [unknown] line 12:",
                "ivan@example.com: ivan@example.com [unknown] line 12:", "Twin: bob [totp] another ",
                "Müller & Söhne 100%: a+b?c#d@x.org [unknown] line 16:",
                "Colon Ltd: corp:mallory [unknown] line 16:",
            ])
    }

    @Test(
        "A file in a format that cannot be read is refused by an error that names the format",
        arguments: [
            ([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5] as [UInt8], "KeePass 1"),
            ([0x50, 0x4B, 0x03, 0x04], "compressed"), ([0x1F, 0x8B, 0x08], "compressed"),
        ])
    func refusesUnsupportedFile(magic: [UInt8], words: String) throws {
        let bytes = magic + [UInt8](repeating: 0, count: 200)
        #expect(ImportFormat.detect(bytes) == nil)
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(error.code == .unknownFormat && error.reason.contains(words))
    }

    @Test("NUL bytes at the end of a text file are ignored", arguments: ["aegis-plain.json", "otpauth.txt", "andotp-plain.json"])
    func ignoresNULBytesAfterTextFile(name: String) throws {
        let bytes = try TransferFixture.bytes(name)
        let padded = bytes + [UInt8](repeating: 0, count: 390)
        #expect(try ImportFormat.read(padded) == (try ImportFormat.read(bytes)))
    }

    @Test("Two URIs on two lines are two accounts of a list")
    func readsTwoLines() throws {
        let content = try ImportFormat.read(Self.bytes("two-lines-for-enroll.txt"))
        #expect(content.accounts.map(\.id.issuer) == ["A", "B"] && content.skipped.isEmpty)
    }

    @Test(
        "A URI that the next line continues is refused, and both lines are reported",
        arguments: ["DEF&issuer=X&digits=8", " Bank&digits=8", "&digits=8"])
    func refusesBrokenURI(rest: String) throws {
        let list =
            "otpauth://totp/X:mira?secret=JBSWY3DPEHPK3PXP&issuer=X\n\(rest)\n\notpauth://totp/Y:noa?secret=JBSWY3DPEHPK3PXP"
        let content = try ImportFormat.read(Array(list.utf8))
        #expect(content.accounts.map(\.id.issuer) == ["Y"])
        #expect(content.skipped.map(\.name) == ["X: mira", "line 2"])
    }

    @Test(
        "An item of cotp's list of URIs with two URIs or a line break is refused",
        arguments: ["\\n&digits=8", "otpauth://totp/B:b"])
    func refusesContradictoryItem(rest: String) throws {
        let file = #"{"items":["otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP\#(rest)",7]}"#
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.isEmpty)
        #expect(content.skipped.first?.name == "A: a" && content.skipped.last?.name == "entry 2")
    }

    @Test("KeePassXC: Quoted commas, quotation marks and line ends do not move a column; a file that is cut off is refused")
    func readsCSV() throws {
        let header = #""Group","Title","Username","Password","URL","Notes","TOTP""#
        let uri = "otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP"
        let row = #""g","t ""x"", y","u","""p","","a,\#n""b""","\#(uri)""#
        let content = try ImportFormat.read(Array("\(header)\r\n\(row)\r\n\"g\",\"t\",\"u\",\"p\",\"\",\"\",\"\"\r\n".utf8))
        #expect(content.accounts.map(\.id.issuer) == ["A"])
        #expect(content.leftOut == ["password": 1] && content.skipped.isEmpty)
        #expect(throws: ImportError.self) { try ImportFormat.read(Array("\(header)\n\"g\",\"t".utf8)) }
        #expect(throws: ImportError.self) { try ImportFormat.keePassXC.read(Array("\"Group\",\"Title\"\n".utf8)) }
    }

    // MARK: Twins

    @Test("Two secrets of one name are both imported with renaming, and a second import finds both")
    func findsRenamedTwinsAgain() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let content = try ImportFormat.read(Self.bytes("google-v2-3batches.txt"))
        let dry = try await authenticator.importAccounts(content, dryRun: true, renamingTwins: true)
        let report = try await authenticator.importAccounts(content, renamingTwins: true)
        #expect(report == dry)
        #expect(report.skipped.isEmpty && report.imported.count == 17)
        let second = AccountID(issuer: "Twin", accountName: "bob (2)")
        #expect(report.imported.last?.account == second && report.imported.last?.renamedFrom == "bob")
        let stored = try await authenticator.accounts()
        for (name, id) in [("bob", "twin1"), ("bob (2)", "twin2")] {
            let mechanism = stored.first { $0.account.id == AccountID(issuer: "Twin", accountName: name) }?.mechanisms.first
            let code = try Self.accounts().first { $0.id == id }?.code
            guard case .oath(let settings)? = mechanism?.kind else {
                Issue.record("\(name) is not there")
                continue
            }
            #expect(Self.code(settings) == code)
        }
        let again = try await authenticator.importAccounts(content, renamingTwins: true)
        #expect(again.imported.isEmpty)
        #expect(again.skipped.map(\.reason) == Array(repeating: .duplicate, count: 17))
        #expect(try await authenticator.accounts() == stored)
    }

    @Test("A secret whose name belongs to a stored account gets the next free name, with the lock and policies of the file")
    func renamesBesideStoredAccount() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let taken = AccountID(issuer: "Harbor Bank", accountName: "mira (2)")
        _ = try await authenticator.importAccounts(
            ImportContent(
                TransferFixture.account(TransferFixture.bank, try TransferFixture.totp()),
                TransferFixture.account(taken, try TransferFixture.hotp(counter: 1))))
        var offered = TransferFixture.account(TransferFixture.bank, try TransferFixture.totp(TransferFixture.other))
        (offered.lockingPolicy, offered.policies) = ("theirs", ["other": .object([:])])
        let report = try await authenticator.importAccounts(ImportContent(offered), renamingTwins: true)
        let third = AccountID(issuer: "Harbor Bank", accountName: "mira (3)")
        #expect(report.imported.map(\.account) == [third] && report.skipped.isEmpty)
        #expect(report.restrictions.map(\.account) == [third] && report.restrictions.first?.lock == "theirs")
        let plain = try await authenticator.importAccounts(ImportContent(offered))
        #expect(plain.imported.isEmpty && plain.skipped.map(\.reason) == [.nameTaken])
    }

    @Test(
        "An account whose URI or record names no hash function is marked in the report",
        arguments: [
            ("otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP", true),
            ("otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1", false),
            (#"[{"secret":"JBSWY3DPEHPK3PXP","label":"a","type":"TOTP"}]"#, true),
            (#"[{"secret":"JBSWY3DPEHPK3PXP","label":"a","type":"TOTP","algorithm":"SHA256"}]"#, false),
            (
                #"{"mechanismUID":"u","issuer":"A","accountName":"a","type":"otpauth","oathType":"TOTP","secret":"JBSWY3DPEHPK3PXP"}"#,
                true
            ),
        ])
    func marksAssumedAlgorithm(file: String, isAssumed: Bool) async throws {
        let content = try ImportFormat.read(Array(file.utf8))
        let report = try await AuthenticatorFixture().authenticator.importAccounts(content)
        #expect(report.imported.map(\.assumesSHA1) == [isAssumed])
    }
}
