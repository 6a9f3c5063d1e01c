package import Foundation
import SignetAuthenticator
package import SignetCore
package import SignetStorage

/// The synchronization of a vault with the files of a folder.
///
/// The vault is changed in one transaction, with the state of this machine. The file is written afterwards: a process that is
/// killed in between leaves an old file, and the next synchronization writes the new one.
package struct VaultSync: Sendable {
    let store: any RecordStore

    /// Creates a value for a vault.
    package init(_ store: any RecordStore) { self.store = store }

    /// The number of codes that are left out when another machine takes a counter.
    package static let defaultJump = 20
    /// The greatest number of codes that can be left out.
    package static let maxJump = 100_000

    /// A counter that this machine takes.
    package struct Taking: Sendable {
        /// The account.
        package let account: AccountID
        /// The number of codes that are left out.
        package let jump: Int

        /// Creates a value.
        package init(account: AccountID, jump: Int = VaultSync.defaultJump) {
            self.account = account
            self.jump = jump
        }
    }

    // MARK: Beginning and ending

    /// The settings in the vault; nil when the vault takes part in no synchronization.
    package func settings() throws(StoreError) -> SyncSettings? { try SyncSettings.stored(in: store) }

    /// Begins or joins a synchronization, and stores its key in the vault.
    ///
    /// It does not synchronize yet.
    ///
    /// A vault that takes part in the synchronization already keeps its state, and learns the keys.
    /// - Parameters:
    ///   - folder: The folder.
    ///   - keys: The keys of the files.
    ///   - name: The name of this machine for people.
    /// - Throws: ``SyncError`` with `alreadySetUp` when the vault is synchronized with another folder; `StoreError`.
    package func begin(_ folder: SyncFolder, keys: [SyncKey], name: String) throws {
        try store.write { (records: any RecordWriter) throws(StoreError) -> Result<Void, SyncError> in
            guard var settings = try SyncSettings.load(from: records) else {
                let id = SyncMachine.newID()
                let state = SyncState(machine: id, name: SyncMachine.shownName(name, id: id))
                try SyncSettings(folder: folder.path, keys: keys, state: state).save(in: records)
                return .success(())
            }
            guard settings.folder == folder.path else {
                return .failure(
                    SyncError(
                        .alreadySetUp,
                        "this vault is synchronized with \(settings.folder) already; 'signet sync leave' ends that"))
            }
            let before = settings
            for key in keys { settings.add(key) }
            settings.state.name = SyncMachine.shownName(name, id: settings.state.machine)
            if settings != before { settings.state.sequence += 1 }
            // An emptied folder gets the file again.
            settings.hasWritten = false
            if settings != before { try settings.save(in: records) }
            return .success(())
        }.get()
    }

    /// Ends the synchronization on this machine: removes the record in the vault, and the file of this machine.
    ///
    /// The accounts stay in the vault.
    /// - Returns: False when the folder is not there, so that the file may remain in it.
    /// - Throws: `StoreError`; ``SyncError`` when the vault takes part in no synchronization.
    package func leave() throws -> Bool {
        let key = SyncSettings.record
        let settings = try? self.settings()
        let wasThere = try store.write { (records: any RecordWriter) throws(StoreError) -> Bool in
            guard try records.record(key) != nil else { return false }
            try records.remove(key)
            return true
        }
        guard wasThere else { throw SyncError.notSetUp }
        guard let settings else { return false }
        let folder = SyncFolder(path: settings.folder)
        guard (try? folder.fileNames()) != nil else { return false }
        folder.remove(settings.state.machine)
        return true
    }

    // MARK: Synchronizing

    /// Reads the files of all machines, changes the vault and writes the file of this machine.
    /// - Parameters:
    ///   - now: The current time.
    ///   - taking: A counter that this machine takes.
    /// - Returns: What was changed, and what could not be read.
    /// - Throws: ``SyncError``, `StoreError`. Nothing was changed, except when the error is about the file of this machine: the
    ///   next call writes it.
    package func run(now: Date, taking: Taking? = nil) throws -> SyncReport {
        guard let settings = try self.settings() else { throw SyncError.notSetUp }
        let folder = SyncFolder(path: settings.folder)
        let found = try FolderContents(folder, settings)
        let time = Int(now.timeIntervalSince1970)
        let result = try store.write { (records: any RecordWriter) throws(StoreError) -> Result<SyncOutcome, SyncError> in
            try AccountRecords.writing(in: records) { writer throws(StoreError) in
                try Self.transaction(records, writer, found, time: time, taking: taking)
            }
        }
        var outcome = try result.get()
        guard outcome.mustWrite, let key = outcome.settings.keys.first else { return outcome.report }
        let bytes = try SyncFile(state: outcome.settings.state, icons: outcome.icons).sealed(with: key)
        try folder.write(bytes, of: outcome.settings.state.machine)
        outcome.report.hasWritten = true
        return outcome.report
    }

    private static func transaction(
        _ records: any RecordWriter, _ writer: any AccountWriter, _ found: FolderContents, time: Int, taking: Taking?
    ) throws(StoreError) -> Result<SyncOutcome, SyncError> {
        guard let stored = try SyncSettings.load(from: records) else { return .failure(.notSetUp) }
        let damagedCount = try writer.damagedRecords().count { $0.kind == .account || $0.kind == .mechanism }
        guard damagedCount == 0 else {
            return .failure(
                SyncError(
                    .damagedRecords,
                    "\(damagedCount) records of the vault cannot be read, and their accounts could be taken for removed; nothing "
                        + "was changed. See 'signet accounts'"))
        }
        var settings = stored
        var report = found.report
        // Another process may have synchronized this vault after the files were read.
        let newerOwn = found.newerOwn.flatMap { $0.isAhead(of: stored.state) ? $0 : nil }
        report.isVaultOlder = newerOwn != nil
        if let newer = newerOwn {
            settings.state.sequence = max(settings.state.sequence, newer.sequence)
            _ = settings.state.keep(newer.conflicts, time: time)
        }
        let others = found.peers + (newerOwn.map { [$0] } ?? [])
        let established = SyncState.joinedEntries(others)
        let vault = try SyncedVault(writer, established: established)
        let changes = settings.state.record(
            vault.fields, established: established, held: stored.held, clock: others.map(\.clock).max() ?? 0, time: time)
        let (merged, conflicts) = settings.state.merging(others, time: time)
        settings.state = merged
        report.conflicts = settings.state.keep(changes.conflicts, time: time) + conflicts
        if let taking, let error = settings.state.take(taking) { return .failure(error) }
        settings.state = settings.state.forgetting(peers: found.newestPeers, time: time)
        report.sent = changes.groups.keys.sorted(by: AccountID.isBefore)
        report.sentRemovals = changes.removed.sorted(by: AccountID.isBefore)
        report.pushCount = vault.pushCount
        settings.held = try vault.apply(settings.state, icons: found.icons, in: writer, &report)

        let before = stored.state
        let isChanged =
            settings.state.entries != before.entries || settings.state.name != before.name
            || settings.state.conflicts != before.conflicts || newerOwn != nil
        if isChanged { settings.state.sequence += 1 }
        let mustWrite = isChanged || found.ownSequence != settings.state.sequence
        if found.ownSequence != nil { settings.hasWritten = true }
        if settings != stored { try settings.save(in: records) }
        let icons = try mustWrite ? Self.icons(of: settings.state, writer) : []
        return .success(SyncOutcome(settings: settings, report: report, icons: icons, mustWrite: mustWrite))
    }

    private static func icons(of state: SyncState, _ records: any AccountReader) throws(StoreError) -> [AccountIcon] {
        var ids: Set<String> = []
        for entry in state.entries.values where entry.isLive {
            if let id = entry.value(.details).json["icon"]?.string { ids.insert(id) }
        }
        var icons: [AccountIcon] = []
        for id in ids.sorted() { if let icon = try records.icon(id) { icons.append(icon) } }
        return icons
    }
}

