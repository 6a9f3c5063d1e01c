import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetTransfer

@Suite("The files of a synchronization")
struct SyncFolderTests {
    private static let bank = TransferFixture.bank

    private static func withTwo(_ body: (SyncedMachine, SyncedMachine) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            try await body(SyncedMachine("laptop", directory), SyncedMachine("desktop", directory))
        }
    }

    private static func bytes(of path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private static func write(_ bytes: Data, to path: String) throws { try bytes.write(to: URL(filePath: path)) }

    // MARK: Files of other machines

    /// A change that makes a file unreadable, and the code of the report.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let change: @Sendable (inout Data) -> Void
    }

    static let damages = [
        Damage(testDescription: "empty", code: "malformed") { $0 = Data() },
        Damage(testDescription: "another file", code: "malformed") { $0 = Data("hello".utf8) },
        Damage(testDescription: "half written", code: "damaged") { $0 = $0.prefix($0.count / 2) },
        Damage(testDescription: "changed in the middle", code: "damaged") { $0[100] ^= 1 },
        Damage(testDescription: "of a newer version", code: "newerVersion") { $0[8] = 3 },
        Damage(testDescription: "a backup", code: "malformed") { $0[8] = 1 },
        Damage(testDescription: "of another passphrase", code: "wrongPassphrase") { $0[40] ^= 1 },
        Damage(testDescription: "of another salt", code: "passphraseNeeded") { $0[20] ^= 1 },
    ]

    @Test("A file that cannot be read is told, left as it is, and removes nothing", arguments: damages)
    func skipsDamagedFile(damage: Damage) async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            try desktop.run()
            let file = try laptop.file()
            var changed = try Self.bytes(of: file)
            damage.change(&changed)
            try Self.write(changed, to: file)
            let report = try desktop.run()
            #expect(report.skippedFiles.map(\.code) == [damage.code])
            #expect(report.removed.isEmpty && report.machineCount == 0)
            #expect(try Self.bytes(of: file) == changed)
            let count = try await desktop.accounts().count
            #expect(count == 1)
            // The machine writes its own file again.
            try laptop.run()
            #expect(try desktop.run().skippedFiles.isEmpty)
        }
    }

    @Test(
        "A second version of a file that a file sync program has kept is read too",
        arguments: [
            ".sync-conflict-20261127-101500-ABCDEFG", " (conflicted copy 2026-11-27)", "-LAPTOP", " (1)",
        ])
    func readsConflictCopy(suffix: String) async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            let file = try laptop.file()
            let copy = file.replacing(".signet", with: suffix + ".signet")
            try FileManager.default.moveItem(atPath: file, toPath: copy)
            #expect(try desktop.run().added == [Self.bank])
        }
    }

    @Test("An older copy of a file is told and takes nothing back", arguments: [false, true])
    func tellsOlderFile(keepsNewest: Bool) async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            let file = try laptop.file()
            let old = try Self.bytes(of: file)
            _ = try await laptop.authenticator.rename(Self.bank, displayIssuer: "Work", displayAccountName: nil)
            try laptop.run()
            try desktop.run()
            let path = keepsNewest ? file.replacing(".signet", with: " (1).signet") : file
            try Self.write(old, to: path)
            let report = try desktop.run()
            // Beside the newest file an older one is usual.
            #expect(report.olderFiles.map(\.machine) == (keepsNewest ? [] : ["laptop"]))
            #expect(report.changed.isEmpty)
            let shown = try await desktop.authenticator.account(Self.bank)?.account.displayIssuer
            #expect(shown == "Work")
        }
    }

    @Test("A store that was restored from an older copy gets the newer state back, and its own change since then stands")
    func restoredStoreCatchesUp() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            try await laptop.add(Sample.totp)
            try laptop.run()
            let key = SyncSettings.record
            let old = try laptop.store.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
            let bytes = try #require(old)
            _ = try await laptop.authenticator.rename(Self.bank, displayIssuer: "Work", displayAccountName: nil)
            try await laptop.add("otpauth://totp/Other:zoe?secret=\(TransferFixture.other)&issuer=Other")
            try laptop.run()
            // The older copy of the vault has neither.
            _ = try await laptop.authenticator.rename(Self.bank, displayIssuer: nil, displayAccountName: nil)
            try await laptop.authenticator.removeAccount(AccountID(issuer: "Other", accountName: "zoe"))
            try laptop.store.write { (records: any RecordWriter) throws(StoreError) in try records.put(bytes, key) }
            let report = try laptop.run()
            #expect(report.isVaultOlder && report.hasWritten)
            let shown = try await laptop.authenticator.account(Self.bank)?.account.displayIssuer
            #expect(shown == "Work")
            let count = try await laptop.accounts().count
            #expect(count == 2)
            #expect(try !laptop.run().isVaultOlder)
        }
    }

    @Test("A link, a directory and too long a file in the folder are told and not read")
    func skipsOtherFiles() async throws {
        try await Self.withTwo { laptop, _ in
            let path = laptop.folder.path
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/signet-sync-link.signet", withDestinationPath: "/etc/passwd")
            try FileManager.default.createDirectory(
                atPath: "\(path)/signet-sync-folder.signet", withIntermediateDirectories: false)
            let large = "\(path)/signet-sync-large.signet"
            try Self.write(Data(), to: large)
            try #require(truncate(large, off_t(AccountArchive.maxLength) + 1) == 0)
            try Self.write(Data("note".utf8), to: "\(path)/readme.txt")
            let report = try laptop.run()
            #expect(report.skippedFiles.map(\.name).count == 3)
            #expect(report.hasWritten)
        }
    }

    // MARK: The folder

    @Test("A folder that is not there is an error, and nothing is changed")
    func refusesMissingFolder() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            try await laptop.add(Sample.totp)
            try laptop.run()
            let before = try laptop.sync.settings()
            let path = directory.path
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            let error = #expect(throws: SyncError.self) { try laptop.run() }
            #expect(error?.code == .noFolder)
            #expect(try laptop.sync.settings() == before)
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        }
    }

    @Test("A folder that lost all files is taken for one that is not mounted, until the user begins again")
    func refusesEmptiedFolder() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            try laptop.run()
            try laptop.run()
            try FileManager.default.removeItem(atPath: laptop.file())
            let error = #expect(throws: SyncError.self) { try laptop.run() }
            #expect(error?.code == .emptyFolder)
            try laptop.join()
            #expect(try laptop.run().hasWritten)
        }
    }

    @Test("A file has mode 0600, and an unfinished one that a killed process left is removed with the next")
    func writesPrivateFile() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            let unfinished = directory.file(".signet-sync-\(try laptop.state().machine).12345678.new")
            try Self.write(Data("half".utf8), to: unfinished)
            let foreign = directory.file(".signet-sync-0000000000000000.12345678.new")
            try Self.write(Data("half".utf8), to: foreign)
            try laptop.run()
            let status = try #require(FileStatus(at: laptop.file()))
            #expect(status.permissions == 0o600)
            #expect(!FileManager.default.fileExists(atPath: unfinished) && FileManager.default.fileExists(atPath: foreign))
        }
    }

    @Test("A file contains no plain text")
    func filesAreSealed() async throws {
        try await Self.withTwo { laptop, _ in
            try await laptop.add(Sample.totp)
            try laptop.run()
            let bytes = try Self.bytes(of: laptop.file())
            for text in ["Harbor", "mira", "laptop", "names"] { #expect(bytes.range(of: Data(text.utf8)) == nil) }
        }
    }

    @Test("A record that cannot be read ends the synchronization, because its account could be taken for removed")
    func refusesDamagedRecord() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            try laptop.store.write { (records: any RecordWriter) throws(StoreError) in
                for record in try records.records(.mechanism, after: nil, limit: 9) {
                    try records.put([1, 2, 3], RecordKey(.mechanism, name: record.name))
                }
            }
            let error = #expect(throws: SyncError.self) { try laptop.run() }
            #expect(error?.code == .damagedRecords)
            #expect(try desktop.run().added == [Self.bank])
        }
    }

    // MARK: Keys

    @Test("A wrong passphrase opens no file, and the right one gives the key of the other machines")
    func derivesKeyOfFiles() async throws {
        try await Self.withTwo { laptop, _ in
            try laptop.run()
            let file = try #require(try laptop.folder.filesToJoin().first)
            #expect(try SyncKey.key(of: file, with: SyncedMachine.passphrase) == SyncedMachine.key())
            for wrong in ["", "wrong"] {
                let error = #expect(throws: ImportError.self) { try SyncKey.key(of: file, with: Secret(wrong.utf8)) }
                #expect(error?.code == .wrongPassphrase)
            }
        }
    }

    @Test("Two machines that began apart synchronize after both have joined again")
    func joinsTwoSalts() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            let desktop = try SyncedMachine("desktop", directory, joins: false)
            try desktop.sync.begin(desktop.folder, keys: [SyncedMachine.key(salt: 2)], name: "desktop")
            try await laptop.add(Sample.totp)
            try laptop.run()
            #expect(try desktop.run().skippedFiles.map(\.code) == ["passphraseNeeded"])
            for machine in [laptop, desktop] {
                let files = try machine.folder.filesToJoin()
                let keys = try files.map { try SyncKey.key(of: $0, with: SyncedMachine.passphrase) }
                try machine.sync.begin(machine.folder, keys: keys, name: machine.name)
                try machine.run()
            }
            let count = try await desktop.accounts().count
            #expect(count == 1)
            #expect(try laptop.run().skippedFiles.isEmpty)
            #expect(try laptop.folder.filesToJoin().count == 1)
        }
    }

    @Test("A file of a synchronization is refused as a backup")
    func refusesFileAsBackup() async throws {
        try await Self.withTwo { laptop, _ in
            try laptop.run()
            let bytes = Array(try Self.bytes(of: laptop.file()))
            let error = #expect(throws: ImportError.self) { try AccountArchive(opening: bytes, with: SyncedMachine.passphrase) }
            #expect(error?.code == .newerVersion && error?.reason.contains("signet sync") == true)
        }
    }

    // MARK: Later versions

    @Test("A group and a kind of code of a later version are kept, and the account is left as it is here")
    func keepsLaterVersions() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            try desktop.run()
            // The laptop has a later version.
            var later = try laptop.state()
            later.clock += 1
            later.sequence += 1
            let version = SyncVersion(counter: later.clock, machine: later.machine)
            later.entries[Self.bank]?.registers[SyncGroup(rawValue: "later")] = SyncSample.register("x", version)
            later.entries[Self.bank]?.registers[.totp] = SyncRegister(
                version: version, base: nil, value: SyncValue(.object(["secret": .string("AA=="), "rings": .object([:])])))
            let bytes = try SyncFile(state: later, icons: []).sealed(with: SyncedMachine.key())
            try laptop.folder.write(bytes, of: later.machine)

            let report = try desktop.run()
            #expect(report.unreadable == [Self.bank] && report.changed.isEmpty)
            let accounts = try await desktop.accounts()
            #expect(accounts.count == 1)
            let entry = try desktop.state().entries[Self.bank]
            #expect(entry == later.entries[Self.bank])
            #expect(try !desktop.run().hasWritten)
        }
    }

    @Test("An account with a name that must not be shown is not stored")
    func refusesUnsafeName() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try laptop.run()
            var state = try laptop.state()
            let entry = try #require(state.entries[Self.bank])
            let unsafe = AccountID(issuer: "Harbor\u{202E}", accountName: "x")
            state.entries = [unsafe: entry]
            state.sequence += 1
            try laptop.folder.write(SyncFile(state: state, icons: []).sealed(with: SyncedMachine.key()), of: state.machine)
            #expect(try desktop.run().unreadable == [unsafe])
            let isEmpty = try await desktop.accounts().isEmpty
            #expect(isEmpty)
        }
    }
}
