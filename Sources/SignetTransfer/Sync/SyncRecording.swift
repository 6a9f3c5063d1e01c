package import SignetCore

extension SyncState {
    /// Compares the vault with the state of the last synchronization, and gives each group that has changed a new version.
    ///
    /// The commands that change accounts set no versions: the time of a change is that of the synchronization that finds
    /// it. All changes of one synchronization have one version, which is newer than every version that was read.
    /// - Parameters:
    ///   - vault: The accounts of the vault.
    ///   - established: The joined entries of the other machines. An account that is new here and exists there takes the values
    ///     from there.
    ///   - held: The accounts that this machine could not read at the last synchronization. A missing one was not
    ///     removed.
    ///   - seen: The greatest counter in the files of the other machines.
    ///   - time: The current time in seconds since 1970.
    /// - Returns: The accounts that were added or changed here, the removed ones, and the values that were lost because the account
    ///   was new here and had other values there.
    package mutating func record(
        _ vault: [AccountID: SyncFields], established: [AccountID: SyncEntry], held: Set<AccountID> = [], clock seen: Int,
        time: Int
    ) -> SyncChanges {
        let version = SyncVersion(counter: max(clock, seen) + 1, machine: machine)
        var changes = SyncChanges()
        for (id, fields) in vault {
            let known = entries[id]
            if let known, known.isLive, !held.contains(id) {
                entries[id] = recording(fields, of: id, in: known, version, &changes)
                continue
            }
            let there = established[id].map { known?.joined(with: $0) ?? $0 } ?? known
            if let there, there.isLive {
                // An account that this version still cannot read stays as it is, here and there.
                guard !held.contains(id) || (try? SyncedAccount(id, there)) != nil else { continue }
                entries[id] = adopting(fields, of: id, there, version, &changes)
            } else {
                entries[id] = adding(fields, to: known ?? SyncEntry(), of: id, version, &changes)
            }
        }
        for (id, entry) in entries where entry.isLive && vault[id] == nil && !held.contains(id) {
            entries[id]?.removal = SyncRemoval(version: version, base: entry.lastEdit, time: time)
            changes.removed.append(id)
        }
        let isNew = !changes.isEmpty
        clock = max(clock, seen, isNew ? version.counter : 0)
        return changes
    }

    /// Returns the entry of a known account with the changes of the vault.
    private func recording(
        _ fields: SyncFields, of id: AccountID, in known: SyncEntry, _ version: SyncVersion, _ changes: inout SyncChanges
    ) -> SyncEntry {
        var entry = known
        for group in Self.groups(fields, known) where fields.value(group) != known.value(group) {
            entry.registers[group] = SyncRegister(
                version: version, base: known.registers[group]?.version, value: fields.value(group))
            changes.add(group, of: id)
        }
        if fields.value(.hotp) != .absent, fields.counterOwner == nil {
            // The mechanism was enrolled here, or restored from a backup: this machine generates the codes from now on.
            let owner = SyncValue(.string(machine))
            if known.value(.owner) != owner {
                entry.registers[.owner] = SyncRegister(version: version, base: known.registers[.owner]?.version, value: owner)
                changes.add(.owner, of: id)
            }
            entry.advance(fields.counter)
        }
        return entry
    }

    /// Returns the entry of an account that is new here and that other machines have.
    private func adopting(
        _ fields: SyncFields, of id: AccountID, _ there: SyncEntry, _ version: SyncVersion, _ changes: inout SyncChanges
    ) -> SyncEntry {
        var entry = there
        for (group, value) in fields.values {
            guard let theirs = there.registers[group], theirs.value != .absent else {
                entry.registers[group] = SyncRegister(version: version, base: there.registers[group]?.version, value: value)
                changes.add(group, of: id)
                continue
            }
            guard theirs.value != value, SyncGroup.told.contains(group) else { continue }
            let lost = fields.counter.map { SyncFields.settings(value, with: $0) } ?? value
            changes.conflicts.append(
                SyncConflict(account: id, group: group, winner: theirs.version, loser: version, lost: lost))
        }
        guard fields.value(.hotp) != .absent else { return entry }
        if there.value(.hotp) == .absent {
            entry.registers[.owner] = SyncRegister(
                version: version, base: there.registers[.owner]?.version, value: SyncValue(.string(machine)))
        }
        // The position of another secret says nothing about this one.
        if entry.value(.hotp) == fields.value(.hotp) { entry.advance(fields.counter) }
        return entry
    }

    /// Returns the entry of an account that no machine has.
    private func adding(
        _ fields: SyncFields, to known: SyncEntry, of id: AccountID, _ version: SyncVersion, _ changes: inout SyncChanges
    ) -> SyncEntry {
        var entry = known
        for group in Self.groups(fields, known) {
            let base = [known.registers[group]?.version, known.removal?.version].compactMap { $0 }.max()
            entry.registers[group] = SyncRegister(version: version, base: base, value: fields.value(group))
            changes.add(group, of: id)
        }
        guard fields.value(.hotp) != .absent else { return entry }
        entry.registers[.owner] = SyncRegister(
            version: version, base: known.registers[.owner]?.version, value: SyncValue(.string(machine)))
        entry.advance(fields.counter)
        return entry
    }

    /// The groups that a vault can have: those of the account, and the mechanisms of the account or of the entry.
    private static func groups(_ fields: SyncFields, _ entry: SyncEntry) -> [SyncGroup] {
        let mechanisms = [SyncGroup.totp, .hotp].filter { fields.values[$0] != nil || entry.registers[$0] != nil }
        return [.added, .names, .details, .lock] + mechanisms
    }
}

extension SyncEntry {
    /// Moves the counter of the current secret forward to a position, never back.
    mutating func advance(_ next: UInt64?) {
        guard let next, let secret = registers[.hotp]?.version else { return }
        let position = SyncCounter(secret: secret, next: next)
        counter = counter.map { max($0, position) } ?? position
    }
}

/// The changes that a machine found in its vault.
package struct SyncChanges: Sendable, Hashable {
    /// The groups of fields that were set here, by account.
    package private(set) var groups: [AccountID: Set<SyncGroup>] = [:]
    /// The accounts that were removed here.
    package internal(set) var removed: [AccountID] = []
    /// The values of accounts that are new here, where other machines have other values.
    package internal(set) var conflicts: [SyncConflict] = []

    /// Creates a value without changes.
    package init() {}

    /// True when nothing was changed, added or removed.
    package var isEmpty: Bool { groups.isEmpty && removed.isEmpty && conflicts.isEmpty }

    mutating func add(_ group: SyncGroup, of id: AccountID) { groups[id, default: []].insert(group) }
}
