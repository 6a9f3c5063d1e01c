import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

/// Archives and accounts that released versions of `signet` wrote (`scripts/freeze-formats`).
@Suite("Accounts of a released version")
struct ReleasedAccountTests {
    /// The releases with a folder in `Fixtures`.
    static let versions = ReleasedVersion.all(in: "SignetTransferTests")

    private static let counter = AccountID(issuer: "Zwölf", accountName: "noa")
    private static let push = AccountID(issuer: "Signet", accountName: "demo")
    private static let ids: Set<AccountID> = [TransferFixture.bank, counter, push]

    @Test("The archive of the first release is frozen")
    func firstArchiveIsFrozen() {
        #expect(Self.versions.contains("0.1.0"))
    }

    @Test("A released archive has all its accounts, mechanisms and messages", arguments: versions)
    func opensReleasedArchive(version: String) throws {
        let bytes = try TransferFixture.bytes("\(version)/archive.signet")
        let archive = try AccountArchive(opening: bytes, with: TransferFixture.passphrase)
        #expect(Set(archive.accounts.map(\.id)) == Self.ids)
        #expect(archive.mechanisms.count == 3 && archive.skipped.isEmpty)
        let totp = archive.mechanisms.first { $0.account == TransferFixture.bank }
        #expect(totp?.kind == (try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8)))
        let hotp = archive.mechanisms.first { $0.account == Self.counter }
        #expect(hotp?.kind == (try TransferFixture.hotp(TransferFixture.other, counter: 6)))
        let phone = archive.mechanisms.first { $0.account == Self.push }
        let uid = try #require(phone?.uid)
        #expect(phone?.push?.streamEndpoint != nil)
        #expect(archive.notifications.map(\.message.mechanismUID) == [uid])
    }

    @Test("A released archive that claims a newer version is refused", arguments: versions)
    func refusesReleasedArchiveOfNewerVersion(version: String) throws {
        var bytes = try TransferFixture.bytes("\(version)/archive.signet")
        bytes[8] = UInt8(AccountArchive.currentVersion + 1)
        let error = #expect(throws: ImportError.self) {
            try AccountArchive(opening: bytes, with: TransferFixture.passphrase)
        }
        #expect(error?.code == .newerVersion)
    }

    @Test("A released vault makes its codes, continues its counter and has its message", arguments: versions)
    func releasedVaultContinues(version: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let vault = try Self.copiedVault(of: version, to: temporary.file("vault")).openVault()
            let authenticator = AuthenticatorFixture(store: AccountRecords(vault)).authenticator
            let accounts = try await authenticator.accounts()
            #expect(Set(accounts.map(\.account.id)) == Self.ids)
            let mechanisms = accounts.flatMap(\.mechanisms)
            let bank = mechanisms.first { $0.account == TransferFixture.bank }
            // RFC 6238 with SHA-256 and 8 digits, at the time of the fixture's clock.
            let timeCode = try await authenticator.code(for: try #require(bank?.uid))
            #expect(timeCode.digits == "07600059")
            let counter = mechanisms.first { $0.account == Self.counter }
            let hotp = try #require(counter?.uid)
            // RFC 4226 with the counters 6 and 7: the release has used 5.
            let sixth = try await authenticator.code(for: hotp)
            let seventh = try await authenticator.code(for: hotp)
            #expect(sixth.digits == "883951" && seventh.digits == "449891")
            let messages = try await authenticator.notifications()
            #expect(messages.map(\.message.text) == ["Login attempt from demo at Signet"])
            let damaged = try await authenticator.damagedRecords()
            #expect(damaged.isEmpty)
        }
    }

    /// Copies the vault of a release to a private directory, as the vault requires.
    private static func copiedVault(of version: String, to path: String) throws -> VaultDirectory {
        let folder = ReleasedVersion.folder(version, in: "SignetStorageTests")
        try FrozenFiles.copy(["vault.sqlite", "vault.key"], from: folder, to: path)
        return VaultDirectory(path: path)
    }
}
