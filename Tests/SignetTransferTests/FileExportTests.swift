import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer
import TestSupport
import Testing

@Suite("Export to files of other programs")
struct FileExportTests {
    private static let noa = AccountID(issuer: "Ä & <B>", accountName: "noa:1 🚀")
    private static let slow = AccountID(issuer: "Slow", accountName: "mira")

    /// Returns an authenticator with accounts that use what the formats have.
    private static func authenticator(locking lock: String? = nil) async throws -> Authenticator {
        let authenticator = AuthenticatorFixture().authenticator
        var bank = TransferFixture.account(
            TransferFixture.bank, try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60),
            try TransferFixture.hotp(counter: 7))
        (bank.groups, bank.note, bank.lockingPolicy) = (["Banks", "daily"], Secret("by \"post\"\nü".utf8), lock)
        let steam = Mechanism.Kind.oath(.steam(secret: Secret(try Base32.decode(TransferFixture.other))))
        let content = ImportContent(
            bank, TransferFixture.account(noa, try TransferFixture.totp(TransferFixture.other, .sha512, digits: 10)),
            TransferFixture.account(TransferFixture.steam, steam),
            TransferFixture.account(slow, try TransferFixture.totp(TransferFixture.other, period: 256)),
            TransferFixture.account(TransferFixture.alone, try TransferFixture.hotp(TransferFixture.other, counter: .max - 1)))
        let report = try await authenticator.importAccounts(content)
        #expect(report.imported.count == 6)
        return authenticator
    }

    private static func kinds(_ content: ImportContent) -> [AccountID: [Mechanism.Kind]] {
        Dictionary(content.accounts.map { ($0.id, $0.mechanisms.map(\.kind)) }, uniquingKeysWith: +)
    }

    @Test(
        "An Aegis vault has the codes, groups and notes, and reports a counter that it cannot hold", arguments: [nil, "a phrase"])
    func exportsAegisVault(phrase: String?) async throws {
        let authenticator = try await Self.authenticator()
        let passphrase = phrase.map { Secret($0.utf8) }
        let file = try await authenticator.exportFile(as: .aegis, passphrase: passphrase)
        #expect(file.count == 5 && file.damagedCount == 0 && file.leftOut.isEmpty)
        #expect(file.skipped.rows == [["alone: alone", "hotp", "notExpressible"]])
        let bytes = file.content.bytes
        #expect(ImportFormat.detect(bytes) == .aegis)
        let content = try ImportFormat.read(bytes, passphrase: passphrase)
        #expect(content.skipped.isEmpty && content.leftOut.isEmpty)
        let stored = try await authenticator.accounts().filter { $0.account.id != TransferFixture.alone }
        let pairs = stored.map { ($0.account.id, Set($0.mechanisms.map(\.kind))) }
        let wanted = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        let found = Self.kinds(content).mapValues { Set($0) }
        #expect(found == wanted)
        let bank = content.accounts.first { $0.id == TransferFixture.bank }
        #expect(Set(bank?.groups ?? []) == ["Banks", "daily"] && bank?.note?.text == "by \"post\"\nü")
        guard phrase != nil else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains(TransferFixture.secret) && !text.contains("Harbor"))
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes, passphrase: Secret("b".utf8)) }
        #expect(error.code == .wrongPassphrase)
    }

    @Test("Two encrypted exports of the same accounts have no key, salt or nonce in common")
    func usesNewValuesInEachExport() async throws {
        let authenticator = try await Self.authenticator()
        var values: [[String]] = []
        for _ in 0..<2 {
            let file = try await authenticator.exportFile(as: .aegis, passphrase: TransferFixture.passphrase)
            let header = try JSON.value(of: file.content.bytes)["header"]
            let slot = try #require(header?["slots"]?.array?.first)
            values.append(
                [slot["key"], slot["salt"], slot["uuid"], slot["key_params"]?["nonce"], header?["params"]?["nonce"]].compactMap {
                    $0?.string
                })
        }
        #expect(values[0].count == 5 && Set(values[0]).isDisjoint(with: values[1]))
    }

    @Test("The Credential Exchange Format gets the time-based codes, and reports the others")
    func exportsExchangeFormat() async throws {
        let authenticator = try await Self.authenticator()
        let file = try await authenticator.exportFile(as: .cxf)
        #expect(file.count == 2 && file.leftOut.isEmpty)
        let skipped = file.skipped.map { "\($0.name) \($0.type) \($0.reason.rawValue)" }.sorted()
        #expect(
            skipped == [
                "Games: gamer totp notExpressible", "Harbor Bank: mira hotp notExpressible", "Slow: mira totp notExpressible",
                "alone: alone hotp notExpressible",
            ])
        let bytes = file.content.bytes
        #expect(ImportFormat.detect(bytes) == .cxf)
        let content = try ImportFormat.read(bytes)
        #expect(content.skipped.isEmpty && content.leftOut.isEmpty)
        #expect(
            Self.kinds(content) == [
                TransferFixture.bank: [try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60)],
                Self.noa: [try TransferFixture.totp(TransferFixture.other, .sha512, digits: 10)],
            ])
        let bank = content.accounts.first { $0.id == TransferFixture.bank }
        #expect(bank?.groups == ["Banks", "daily"] && bank?.note?.text == "by \"post\"\nü")
    }

    @Test("A file of the Credential Exchange Format has the required members of its specification")
    func hasRequiredMembers() async throws {
        let authenticator = try await Self.authenticator()
        let file = try JSON.value(of: try await authenticator.exportFile(as: .cxf).content.bytes)
        #expect(file["version"] == .object(["major": .integer(1), "minor": .integer(0)]))
        #expect(file["exporterRpId"]?.string?.isEmpty == false && file["exporterDisplayName"] == .string("Signet"))
        #expect(file["timestamp"]?.lenientInteger ?? 0 > 0)
        let account = try #require(file["accounts"]?.array?.first)
        #expect(account["username"]?.string == "" && account["email"]?.string == "" && account["collections"] == .array([]))
        let items = try #require(account["items"]?.array)
        var ids = [account["id"]?.string]
        for item in items {
            ids.append(item["id"]?.string)
            #expect(item["title"]?.string != nil && item["creationAt"]?.lenientInteger != nil)
            let credential = try #require(item["credentials"]?.array?.first)
            let names = ["type", "secret", "period", "digits", "algorithm"].filter { credential[$0] == nil }
            #expect(names.isEmpty)
            #expect(["sha1", "sha256", "sha512"].contains(credential["algorithm"]?.string))
        }
        #expect(Set(ids).count == items.count + 1 && !ids.contains(nil))
    }

    @Test("Only the chosen accounts are exported", arguments: ExportFormat.allCases)
    func exportsChosenAccounts(format: ExportFormat) async throws {
        let authenticator = try await Self.authenticator()
        let chosen = try await authenticator.exportFile(as: format, of: [Self.noa])
        #expect(chosen.count == 1 && chosen.skipped.isEmpty)
        let content = try ImportFormat.read(chosen.content.bytes)
        #expect(content.accounts.map(\.id) == [Self.noa])
        let none = try await authenticator.exportFile(as: format, of: [])
        #expect(none.count == 0 && none.skipped.isEmpty)
        let unknown = try await authenticator.exportFile(as: format, of: [AccountID(issuer: "x", accountName: "y")])
        #expect(unknown.count == 0)
    }

    @Test("A list of URIs in a file is the list of the earlier method, and counts what it has no place for")
    func exportsListInFile() async throws {
        let authenticator = try await Self.authenticator()
        let file = try await authenticator.exportFile(as: .otpauth)
        let list = try await authenticator.otpauthURIs()
        let text = list.uris.map { $0 + "\n" }.joined()
        #expect(file.content.text == text)
        #expect(file.skipped == list.skipped && file.leftOut == list.leftOut && file.count == list.uris.count)
        #expect(file.leftOut == ["note": 1, "group": 1])
    }

    @Test("Locked accounts and push mechanisms are not exported", arguments: ExportFormat.allCases)
    func leavesOutLockedAccounts(format: ExportFormat) async throws {
        let locked = try await Self.authenticator(locking: "deviceTampering")
        let file = try await locked.exportFile(as: format, of: [TransferFixture.bank])
        let reasons = Set(file.skipped.map(\.reason))
        #expect(
            file.count == 0 && file.skipped.count == 2 && reasons == (format == .cxf ? [.locked, .notExpressible] : [.locked]))
        let fixture = AuthenticatorFixture().authenticator
        let sample = try ArchiveTests.sample()
        _ = try await fixture.importAccounts(sample.content)
        let other = try await fixture.exportFile(as: format)
        let push = other.skipped.filter { $0.type == "push" }
        #expect(push.map(\.reason) == [.notExpressible] && other.count == 1)
    }

    @Test("An empty passphrase, and one for a format that cannot be encrypted, is refused")
    func refusesPassphrase() async throws {
        let authenticator = try await Self.authenticator()
        for (format, passphrase) in [(ExportFormat.aegis, ""), (.otpauth, "a"), (.cxf, "a")] {
            let error = await #expect(throws: StoreError.self) {
                try await authenticator.exportFile(as: format, passphrase: Secret(passphrase.utf8))
            }
            #expect(error?.code == .invalid)
        }
    }
}
