package import SignetCore

/// A value that was lost because two machines changed the same thing without knowing of each other.
package struct SyncConflict: Sendable, Hashable {
    /// The account.
    package let account: AccountID
    /// The group of fields; nil for the whole account, which one machine removed and another one changed.
    package let group: SyncGroup?
    /// The version that the merge kept.
    package let winner: SyncVersion
    /// The version that was lost.
    package let loser: SyncVersion
    /// The value that was lost.
    ///
    /// For a whole account it is an object with the values of its groups, or null when the removal was lost, so that the
    /// account stays.
    package let lost: SyncValue
    /// The time at which this machine found the conflict, in seconds since 1970.
    package var time = 0

    /// Creates a conflict.
    package init(
        account: AccountID, group: SyncGroup?, winner: SyncVersion, loser: SyncVersion, lost: SyncValue, time: Int = 0
    ) {
        self.account = account
        self.group = group
        self.winner = winner
        self.loser = loser
        self.lost = lost
        self.time = time
    }

    /// The parts that make a conflict the same one when it is found again, for example in an old file.
    struct Key: Hashable {
        let account: AccountID
        let group: SyncGroup?
        let loser: SyncVersion
    }

    var key: Key { Key(account: account, group: group, loser: loser) }

    /// The maximum number of conflicts that are kept.
    ///
    /// The oldest ones are dropped first.
    static let maxCount = 500

    /// Returns the conflicts between two states of an account.
    static func between(_ left: SyncEntry, _ right: SyncEntry, of account: AccountID) -> [SyncConflict] {
        var conflicts: [SyncConflict] = []
        for group in SyncGroup.told {
            guard let first = left.registers[group], let second = right.registers[group], first.value != second.value else {
                continue
            }
            let winner = SyncRegister.newer(first, second)
            let loser = winner == first ? second : first
            guard loser.version.isNewer(than: winner.base) else { continue }
            conflicts.append(
                SyncConflict(
                    account: account, group: group, winner: winner.version, loser: loser.version,
                    lost: loser.value.withCounter(of: loser.version, in: [left, right])))
        }
        if let removed = removal(left, right, of: account) { conflicts.append(removed) }
        return conflicts
    }

    /// Returns the conflict of a removal on one machine and a change on another one.
    private static func removal(_ left: SyncEntry, _ right: SyncEntry, of account: AccountID) -> SyncConflict? {
        guard left.isLive != right.isLive else { return nil }
        let (live, dead) = left.isLive ? (left, right) : (right, left)
        // A side that knows the removal has decided about it already.
        guard let removal = dead.removal, live.removal.map({ $0.version < removal.version }) ?? true else { return nil }
        let unseen = live.registers.filter { SyncGroup.told.contains($0.key) && $0.value.version.isNewer(than: removal.base) }
        guard let edit = unseen.values.max(by: { $0.version < $1.version }) else { return nil }
        if live.joined(with: dead).isLive {
            // An account that was added again after its removal is not in conflict with it.
            guard removal.version.isNewer(than: edit.base) else { return nil }
            return SyncConflict(account: account, group: nil, winner: edit.version, loser: removal.version, lost: .absent)
        }
        let values = live.registers.map { group, register in
            (group.rawValue, register.value.withCounter(of: register.version, in: [live]).json)
        }
        return SyncConflict(
            account: account, group: nil, winner: removal.version, loser: edit.version,
            lost: SyncValue(.object(Dictionary(values) { first, _ in first })))
    }
}

extension SyncValue {
    /// Returns the settings of a counter with the position in one of the entries; any other value unchanged.
    fileprivate func withCounter(of version: SyncVersion, in entries: [SyncEntry]) -> SyncValue {
        let counters = entries.compactMap(\.counter).filter { $0.secret == version }
        return counters.max().map { SyncFields.settings(self, with: $0.next) } ?? self
    }
}

extension SyncVersion {
    /// Returns true when the version is newer than `other`, or `other` is nil.
    fileprivate func isNewer(than other: SyncVersion?) -> Bool { other.map { $0 < self } ?? true }
}
