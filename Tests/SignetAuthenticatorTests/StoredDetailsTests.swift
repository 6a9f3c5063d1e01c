import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// The stored form of codes of Steam, of long codes, and of groups, notes and icons.
@Suite("Stored details")
struct StoredDetailsTests {
    private static let key = "BUWMP4DZCFV2N7AVRDWNFVHDFFUZENT6"
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]

    private let inner = MemoryStore()
    private let fixture: AuthenticatorFixture

    init() {
        fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner))
    }

    private func members(_ key: RecordKey) throws -> JSONValue? {
        let bytes = try inner.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
        return try bytes.map { try JSON.value(of: $0) }
    }

    private func save(_ account: Account, _ icons: AccountIcon...) throws {
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in
            for icon in icons { try records.save(icon) }
            try records.save(account)
        }
    }

    // MARK: Codes

    @Test("An account of Steam is stored under a member that version 0.1.0 cannot take for codes of digits")
    func storesSteam() async throws {
        let uri = "otpauth://totp/Steam:gordon?secret=\(Self.key)&issuer=Steam&digits=5"
        let uid = try await fixture.authenticator.enroll(uri: uri).mechanisms[0].uid
        let record = try #require(try members(RecordKey(.mechanism, uid)))
        // Version 0.1.0 reports a mechanism with neither of them as a record that it cannot read.
        #expect(record["oath"] == nil && record["push"] == nil)
        #expect(record["steam"] == .object(["algorithm": .string("SHA1"), "digits": .integer(5), "period": .integer(30)]))
        let stored = try await fixture.authenticator.accounts().first?.mechanisms.first
        #expect(stored?.oath == .steam(secret: Secret(try Base32.decode(Self.key))))
        let elapsed = Date(timeIntervalSince1970: 1_700_000_000).timeIntervalSince(fixture.clock.now)
        fixture.clock.advance(by: elapsed)
        #expect(try await fixture.authenticator.code(for: uid).digits == "M5B6W")
    }

    @Test("A code of nine or ten digits is stored and generated", arguments: [9, 10])
    func storesLongCode(digits: Int) async throws {
        let uid = try await fixture.authenticator.enroll(uri: "\(Sample.hotp)&digits=\(digits)").mechanisms[0].uid
        let record = try #require(try members(RecordKey(.mechanism, uid)))
        #expect(record["oath"]?["digits"] == .integer(Int64(digits)))
        let code = try await fixture.authenticator.code(for: uid).digits
        #expect(code.utf8.count == digits && code.hasSuffix("099169"))
    }

    // MARK: Groups, notes and icons

    @Test("Groups, a note and an icon are stored with the account, and an account without them has no such members")
    func storesDetails() async throws {
        var account = Account(id: Sample.account, timeAdded: Sample.start)
        try save(account)
        let plain = try #require(try members(RecordKey(.account, "Harbor Bank", "mira"))?.object)
        #expect(Set(plain.keys) == ["id", "timeAdded", "policies"])
        let icon = try #require(AccountIcon(Self.picture))
        account.groups = ["Work", "Money"]
        account.note = Secret("recovery code 1234\nsecond line".utf8)
        (account.iconName, account.iconID) = ("bank", icon.id)
        try save(account, icon)
        #expect(try await fixture.authenticator.account(Sample.account)?.account == account)
        #expect(try await fixture.authenticator.icon(of: account) == icon)
        let renamed = try await fixture.authenticator.rename(Sample.account, displayIssuer: "Mine", displayAccountName: nil)
        #expect(renamed.note == account.note && renamed.groups == account.groups && renamed.iconID == icon.id)
        var dumped = ""
        dump(account, to: &dumped)
        #expect(!dumped.contains("1234") && !"\(account)".contains("1234"), "a note is never printed by accident")
    }

    @Test("A picture is stored once for all accounts that have it, and removed with the last one")
    func removesIconWithLastAccount() async throws {
        let icon = try #require(AccountIcon(Self.picture))
        let ids = ["mira", "noa"].map { AccountID(issuer: "Harbor Bank", accountName: $0) }
        for id in ids {
            var account = Account(id: id, timeAdded: Sample.start)
            account.iconID = icon.id
            try save(account, icon)
        }
        let key = RecordKey(.icon, icon.id)
        #expect(try members(key)?["type"] == .string("image/png"))
        #expect(try await fixture.authenticator.removeAccount(ids[0]))
        #expect(try members(key) != nil)
        #expect(try await fixture.authenticator.removeAccount(ids[1]))
        #expect(try members(key) == nil)
    }

    @Test("A damaged picture counts as absent and leaves its account readable")
    func readsAccountWithDamagedIcon() async throws {
        let icon = try #require(AccountIcon(Self.picture))
        var account = Account(id: Sample.account, timeAdded: Sample.start)
        account.iconID = icon.id
        try save(account, icon)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try records.put(Array("{}".utf8), RecordKey(.icon, icon.id))
        }
        #expect(try await fixture.authenticator.icon(of: account) == nil)
        #expect(try await fixture.authenticator.accounts().map(\.account) == [account])
    }
}