/// The result of the transaction of a synchronization.
private struct SyncOutcome: Sendable {
    let settings: SyncSettings
    var report: SyncReport
    let icons: [AccountIcon]
    let mustWrite: Bool
}

extension SyncState {
    /// Returns the join of the entries of several states.
    static func joinedEntries(_ states: [SyncState]) -> [AccountID: SyncEntry] {
        var joined: [AccountID: SyncEntry] = [:]
        for state in states { joined.merge(state.entries) { $0.joined(with: $1) } }
        return joined
    }

    /// Makes this machine the one that generates the codes of a counter, from a later position.
    /// - Returns: The error when that is not possible; nil when it was done.
    mutating func take(_ taking: VaultSync.Taking) -> SyncError? {
        guard var entry = entries[taking.account], entry.isLive, let owner = entry.owner, let counter = entry.counter else {
            return SyncError(.noCounter, "the account has no synchronized counter")
        }
        guard owner != machine else {
            return SyncError(.ownCounter, "this machine generates the codes of the account already")
        }
        let (next, isTooGreat) = counter.next.addingReportingOverflow(UInt64(max(0, taking.jump)))
        guard !isTooGreat else {
            return SyncError(.counterExhausted, "the counter has reached its end; enroll the account again")
        }
        clock += 1
        entry.registers[.owner] = SyncRegister(
            version: SyncVersion(counter: clock, machine: machine), base: entry.registers[.owner]?.version,
            value: SyncValue(.string(machine)))
        entry.advance(next)
        entries[taking.account] = entry
        return nil
    }
}
