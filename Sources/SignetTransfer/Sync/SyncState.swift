package import SignetCore

/// The state of a synchronization on one machine: the content of its file, and the base of its next comparison with the vault.
///
/// It is a value. ``record(_:established:clock:time:)`` adds the changes of the vault, ``merging(_:)`` adds the states of other
/// machines, and ``forgetting(peers:time:)`` drops what no machine needs. None of them does I/O or reads a clock.
package struct SyncState: Sendable, Hashable {
    /// The id of this machine.
    package let machine: String
    /// The name of this machine for people.
    package var name: String
    /// The number of the newest file of this machine, which increases with each change of its content.
    package var sequence = 0
    /// The greatest counter of a version that this machine knows.
    package var clock = 0
    /// The other machines, by id, with the newest files that this machine has read.
    package var machines: [String: SyncMachine] = [:]
    /// The accounts.
    package var entries: [AccountID: SyncEntry] = [:]
    /// The values that were lost in conflicts, oldest first.
    package var conflicts: [SyncConflict] = []

    /// Creates the state of a machine that has synchronized nothing.
    package init(machine: String, name: String) {
        self.machine = machine
        self.name = name
    }

    /// Returns true when the state of this machine in a file has changes that another state of this machine lacks.
    func isAhead(of other: SyncState) -> Bool {
        sequence > other.sequence || (sequence == other.sequence && entries != other.entries)
    }

    /// Returns the name of a machine.
    package func name(of id: String) -> String { id == machine ? name : machines[id]?.name ?? id }

    // MARK: Other machines

    /// Returns this state with the entries of other machines, and the conflicts that were not known before.
    ///
    /// The entries are the join of all entries, so they do not depend on the order of `others`, and merging a state again changes
    /// nothing.
    package func merging(_ others: [SyncState], time: Int = 0) -> (state: SyncState, conflicts: [SyncConflict]) {
        var merged = self
        var found: [SyncConflict] = []
        for other in others.sorted(by: { ($0.machine, $0.sequence) < ($1.machine, $1.sequence) }) {
            merged.clock = max(merged.clock, other.clock)
            for (id, theirs) in other.entries {
                guard let ours = merged.entries[id] else {
                    merged.entries[id] = theirs
                    continue
                }
                guard ours != theirs else { continue }
                found += SyncConflict.between(ours, theirs, of: id)
                merged.entries[id] = ours.joined(with: theirs)
            }
            if other.machine != machine {
                let known = merged.machines[other.machine]
                if (known?.sequence ?? -1) <= other.sequence {
                    merged.machines[other.machine] = SyncMachine(
                        name: SyncMachine.shownName(other.name, id: other.machine), sequence: other.sequence)
                }
            }
        }
        let new = merged.keep(found, time: time)
        return (merged, new)
    }

    /// Adds conflicts, unless they are known.
    /// - Returns: The conflicts that were not known, in the order of their accounts.
    mutating func keep(_ found: [SyncConflict], time: Int) -> [SyncConflict] {
        var known = Set(conflicts.map(\.key))
        var new: [SyncConflict] = []
        for conflict in found.sorted(by: SyncConflict.isBefore) where known.insert(conflict.key).inserted {
            var conflict = conflict
            conflict.time = time
            new.append(conflict)
        }
        conflicts = Array((conflicts + new).suffix(SyncConflict.maxCount))
        return new
    }

    // MARK: Removed accounts

    /// Returns this state without the removals that are older than ``SyncRemoval/lifetime``, and without the values of removed
    /// accounts that no machine can need.
    ///
    /// The values of a removed account are kept until every known machine has read the removal, because until then a machine may
    /// change a group of the account, which brings the account back with all its values.
    /// - Parameters:
    ///   - peers: The newest readable state of each other machine, by its id.
    ///   - time: The current time in seconds since 1970.
    /// - Returns: The state.
    package func forgetting(peers: [String: SyncState], time: Int) -> SyncState {
        var state = self
        for (id, entry) in entries {
            guard !entry.isLive, let removal = entry.removal else { continue }
            if removal.time < time - SyncRemoval.lifetime {
                state.entries[id] = nil
            } else if !entry.registers.isEmpty || entry.counter != nil, isKnownToAll(removal, of: id, peers) {
                state.entries[id]?.registers = [:]
                state.entries[id]?.counter = nil
            }
        }
        return state
    }

    private func isKnownToAll(_ removal: SyncRemoval, of account: AccountID, _ peers: [String: SyncState]) -> Bool {
        machines.keys.allSatisfy { id in
            guard let known = peers[id]?.entries[account]?.removal else { return false }
            return known.version >= removal.version
        }
    }
}

extension SyncConflict {
    fileprivate static func isBefore(_ left: SyncConflict, _ right: SyncConflict) -> Bool {
        let first = (left.account.issuer, left.account.accountName, left.group?.rawValue ?? "", left.loser)
        let second = (right.account.issuer, right.account.accountName, right.group?.rawValue ?? "", right.loser)
        return first < second
    }
}
