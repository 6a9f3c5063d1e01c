import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetTransfer

@Suite("Stores that are synchronized through a folder")
struct VaultSyncTests {
    private static let bank = TransferFixture.bank

    /// Runs `body` with two machines that share an empty folder.
    private static func withTwo(_ body: (SyncedMachine, SyncedMachine) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            try await body(SyncedMachine("laptop", directory), SyncedMachine("desktop", directory))
        }
    }

    /// Synchronizes the machines until none has news for the other one.
    private static func settle(_ first: SyncedMachine, _ second: SyncedMachine) throws {
        for _ in 0..<2 {
            try first.run()
            try second.run()
        }
    }

    private static func expectSameAccounts(
        _ first: SyncedMachine, _ second: SyncedMachine, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let (left, right) = (try await first.accounts(), try await second.accounts())
        #expect(left == right, sourceLocation: location)
    }

    // MARK: Changes

    @Test("An account, its names, its lock and its removal reach the other store, and nothing is written without a change")
    func synchronizesChanges() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            let sent = try laptop.run()
            #expect(sent.sent == [Self.bank] && sent.hasWritten)
            let received = try desktop.run()
            #expect(received.added == [Self.bank] && received.machineCount == 1)
            try await Self.expectSameAccounts(laptop, desktop)

            _ = try await desktop.authenticator.rename(Self.bank, displayIssuer: "Work", displayAccountName: nil)
            try await desktop.authenticator.lock(Self.bank, policy: "manual")
            try desktop.run()
            let changed = try laptop.run()
            #expect(changed.changed == [SyncReport.Change(account: Self.bank, groups: [.names, .lock])])
            try await Self.expectSameAccounts(laptop, desktop)

            try await laptop.authenticator.removeAccount(Self.bank)
            #expect(try laptop.run().sentRemovals == [Self.bank])
            #expect(try desktop.run().removed == [Self.bank])
            let isEmpty = try await desktop.accounts().isEmpty
            #expect(isEmpty)

            try Self.settle(laptop, desktop)
            let quiet = (try laptop.run(), try desktop.run())
            #expect(!quiet.0.hasWritten && !quiet.1.hasWritten)
            // The secret of the removed account is in no file, since both machines know the removal.
            let entries = try laptop.state().entries.values.filter { !$0.registers.isEmpty }
            let removal = try laptop.state().entries[Self.bank]?.removal
            #expect(entries.isEmpty && removal != nil)
        }
    }

    @Test("Changes of different accounts and groups on two machines are both kept")
    func mergesIndependentChanges() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try Self.settle(laptop, desktop)
            _ = try await laptop.authenticator.rename(Self.bank, displayIssuer: "Work", displayAccountName: nil)
            try await desktop.authenticator.lock(Self.bank, policy: "manual")
            try await desktop.add("otpauth://totp/Other:zoe?secret=\(TransferFixture.other)&issuer=Other")
            let report = try laptop.run()
            #expect(report.conflicts.isEmpty)
            try Self.settle(desktop, laptop)
            let enrolled = try await laptop.authenticator.account(Self.bank)
            let account = try #require(enrolled).account
            #expect(account.displayIssuer == "Work" && account.lockingPolicy == "manual")
            try await Self.expectSameAccounts(laptop, desktop)
            let count = try await laptop.accounts().count
            #expect(count == 2)
            #expect(try laptop.state().conflicts.isEmpty && desktop.state().conflicts.isEmpty)
        }
    }

    @Test("Of two names that were given at the same time one stands on both machines, and the other one can be restored")
    func tellsConflict() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try Self.settle(laptop, desktop)
            for machine in [laptop, desktop] {
                _ = try await machine.authenticator.rename(Self.bank, displayIssuer: machine.name, displayAccountName: nil)
            }
            try laptop.run()
            let report = try desktop.run()
            #expect(report.conflicts.map(\.group) == [.names])
            #expect(report.conflicts.first?.lost.json["displayIssuer"] == .string("laptop"))
            try Self.settle(laptop, desktop)
            let shown = try await laptop.authenticator.account(Self.bank)?.account.displayIssuer
            #expect(shown == "desktop")
            try await Self.expectSameAccounts(laptop, desktop)
            // It was told once, and is kept on both machines.
            #expect(try desktop.run().conflicts.isEmpty)
            #expect(try laptop.state().conflicts.map(\.key) == desktop.state().conflicts.map(\.key))

            #expect(try laptop.sync.restore(1) == Self.bank)
            try Self.settle(laptop, desktop)
            let restored = try await desktop.authenticator.account(Self.bank)?.account.displayIssuer
            #expect(restored == "laptop")
            let wrong = #expect(throws: SyncError.self) { try laptop.sync.restore(9) }
            #expect(wrong?.code == .noConflict)
        }
    }

    @Test("Two secrets of one name are a conflict, and the lost one can be restored under a second name")
    func restoresLostSecret() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add("otpauth://totp/Harbor:mira?secret=\(TransferFixture.secret)&issuer=Harbor")
            try await desktop.add("otpauth://totp/Harbor:mira?secret=\(TransferFixture.other)&issuer=Harbor")
            try laptop.run()
            let report = try desktop.run()
            #expect(report.conflicts.map(\.group) == [.totp])
            let id = SyncSample.id("mira")
            let kind = try await desktop.mechanism(id, .totp).kind
            let established = try TransferFixture.totp()
            #expect(kind == established)
            let restored = try desktop.sync.restore(1)
            #expect(restored == SyncSample.id("mira (2)"))
            try Self.settle(desktop, laptop)
            let restoredKind = try await laptop.mechanism(restored, .totp).kind
            let lost = try TransferFixture.totp(TransferFixture.other)
            #expect(restoredKind == lost)
        }
    }

    @Test("A store that joins keeps its accounts, also one that the others removed long ago")
    func joiningLosesNothing() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            let desktop = try SyncedMachine("desktop", directory, joins: false)
            try await laptop.add(Sample.totp)
            try laptop.run()
            try await laptop.authenticator.removeAccount(Self.bank)
            try laptop.run()
            try await desktop.add(Sample.totp)
            try desktop.join()
            try Self.settle(desktop, laptop)
            let isThere = try await laptop.accounts().keys.contains(Self.bank)
            #expect(isThere)
            try await Self.expectSameAccounts(laptop, desktop)
        }
    }

    @Test("Push mechanisms stay on their machine, also when the account is removed on another one")
    func leavesPushOut() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.push)
            try await laptop.add(Sample.totp)
            let report = try laptop.run()
            #expect(report.pushCount == 1)
            try desktop.run()
            let kinds = try await desktop.authenticator.account(Self.bank)?.mechanisms.map(\.kindName)
            #expect(kinds == [.totp])
            try await desktop.authenticator.removeAccount(Self.bank)
            try desktop.run()
            #expect(try laptop.run().removed == [Self.bank])
            let left = try await laptop.authenticator.account(Self.bank)?.mechanisms.map(\.kindName)
            #expect(left == [.push])
            #expect(try !laptop.run().hasWritten)
        }
    }

    // MARK: Counters

    @Test("A counter gives codes on one machine, and another one continues it later after taking it")
    func movesCounter() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.hotp)
            try laptop.run()
            let report = try desktop.run()
            #expect(report.movedCounters.map(\.owner) == ["laptop"])
            let there = try await desktop.mechanism(Self.bank, .hotp)
            #expect(there.counterOwner == "laptop")
            let refused = await #expect(throws: AuthenticatorError.self) {
                try await desktop.authenticator.code(for: there.uid)
            }
            #expect(refused?.code == .counterElsewhere && refused?.reason.contains("laptop") == true)

            // Codes that the desktop does not know of.
            let own = try await laptop.mechanism(Self.bank, .hotp)
            for _ in 0..<3 { _ = try await laptop.authenticator.code(for: own.uid) }
            try desktop.run(taking: VaultSync.Taking(account: Self.bank))
            let code = try await desktop.authenticator.code(for: there.uid)
            #expect(code.basis == .counter(7 + UInt64(VaultSync.defaultJump)))

            let moved = try laptop.run().movedCounters
            #expect(moved.map(\.owner) == ["desktop"] && moved.map(\.mayRepeat) == [false])
            let late = await #expect(throws: AuthenticatorError.self) { try await laptop.authenticator.code(for: own.uid) }
            #expect(late?.code == .counterElsewhere)
            let taking = VaultSync.Taking(account: Self.bank)
            let again = #expect(throws: SyncError.self) { try desktop.run(taking: taking) }
            #expect(again?.code == .ownCounter)
        }
    }

    @Test("The record of a counter of another machine has a form that version 0.1.0 cannot read, and a backup of it makes codes")
    func storesForeignCounter() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.hotp)
            try Self.settle(laptop, desktop)
            let there = try await desktop.mechanism(Self.bank, .hotp)
            let key = RecordKey(.mechanism, there.uid)
            let stored = try desktop.store.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
            let members = try JSON.value(of: #require(stored))
            #expect(members["oath"] == nil && members["elsewhere"] != nil && members["counterOwner"] == .string("laptop"))

            let archive = try await desktop.authenticator.archive()
            let restored = AuthenticatorFixture().authenticator
            _ = try await restored.importAccounts(archive.content)
            let account = try await restored.account(Self.bank)
            let own = try #require(account?.mechanisms.first)
            #expect(own.counterOwner == nil)
            let basis = try await restored.code(for: own.uid).basis
            #expect(basis == .counter(7))
        }
    }

    @Test("More codes than were left out are told, and the counter continues after them")
    func tellsUsedCodes() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.hotp)
            try Self.settle(laptop, desktop)
            let own = try await laptop.mechanism(Self.bank, .hotp)
            for _ in 0..<5 { _ = try await laptop.authenticator.code(for: own.uid) }
            try desktop.run(taking: VaultSync.Taking(account: Self.bank, jump: 2))
            #expect(try laptop.run().movedCounters.map(\.mayRepeat) == [true])
            try desktop.run()
            let there = try await desktop.mechanism(Self.bank, .hotp)
            let basis = try await desktop.authenticator.code(for: there.uid).basis
            #expect(basis == .counter(12))
        }
    }

    @Test("A counter that two stores have before they synchronize stays on the first one, at the higher position")
    func joiningCounterIsAdopted() async throws {
        try await TemporaryDirectory.with { directory in
            let laptop = try SyncedMachine("laptop", directory)
            let desktop = try SyncedMachine("desktop", directory, joins: false)
            try await laptop.add(Sample.hotp)
            try await desktop.add(Sample.hotp)
            let there = try await desktop.mechanism(Self.bank, .hotp)
            for _ in 0..<4 { _ = try await desktop.authenticator.code(for: there.uid) }
            try laptop.run()
            try desktop.join()
            let moved = try desktop.run().movedCounters
            #expect(moved.map(\.owner) == ["laptop"] && moved.map(\.mayRepeat) == [true])
            try laptop.run()
            let own = try await laptop.mechanism(Self.bank, .hotp)
            let basis = try await laptop.authenticator.code(for: own.uid).basis
            #expect(basis == .counter(11))
        }
    }

    @Test("A counter that is enrolled again belongs to the machine that enrolled it")
    func enrollingTakesCounter() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.hotp)
            try Self.settle(laptop, desktop)
            let there = try await desktop.mechanism(Self.bank, .hotp)
            try await desktop.authenticator.removeMechanism(there.uid, keepingAccount: true)
            try await desktop.add(Sample.hotp.replacing(Sample.oathKey, with: TransferFixture.other))
            try Self.settle(desktop, laptop)
            let own = try await laptop.mechanism(Self.bank, .hotp)
            #expect(own.counterOwner == "desktop")
            let new = try await desktop.mechanism(Self.bank, .hotp)
            let basis = try await desktop.authenticator.code(for: new.uid).basis
            #expect(basis == .counter(7))
        }
    }

    // MARK: Details

    @Test("Notes, groups, policies and the picture of an account reach the other store")
    func synchronizesDetails() async throws {
        try await Self.withTwo { laptop, desktop in
            let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
            var account = TransferFixture.account(Self.bank, try TransferFixture.totp())
            account.note = Secret(text: "recovery codes")
            account.groups = ["Work"]
            account.policies = ["deviceTampering": .object(["score": .number(1.0)])]
            let icon = try #require(AccountIcon(picture))
            account.icon = icon
            _ = try await laptop.authenticator.importAccounts(ImportContent(account))
            try laptop.run()
            try desktop.run()
            try await Self.expectSameAccounts(laptop, desktop)
            let enrolled = try await desktop.authenticator.account(Self.bank)
            let received = try #require(enrolled).account
            #expect(received.note?.text == "recovery codes" && received.groups == ["Work"])
            let receivedIcon = try await desktop.authenticator.icon(of: received)
            #expect(receivedIcon?.data == picture)
            #expect(try !laptop.run().hasWritten)
        }
    }

    @Test("Five thousand accounts are synchronized, and a second run finds nothing new")
    func synchronizesManyAccounts() async throws {
        try await Self.withTwo { laptop, desktop in
            let kind = try TransferFixture.totp()
            let accounts = (0..<5_000).map { TransferFixture.account(SyncSample.id("account\($0)"), kind) }
            var content = ImportContent()
            content.accounts = accounts
            _ = try await laptop.authenticator.importAccounts(content)
            try laptop.run()
            #expect(try desktop.run().added.count == 5_000)
            let quiet = try laptop.run()
            #expect(quiet.changed.isEmpty && quiet.sent.isEmpty && !quiet.hasWritten)
        }
    }

    // MARK: Beginning and ending

    @Test("A store that takes part in no synchronization, or in another one, is told so")
    func refusesWrongSetup() async throws {
        try await TemporaryDirectory.with { directory in
            let machine = try SyncedMachine("laptop", directory, joins: false)
            let before = #expect(throws: SyncError.self) { try machine.run() }
            #expect(before?.code == .notSetUp)
            try machine.join()
            let other = SyncFolder(path: directory.file("other"))
            let key = try SyncedMachine.key()
            let twice = #expect(throws: SyncError.self) { try machine.sync.begin(other, keys: [key], name: "x") }
            #expect(twice?.code == .alreadySetUp)
        }
    }

    @Test("Leaving removes the machine's file and keeps its accounts, and the other machines go on")
    func leaves() async throws {
        try await Self.withTwo { laptop, desktop in
            try await laptop.add(Sample.totp)
            try Self.settle(laptop, desktop)
            let file = try desktop.file()
            #expect(try desktop.sync.leave())
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try desktop.sync.settings() == nil)
            let count = try await desktop.accounts().count
            #expect(count == 1)
            let report = try laptop.run()
            #expect(report.machineCount == 0 && report.removed.isEmpty)
        }
    }

    @Test("A vault keeps the state of a synchronization sealed, and goes on when it is opened again")
    func continuesInVault() async throws {
        try await TemporaryDirectory.with { directory in
            let store = MemoryStore()
            let cost = try #require(SyncedMachine.cost)
            let protector = PassphraseProtector(cost: cost) { () throws(StoreError) in SyncedMachine.passphrase }
            let vault = try Vault.create(in: store, protector: protector)
            let folder = SyncFolder(path: directory.path)
            try VaultSync(vault).begin(folder, keys: [SyncedMachine.key()], name: "laptop")
            _ = try VaultSync(vault).run(now: Sample.start)
            let opened = try Vault.open(store, protectors: [protector])
            let report = try VaultSync(opened).run(now: Sample.start)
            #expect(!report.hasWritten && report.skippedFiles.isEmpty)
        }
    }
}
