import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

/// Groups, notes and icons of other programs, from the file to the vault, the archive and the export.
@Suite("Groups, notes and icons")
struct ImportedDetailsTests {
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private static let base64 = "iVBORw0KGgoBAgM="
    private static let id = AccountID(issuer: "A", accountName: "a")

    private static func content(_ text: String) throws -> ImportContent { try ImportFormat.read(Array(text.utf8)) }

    /// An Aegis vault with these members of its entry.
    private static func aegis(_ members: String, groups: String = "[]") -> String {
        #"""
        {"version":1,"header":{},"db":{"version":3,"groups":\#(groups),"entries":[{"type":"totp","name":"a","issuer":"A",
        "info":{"secret":"JBSWY3DPEHPK3PXP","algo":"SHA1","digits":6,"period":30},\#(members)}]}}
        """#
    }

    // MARK: Formats

    /// A file with one account, and what the account has.
    struct File: Sendable, CustomTestStringConvertible {
        let format: ImportFormat
        let text: String
        var groups: [String] = []
        var note: String?
        var iconName: String?
        var hasPicture = false
        var testDescription: String { format.rawValue }
    }

    static let files = [
        File(
            format: .aegis,
            text: aegis(
                #""groups":["g1","g2"],"note":"first\r\nsecond","icon":"\#(base64)","icon_mime":"image/png""#,
                groups: #"[{"uuid":"g2","name":"Money"},{"uuid":"g1","name":"Work"}]"#),
            groups: ["Work", "Money"], note: "first\nsecond", hasPicture: true),
        // Before version 3 of the content, an entry had the name of one group.
        File(format: .aegis, text: aegis(#""group":"Work","note":"","icon":null"#), groups: ["Work"]),
        File(
            format: .andOTP,
            text: #"""
                [{"secret":"JBSWY3DPEHPK3PXP","issuer":"A","label":"a","type":"TOTP","algorithm":"SHA1","digits":6,"period":30,
                "tags":["Work","Money"],"thumbnail":"Github"}]
                """#, groups: ["Work", "Money"], iconName: "Github"),
        File(
            format: .twoFAS,
            text: #"""
                {"schemaVersion":4,"groups":[{"id":"g","name":"Work"}],"services":[{"name":"A","secret":"JBSWY3DPEHPK3PXP",
                "groupId":"g","otp":{"account":"a","issuer":"A"}}]}
                """#, groups: ["Work"]),
        File(
            format: .stratum,
            text: #"""
                {"Authenticators":[{"Type":2,"Issuer":"A","Username":"a","Secret":"JBSWY3DPEHPK3PXP","Algorithm":0,"Digits":6,
                "Period":30,"Icon":"github"}],"Categories":[{"Id":"c","Name":"Work"}],
                "AuthenticatorCategories":[{"CategoryId":"c","AuthenticatorSecret":"JBSWY3DPEHPK3PXP"}]}
                """#, groups: ["Work"], iconName: "github"),
        File(
            format: .stratum,
            text: #"""
                {"Authenticators":[{"Type":2,"Issuer":"A","Username":"a","Secret":"JBSWY3DPEHPK3PXP","Algorithm":0,"Digits":6,
                "Period":30,"Icon":"@i"}],"CustomIcons":[{"Id":"i","Data":"\#(base64)"}]}
                """#, hasPicture: true),
        File(
            format: .keePassXC,
            text: #"""
                "Group","Title","Username","Password","URL","Notes","TOTP"
                "Lab/Work","A","a","p","","first
                second","otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP"
                """#, groups: ["Lab/Work"], note: "first\nsecond"),
        File(
            format: .keePassXML,
            text: """
                <?xml version="1.0"?><KeePassFile><Meta><CustomIcons><Icon><UUID>i</UUID><Data>\(base64)</Data></Icon></CustomIcons>
                </Meta><Root><Group><UUID>1</UUID><Name>Lab</Name><Group><UUID>2</UUID><Name>Work</Name><Entry>
                <CustomIconUUID>i</CustomIconUUID><String><Key>otp</Key><Value>otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP</Value>
                </String><String><Key>Notes</Key><Value>a note</Value></String></Entry></Group></Group></Root></KeePassFile>
                """, groups: ["Lab/Work"], note: "a note", hasPicture: true),
    ]

    @Test("The groups, the note and the icon of an entry are read", arguments: files)
    func readsDetailsOfEntry(file: File) throws {
        let bytes = Array(file.text.utf8)
        #expect(ImportFormat.detect(bytes) == file.format)
        let content = try ImportFormat.read(bytes)
        let account = try #require(content.accounts.first)
        #expect(account.id == Self.id && account.mechanisms.count == 1)
        #expect(account.groups == file.groups && account.iconName == file.iconName)
        #expect(account.note?.text == file.note)
        #expect(account.icon?.data == (file.hasPicture ? Self.picture : nil))
        for name in ["group", "note", "icon"] { #expect(content.leftOut[name] == nil) }
    }

    @Test("The exports of real programs keep the groups and the notes that the programs wrote")
    func readsDetailsOfPrograms() throws {
        let github = AccountID(issuer: "GitHub", accountName: "alice@example.com")
        let bank = AccountID(issuer: "Acme Bank", accountName: "alice")
        let hasNote: [String: Bool] = [
            "aegis-by-spec-v2-plain.json": true, "otpclient-5.1.6-aegis-plain.json": false,
            "otpclient-5.1.6-2fas-plain.2fas": false, "otpclient-5.1.6-stratum-plain.json": false,
        ]
        for (name, isThere) in hasNote {
            let content = try ImportFormat.read(TransferFixture.bytes("Programs/\(name)"))
            let first = content.accounts.first { $0.id == github }
            let second = content.accounts.first { $0.id == bank }
            #expect(first?.groups == ["Work"] && second?.groups == ["Money"], "\(name)")
            #expect((first?.note?.text == "recovery code 1234\nsecond line") == isThere, "\(name)")
        }
        for name in ["keepassxc-2.7.4.csv", "keepassxc-2.7.4.xml"] {
            let content = try ImportFormat.read(TransferFixture.bytes("Programs/\(name)"))
            let account = content.accounts.first { $0.id == github }
            #expect(account?.groups == ["Lab"] && account?.note?.text == "recovery code 1234\nsecond line", "\(name)")
        }
    }

    // MARK: Limits

    @Test(
        "A group, a note or an icon that cannot be stored is counted, and the account is imported",
        arguments: [
            (#""groups":["unknown"]"#, "group"), (#""group":"a\u202Eb""#, "group"),
            (#""group":"\#(String(repeating: "g", count: 129))""#, "group"),
            (#""note":"\#(String(repeating: "n", count: (16 << 10) + 1))""#, "note"), (#""icon":"aWNvbg==""#, "icon"),
            (#""icon":"!!""#, "icon"), (#""icon":"\#(base64)\#(String(repeating: "AAAA", count: 64 << 10))""#, "icon"),
        ])
    func countsUnusableDetails(members: String, name: String) throws {
        let content = try Self.content(Self.aegis(members))
        #expect(content.mechanismCount == 1 && content.leftOut == [name: 1])
        let account = try #require(content.accounts.first)
        #expect(account.groups.isEmpty && account.note == nil && account.icon == nil)
    }

    @Test("The notes and groups of the entries of one account are joined, and the same note is there once")
    func joinsDetailsOfEntries() throws {
        let entries = [
            ("TOTP", "", "one", "Work"), ("HOTP", #","counter":1"#, "two", "Money"), ("HOTP", #","counter":1"#, "x", "X"),
        ]
        .map { type, counter, note, group in
            #"{"type":"\#(type)","name":"a","issuer":"A","note":"\#(note)","group":"\#(group)","#
                + #""info":{"secret":"JBSWY3DPEHPK3PXP"\#(counter)}}"#
        }
        let file = #"{"version":1,"header":{},"db":{"version":2,"entries":[\#(entries.joined(separator: ","))]}}"#
        let account = try #require(try Self.content(file).accounts.first)
        // The third entry is a duplicate of the second.
        #expect(account.groups == ["Work", "Money"] && account.note?.text == "one\n\ntwo")
    }

    // MARK: Store, archive, export

    private func sample() throws -> ImportContent {
        var account = TransferFixture.account(TransferFixture.bank, try TransferFixture.totp())
        account.groups = ["Work"]
        account.note = Secret("recovery code 1234".utf8)
        let icon = try #require(AccountIcon(Self.picture))
        (account.iconName, account.icon) = ("bank", icon)
        return ImportContent(account)
    }

    @Test("An import stores groups, note and picture, and its report, also of a dry run, tells of them without the note")
    func storesImportedDetails() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let content = try sample()
        let dry = try await authenticator.importAccounts(content, dryRun: true)
        let report = try await authenticator.importAccounts(content)
        #expect(report == dry)
        let details = try #require(report.details.first)
        #expect(report.details.count == 1 && details.account == TransferFixture.bank)
        #expect(details.groups == ["Work"] && details.hasNote && details.hasIcon)
        var dumped = ""
        dump(report, to: &dumped)
        #expect(!dumped.contains("1234"))
        let stored = try #require(try await authenticator.account(TransferFixture.bank)?.account)
        #expect(stored.groups == ["Work"] && stored.note?.text == "recovery code 1234" && stored.iconName == "bank")
        #expect(try await authenticator.icon(of: stored)?.data == Self.picture)
        let again = try await authenticator.importAccounts(content)
        #expect(again.imported.isEmpty && again.details.isEmpty)
        #expect(try await authenticator.account(TransferFixture.bank)?.account == stored)
    }

    @Test("An import into an account that has a note adds groups and keeps the note")
    func keepsStoredNote() async throws {
        let fixture = AuthenticatorFixture()
        var own = Account(id: TransferFixture.bank, timeAdded: Sample.start)
        (own.groups, own.note) = (["Home"], Secret("mine".utf8))
        let account = own
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(account) }
        let report = try await fixture.authenticator.importAccounts(try sample())
        #expect(report.details.map(\.groups) == [["Work"]] && report.details.first?.hasNote == false)
        let stored = try #require(try await fixture.authenticator.account(TransferFixture.bank)?.account)
        #expect(stored.groups == ["Home", "Work"] && stored.note?.text == "mine" && stored.iconName == "bank")
    }

    @Test("A second secret of one name has the details of its own entry under its second name")
    func keepsDetailsOfTwins() async throws {
        let entries = [("JBSWY3DPEHPK3PXP", "first"), ("KDJ7CDBNBTGWZBQC", "second")].map { secret, note in
            #"{"type":"totp","name":"a","issuer":"A","note":"\#(note)","info":{"secret":"\#(secret)"}}"#
        }
        let file = #"{"version":1,"header":{},"db":{"version":2,"entries":[\#(entries.joined(separator: ","))]}}"#
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(try Self.content(file), renamingTwins: true)
        let notes = try await authenticator.accounts().map { "\($0.account.id.accountName): \($0.account.note?.text ?? "")" }
        #expect(Set(notes) == ["a: first", "a (2): second"])
    }

    @Test("An archive has the groups, the notes and the pictures, and restores them")
    func restoresDetails() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(try sample())
        let archive = try await authenticator.archive()
        let cost = try #require(ScryptCost(logRounds: 10))
        let bytes = try archive.sealed(with: TransferFixture.passphrase, cost: cost)
        let opened = try AccountArchive(opening: bytes, with: TransferFixture.passphrase)
        #expect(opened == archive && opened.icons.map(\.data) == [Self.picture])
        let other = AuthenticatorFixture().authenticator
        _ = try await other.importAccounts(opened.content)
        let stored = try #require(try await other.account(TransferFixture.bank)?.account)
        #expect(stored == archive.accounts.first)
        #expect(try await other.icon(of: stored)?.data == Self.picture)
    }

    @Test("An archive without the picture that an account names is restored without it, and the picture is counted")
    func restoresWithoutIcon() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(try sample())
        var archive = try await authenticator.archive()
        archive.icons = []
        let content = archive.content
        #expect(content.leftOut == ["icon": 1] && content.accounts.first?.icon == nil)
        #expect(content.accounts.first?.groups == ["Work"])
    }

    @Test("A list of URIs has no place for groups, notes and icons, and the export counts them")
    func countsDetailsInExport() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(try sample())
        let list = try await authenticator.otpauthURIs()
        #expect(list.uris.count == 1 && list.leftOut == ["group": 1, "note": 1, "icon": 1])
        #expect(!list.uris[0].contains("1234"))
    }

    @Test("An account of Steam is exported as a URI of the type steam, which is imported again")
    func exportsSteam() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let settings = OATHSettings.steam(secret: Secret(try Base32.decode("BUWMP4DZCFV2N7AVRDWNFVHDFFUZENT6")))
        let content = ImportContent(TransferFixture.account(TransferFixture.steam, .oath(settings)))
        let report = try await authenticator.importAccounts(content)
        #expect(report.imported.map(\.isSteam) == [true])
        let uri = try #require(try await authenticator.otpauthURIs().uris.first)
        #expect(uri.hasPrefix("otpauth://steam/Games:gamer?") && uri.contains("encoder=steam"))
        let again = try ImportFormat.read(Array(uri.utf8))
        #expect(again.accounts.first?.mechanisms.map(\.kind) == [.oath(settings)])
        let archive = try await authenticator.archive()
        #expect(archive.content.accounts.first?.mechanisms.map(\.kind) == [.oath(settings)])
    }
}
