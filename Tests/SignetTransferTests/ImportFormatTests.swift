import SignetAuthenticator
import SignetCore
import SignetTransfer
import TestSupport
import Testing

@Suite("Export formats of other authenticators")
struct ImportFormatTests {
    /// A file as another program writes it.
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        let format: ImportFormat
        var isEncrypted = false
        var testDescription: String { name }

        func content() throws -> ImportContent {
            try format.read(TransferFixture.bytes(name), passphrase: isEncrypted ? TransferFixture.passphrase : nil)
        }
    }

    /// The files with the same ten entries.
    static let lists = [
        File(name: "aegis-plain.json", format: .aegis), File(name: "aegis-encrypted.json", format: .aegis, isEncrypted: true),
        File(name: "2fas-plain.2fas", format: .twoFAS), File(name: "2fas-encrypted.2fas", format: .twoFAS, isEncrypted: true),
        File(name: "andotp-plain.json", format: .andOTP), File(name: "andotp-encrypted.bin", format: .andOTP, isEncrypted: true),
    ]
    static let others = [
        File(name: "otpauth.txt", format: .otpauth), File(name: "google.txt", format: .google),
        File(name: "google-part.txt", format: .google), File(name: "forgerock-android.json", format: .forgerock),
        File(name: "forgerock-ios.jsonl", format: .forgerock), File(name: "keychain.plist", format: .keychain),
        File(name: "keyed-objects.plist", format: .keychain),
        File(name: "archive-v1.signet", format: .signet, isEncrypted: true),
        File(name: "Programs/keepassxc-2.7.4.xml", format: .keePassXML),
        File(name: "Programs/python-pskc-1.4-plain.xml", format: .pskc),
    ]

    @Test("The format of a file is recognized by its content", arguments: lists + others)
    func detectsFormat(file: File) throws {
        let bytes = try TransferFixture.bytes(file.name)
        #expect(ImportFormat.detect(bytes) == file.format)
        let passphrase = file.isEncrypted ? TransferFixture.passphrase : nil
        let content = try ImportFormat.read(bytes, passphrase: passphrase)
        #expect(!content.accounts.isEmpty)
        // The byte order mark that some editors write.
        let marked = [0xEF, 0xBB, 0xBF] + bytes
        #expect(try ImportFormat.read(marked, passphrase: passphrase).accounts.map(\.id) == content.accounts.map(\.id))
        #expect(try file.format.read(marked, passphrase: passphrase).accounts.count == content.accounts.count)
    }

    @Test("Every entry is imported or reported with a reason", arguments: lists)
    func importsOrReportsEveryEntry(file: File) throws {
        let content = try file.content()
        #expect(
            content.accounts.map(\.id) == [
                TransferFixture.bank, TransferFixture.alone, TransferFixture.steam, TransferFixture.long,
            ])
        let bank = [
            try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60),
            try TransferFixture.hotp(counter: 7),
        ]
        #expect(content.kinds(of: TransferFixture.bank) == bank)
        #expect(content.kinds(of: TransferFixture.alone) == [try TransferFixture.totp(TransferFixture.other, .sha512)])
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode(TransferFixture.other)))
        #expect(content.kinds(of: TransferFixture.steam) == [.oath(steam)])
        #expect(content.kinds(of: TransferFixture.long) == [try TransferFixture.totp(TransferFixture.other, digits: 10)])
        #expect(
            content.skipped.rows == [
                ["Old: hash", "totp", "unsupportedAlgorithm"], ["Broken: secret", "totp", "invalid"],
                ["Harbor Bank: mira", "totp", "duplicate"], ["Harbor Bank: mira", "totp", "nameTaken"],
                ["Bell: mira", "totp", "invalid"],
            ])
        let first = try #require(content.accounts.first)
        #expect(first.groups == ["Banks"] && content.leftOut["group"] == nil)
        for entry in content.skipped { #expect(!entry.detail.contains("!!!!") && !entry.detail.contains(TransferFixture.other)) }
    }

    @Test("An encrypted export asks for a passphrase and refuses a wrong one", arguments: lists.filter(\.isEncrypted))
    func asksForPassphraseOfExport(file: File) throws {
        let bytes = try TransferFixture.bytes(file.name)
        #expect(throws: ImportError.self) { try file.format.read(bytes) }
        for (passphrase, code) in [
            (nil, ImportError.Code.passphraseNeeded), ("Correct horse", .wrongPassphrase), ("", .wrongPassphrase),
        ] {
            do {
                _ = try file.format.read(bytes, passphrase: passphrase.map { Secret($0.utf8) })
                Issue.record("the export was opened")
            } catch {
                #expect(error.code == code)
                #expect(error.format == file.format)
            }
        }
    }

    @Test("URI list: Entries of Steam are imported, and entries that register with a server are reported")
    func reportsUnsupportedURIs() throws {
        let content = try ImportFormat.otpauth.read(TransferFixture.bytes("otpauth.txt"))
        let other = AccountID(issuer: "Games", accountName: "other")
        #expect(
            content.accounts.map(\.id) == [
                TransferFixture.bank, TransferFixture.alone, TransferFixture.steam, TransferFixture.long, other,
            ])
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode(TransferFixture.other)))
        for id in [TransferFixture.steam, other] { #expect(content.kinds(of: id) == [.oath(steam)]) }
        let skipped = content.skipped.map { [$0.type, $0.reason.rawValue] }
        #expect(
            skipped == [
                ["unknown", "unsupportedAlgorithm"], ["unknown", "invalid"], ["totp", "duplicate"], ["totp", "nameTaken"],
                ["push", "needsServer"],
            ])
    }

    @Test("Google: A QR code given twice counts once, and a missing one is reported")
    func mergesGoogleQRCodes() throws {
        let whole = try ImportFormat.google.read(TransferFixture.bytes("google.txt"))
        #expect(whole.accounts.map(\.id) == [TransferFixture.bank, TransferFixture.alone])
        let bank = [
            try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8), try TransferFixture.hotp(counter: 7),
        ]
        #expect(whole.kinds(of: TransferFixture.bank) == bank)
        #expect(whole.skipped.rows == [["Old: hash", "totp", "unsupportedAlgorithm"]])
        let part = try ImportFormat.google.read(TransferFixture.bytes("google-part.txt"))
        #expect(part.accounts.map(\.id) == [TransferFixture.bank])
        #expect(
            part.skipped.rows == [["Old: hash", "totp", "unsupportedAlgorithm"], ["QR code 2 of 3", "unknown", "missingPart"]])
    }

    @Test("Google: QR codes without batch numbers all count")
    func readsQRCodesWithoutNumbers() throws {
        // One entry each: the secret and the name.
        let list = ["one", "two"].map { name in
            let entry = [0x0A, 10] + Array(repeating: UInt8(7), count: 10) + [0x12, 3] + Array(name.utf8)
            return "otpauth-migration://offline?data=" + Base64.encode([0x0A, UInt8(entry.count)] + entry, as: .url)
        }
        let content = try ImportFormat.google.read(Array((list + [list[0]]).joined(separator: "\n").utf8))
        #expect(content.accounts.map(\.id.accountName) == ["one", "two"])
        #expect(content.skipped.isEmpty)
    }

    @Test(
        "ForgeRock SDKs: A mechanism of an account that cannot be read is not imported without its lock", arguments: [0, 1])
    func skipsMechanismOfUnreadableAccount(first: Int) throws {
        let documents = [
            #"{"issuer":"Bank","accountName":"joe","lock":true,"policies":"{broken"}"#,
            #"{"mechanismUID":"u","issuer":"Bank","accountName":"joe","type":"otpauth","oathType":"TOTP","secret":"JBSWY3DPEHPK3PXP"}"#,
        ]
        let file = "[\(documents[first]),\(documents[1 - first])]"
        let content = try ImportFormat.forgerock.read(Array(file.utf8))
        let mechanisms = content.accounts.flatMap(\.mechanisms)
        #expect(mechanisms.isEmpty)
        #expect(Set(content.skipped.map(\.type)) == ["account", "totp"])
    }

    @Test("ForgeRock SDKs: An incomplete entry is reported, and an object around other entries is not")
    func reportsIncompleteEntries() throws {
        let mechanism =
            #"{"mechanismUID":"u","issuer":"Bank","accountName":"joe","type":"otpauth","oathType":"TOTP","secret":"JBSWY3DPEHPK3PXP"}"#
        let file = #"{"app":{"content":[\#(mechanism),{"mechanismUID":"n9"},{"foo":1}]}}"#
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.flatMap(\.mechanisms).count == 1)
        #expect(content.skipped.rows == Array(repeating: ["entry without a name", "unknown", "invalid"], count: 2))
        #expect(throws: ImportError.self) { try ImportFormat.forgerock.read(Array(#"[{"foo":1}]"#.utf8)) }
    }

    @Test("FRAuthenticator: The platform, the push stream and the gateway are imported, a stream of another origin is not")
    func importsSignetMembers() throws {
        func file(server: String) -> [UInt8] {
            Array(
                #"{"mechanismUID":"u","issuer":"Bank","accountName":"joe","type":"pushauth","secret":"wh4BisPebv+FgKLqSuSZH/CS4ZuWe9A0P+pYsvNcd8U=","registrationEndpoint":"https://am.example.test/r","authenticationEndpoint":"https://am.example.test/a","platform":"house","deskEndpoint":"\#(server)","frontEndpoint":"https://gateway.example.test/f"}"#
                    .utf8)
        }
        let content = try ImportFormat.read(file(server: "https://am.example.test/stream"))
        guard case .push(let push)? = content.accounts.first?.mechanisms.first?.kind else { throw AuthenticatorTestError.noPush }
        #expect(push.platform == "house" && push.streamEndpoint?.url == "https://am.example.test/stream")
        #expect(push.gatewayEndpoint?.url == "https://gateway.example.test/f")
        #expect(try ImportFormat.read(file(server: "https://elsewhere.example.test/stream")).skipped.map(\.reason) == [.invalid])
    }

    @Test("Several files: The second file's lock and policies apply to the first file's mechanisms")
    func mergesLocks() throws {
        var locked = ImportedAccount(id: TransferFixture.bank)
        (locked.lockingPolicy, locked.policies) = ("theirs", ["deviceTampering": .object([:])])
        let first = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
        var second = ImportContent()
        second.accounts = [locked]
        let bank = ImportContent.combined([first, second]).accounts.first { $0.id == TransferFixture.bank }
        let account = try #require(bank)
        #expect(account.lockingPolicy == "theirs" && account.policies.keys.contains("deviceTampering"))
        #expect(!account.mechanisms.isEmpty)
    }

    @Test("ForgeRock SDKs: Accounts, locks, push and messages are imported, and a counter used by Android is advanced")
    func importsForgeRockFiles() throws {
        let android = try ImportFormat.forgerock.read(TransferFixture.bytes("forgerock-android.json"))
        let account = try #require(android.accounts.first)
        #expect(android.accounts.count == 1 && account.id == TransferFixture.bank)
        #expect(account.displayIssuer == "My Bank" && account.displayAccountName == nil)
        #expect(account.imageURL == "https://cdn.example.test/harbor.png" && account.backgroundColor == "#336699")
        #expect(account.timeAdded == Sample.start)
        #expect(account.lockingPolicy == "deviceTampering")
        #expect(account.policies["deviceTampering"]?["score"] == .number(0.8))
        #expect(account.mechanisms.map(\.kindName) == [.hotp, .push])
        #expect(account.mechanisms.map(\.userID) == ["user-7f3a", "user-7f3a"])
        #expect(account.mechanisms.first?.kind == (try TransferFixture.hotp(counter: 8)))
        guard case .push(let push)? = account.mechanisms.last?.kind else { throw AuthenticatorTestError.noPush }
        #expect(push.secret.count == 32)
        #expect(push.authenticationEndpoint.url.hasSuffix("?_action=authenticate"))
        let message = try #require(android.notifications.first)
        #expect(message.messageID == "AUTHENTICATE:1" && message.decision == .approved)
        #expect(message.message.kind == .number(choices: [34, 56, 82]))
        #expect(message.message.loadBalancerCookie == "amlbcookie=01")

        let apple = try ImportFormat.forgerock.read(TransferFixture.bytes("forgerock-ios.jsonl"))
        let other = try #require(apple.accounts.first)
        #expect(other.lockingPolicy == nil && other.displayIssuer == nil && other.backgroundColor == "#336699")
        let hotp = other.mechanisms.first { $0.kindName == .hotp }
        #expect(hotp?.kind == (try TransferFixture.hotp(counter: 7)))
        guard case .push(let applePush)? = other.mechanisms.first(where: { $0.kindName == .push })?.kind else {
            throw AuthenticatorTestError.noPush
        }
        #expect(applePush.secret == push.secret && applePush.loadBalancerCookie == "amlbcookie=01")
        #expect(apple.notifications.map(\.decision) == [nil])
        #expect(apple.skipped.map(\.reason) == [.invalid])
        #expect(apple.leftOut == ["device token": 1])
    }

    @Test("Several files are combined into one import in which a name has one secret of each kind")
    func combinesFiles() throws {
        let first = ImportContent(TransferFixture.account(TransferFixture.bank, try TransferFixture.totp()))
        let second = ImportContent(
            TransferFixture.account(
                TransferFixture.bank, try TransferFixture.totp(TransferFixture.other), try TransferFixture.hotp(counter: 1)))
        let both = ImportContent.combined([first, second, first])
        #expect(both.kinds(of: TransferFixture.bank) == [try TransferFixture.totp(), try TransferFixture.hotp(counter: 1)])
        #expect(both.skipped.map(\.reason) == [.nameTaken, .duplicate])
    }
}
