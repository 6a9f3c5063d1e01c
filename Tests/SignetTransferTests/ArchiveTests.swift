import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer
import TestSupport
import Testing

@Suite("Encrypted archives")
struct ArchiveTests {
    private static let cheap = ScryptCost(logRounds: 10)

    /// Accounts that use every property an account can have.
    static func sample() throws -> AccountArchive {
        let bank = Account(
            id: TransferFixture.bank, displayIssuer: "My Bank", displayAccountName: "Mira",
            imageURL: "https://cdn.example.test/x.png",
            backgroundColor: "#336699", timeAdded: Sample.start, policies: ["deviceTampering": .object(["score": .number(0.8)])],
            lockingPolicy: "deviceTampering")
        let other = Account(id: AccountID(issuer: "Ä-1", accountName: "ü 🚀"), timeAdded: Sample.start.addingTimeInterval(0.25))
        let push = PushSettings(
            secret: Secret((0..<32).map { UInt8($0) }),
            registrationEndpoint: try Endpoint("https://am.example.test/r?_action=register"),
            authenticationEndpoint: try Endpoint("https://am.example.test/a"), loadBalancerCookie: "amlbcookie=01",
            streamEndpoint: try Endpoint("https://am.example.test/stream"))
        let kinds: [(AccountID, Mechanism.Kind)] = [
            (bank.id, .push(push)), (bank.id, try TransferFixture.totp(TransferFixture.secret, .sha512, digits: 8, period: 15)),
            (bank.id, try TransferFixture.hotp(counter: .max - 1)), (other.id, try TransferFixture.totp(TransferFixture.other)),
        ]
        let mechanisms = kinds.enumerated().map { index, pair in
            Mechanism(
                uid: "uid-\(index)", account: pair.0, kind: pair.1, timeAdded: Sample.start, userID: index == 0 ? "user" : nil,
                resourceID: index == 1 ? "resource" : nil)
        }
        let message = PushMessage(
            mechanismUID: "uid-0", challenge: [1, 2, 3], kind: .number(choices: [3, 4]), timeToLive: 60, sentAt: Sample.start,
            text: "Login", loadBalancerCookie: "a=b", customPayload: "{}", contextInfo: "{}", userID: "user")
        return AccountArchive(
            accounts: [bank, other], mechanisms: mechanisms,
            notifications: [
                PushNotification(messageID: "AUTHENTICATE:1", message: message, receivedAt: Sample.start, decision: .denied)
            ], createdAt: Sample.start)
    }

    @Test("An archive returns the sealed content, whatever Unicode composition its passphrase has")
    func archiveRoundTrip() throws {
        let archive = try Self.sample()
        let bytes = try archive.sealed(with: Secret("Zwo\u{308}lf".utf8), cost: #require(Self.cheap))
        #expect(try AccountArchive(opening: bytes, with: Secret("Zw\u{F6}lf".utf8)) == archive)
        #expect(try archive.sealed(with: Secret("Zwölf".utf8), cost: #require(Self.cheap)) != bytes)
    }

    @Test("An archive contains no plain text")
    func archiveContainsNoPlainText() throws {
        let bytes = Data(try Self.sample().sealed(with: TransferFixture.passphrase, cost: #require(Self.cheap)))
        for text in ["mira", "Harbor", "uid-0", "totp", "correct horse"] { #expect(bytes.range(of: Data(text.utf8)) == nil) }
        #expect(bytes.range(of: Data(try Base32.decode(TransferFixture.secret))) == nil)
    }

    @Test("A version 1 archive can be read")
    func readsVersion1Archive() throws {
        let archive = try AccountArchive(opening: TransferFixture.bytes("archive-v1.signet"), with: TransferFixture.passphrase)
        #expect(archive.createdAt == Date(timeIntervalSinceReferenceDate: 757_382_400.5))
        #expect(archive.accounts.map(\.id.issuer) == ["Harbor Bank", "Zwölf"])
        let bank = try #require(archive.accounts.first)
        #expect(bank.displayIssuer == "My Bank" && bank.lockingPolicy == "deviceTampering" && bank.timeAdded == Sample.start)
        #expect(bank.policies["deviceTampering"]?["score"] == .number(0.8))
        #expect(archive.mechanisms.map(\.kindName) == [.push, .totp, .hotp])
        #expect(archive.mechanisms[0].push?.loadBalancerCookie == "amlbcookie=01")
        #expect(archive.mechanisms[0].userID == "user-7f3a" && archive.mechanisms[0].resourceID == "r-1")
        #expect(
            archive.mechanisms[1].kind == (try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60)))
        #expect(archive.mechanisms[2].kind == (try TransferFixture.hotp(counter: .max - 1)))
        #expect(archive.notifications.map(\.decision) == [.approved])
        #expect(archive.skipped.isEmpty)
    }

    @Test("An archive refuses a wrong, a missing and an empty passphrase")
    func refusesWrongPassphrase() throws {
        let bytes = try TransferFixture.bytes("archive-v1.signet")
        expect(.passphraseNeeded, bytes, nil)
        for wrong in ["", "correct horse battery stapl", "correct horse battery staple\n"] {
            expect(.wrongPassphrase, bytes, Secret(wrong.utf8))
        }
        #expect(throws: StoreError.self) { try Self.sample().sealed(with: Secret([])) }
    }

    @Test("A truncated archive is reported as damaged before the key is derived")
    func refusesTruncatedArchive() throws {
        let bytes = try TransferFixture.bytes("archive-v1.signet")
        for length in 8..<bytes.count { expect(.damaged, Array(bytes[..<length]), nil) }
        expect(.damaged, bytes + [0], nil)
    }

    @Test("An archive with any bit changed is refused")
    func refusesChangedArchive() throws {
        let bytes = try Self.sample().sealed(with: TransferFixture.passphrase, cost: #require(Self.cheap))
        // Every bit of the header except those that only raise the cost, which would take minutes; then some of the content.
        for index in 0..<bytes.count where index < 65 || index.isMultiple(of: 29) || index >= bytes.count - 16 {
            for bit in 0..<8 where index < 53 ? (index < 10 || bit == index % 8) : bit == index % 8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(throws: ImportError.self, "byte \(index), bit \(bit)") {
                    try AccountArchive(opening: changed, with: TransferFixture.passphrase)
                }
            }
        }
    }

    @Test(
        "An archive with an unsupported key derivation cost is refused before the key is derived", arguments: [0, 9, 21, 63, 255])
    func refusesUnsupportedCost(logRounds: UInt8) throws {
        var bytes = try TransferFixture.bytes("archive-v1.signet")
        bytes[10] = logRounds
        expect(.tooCostly, bytes, nil)
    }

    @Test("An archive of a newer version is refused")
    func refusesNewerArchive() throws {
        var bytes = try TransferFixture.bytes("archive-v1.signet")
        bytes[8] = 2
        expect(.newerVersion, bytes, TransferFixture.passphrase)
        bytes[8] = 0
        expect(.malformed, bytes, TransferFixture.passphrase)
    }

    private func expect(
        _ code: ImportError.Code, _ bytes: [UInt8], _ passphrase: Secret?, at location: SourceLocation = #_sourceLocation
    ) {
        do {
            _ = try AccountArchive(opening: bytes, with: passphrase)
            Issue.record("the archive was opened", sourceLocation: location)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: location)
        }
    }
}
