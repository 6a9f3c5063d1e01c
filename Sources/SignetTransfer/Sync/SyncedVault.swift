import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts of a vault in one transaction, as a synchronization reads and writes them.
struct SyncedVault {
    /// The accounts with their mechanisms, and their fields.
    private(set) var accounts: [AccountID: (account: Account, mechanisms: [Mechanism])] = [:]
    /// The fields of the accounts that are compared with the last synchronization.
    private(set) var fields: [AccountID: SyncFields] = [:]
    /// The number of push mechanisms.
    private(set) var pushCount = 0
    private let established: [AccountID: SyncEntry]

    /// Reads the accounts.
    ///
    /// An account that has push mechanisms only is not synchronized, unless another machine has codes of it.
    /// - Parameters:
    ///   - records: The records.
    ///   - established: The entries of the other machines.
    /// - Throws: `StoreError`.
    init(_ records: any AccountReader, established: [AccountID: SyncEntry]) throws(StoreError) {
        self.established = established
        for (account, mechanisms) in try records.accountsWithMechanisms() {
            accounts[account.id] = (account, mechanisms)
            let codeCount = mechanisms.count { $0.oath != nil }
            pushCount += mechanisms.count - codeCount
            if mechanisms.isEmpty || codeCount > 0 || established[account.id]?.isLive == true {
                fields[account.id] = SyncFields(account, mechanisms)
            }
        }
    }

    /// Makes the accounts of the vault those of a state.
    /// - Parameters:
    ///   - state: The merged state.
    ///   - icons: The pictures in the files of the other machines, by id.
    ///   - records: The records to change.
    ///   - report: Gets the accounts that were added, changed and removed, and the counters of other machines.
    /// - Returns: The accounts that this version cannot read. They are left as they are.
    /// - Throws: `StoreError`.
    func apply(
        _ state: SyncState, icons: [String: AccountIcon], in records: any AccountWriter, _ report: inout SyncReport
    ) throws(StoreError) -> Set<AccountID> {
        var held: Set<AccountID> = []
        for id in state.entries.keys.sorted(by: AccountID.isBefore) {
            guard let entry = state.entries[id] else { continue }
            guard entry.isLive else {
                try remove(id, in: records, &report)
                continue
            }
            guard let synced = try? SyncedAccount(id, entry) else {
                held.insert(id)
                report.unreadable.append(id)
                continue
            }
            let owner = entry.owner.flatMap { $0 == state.machine ? nil : state.name(of: $0) }
            if let iconID = synced.account.iconID, let icon = icons[iconID], try records.icon(iconID) == nil {
                try records.save(icon)
            }
            try store(synced, owner: owner, in: records, &report)
        }
        return held
    }

    private func store(
        _ synced: SyncedAccount, owner: String?, in records: any AccountWriter, _ report: inout SyncReport
    ) throws(StoreError) {
        let id = synced.account.id
        var hotp = synced.hotp
        hotp?.counterOwner = owner
        let wanted = SyncFields(synced.account, [synced.totp, hotp].compactMap { $0 })
        guard let (account, mechanisms) = accounts[id] else {
            try records.save(synced.account)
            for mechanism in [synced.totp, hotp].compactMap({ $0 }) { try records.save(mechanism.withID(RandomID.uuid())) }
            report.added.append(id)
            if let owner { report.movedCounters.append(.init(account: id, owner: owner, mayRepeat: false)) }
            return
        }
        let present = fields[id] ?? SyncFields(account, mechanisms)
        let groups = [SyncGroup.added, .names, .details, .lock, .totp, .hotp].filter { present.value($0) != wanted.value($0) }
        if groups.contains(where: { $0 != .totp && $0 != .hotp }) { try records.save(synced.account) }
        let timeMoves = groups.contains(.added)
        if groups.contains(.totp) || timeMoves { try replace(mechanisms, .totp, with: synced.totp, in: records) }
        let counterMoves = present.counterOwner != wanted.counterOwner || present.counter != wanted.counter
        if groups.contains(.hotp) || counterMoves || timeMoves { try replace(mechanisms, .hotp, with: hotp, in: records) }
        // A user does not change the time of the first enrollment.
        let told = groups.filter { $0 != .added }
        if !told.isEmpty { report.changed.append(.init(account: id, groups: told)) }
        if let owner, present.counterOwner == nil {
            let position = established[id]?.counter?.next ?? 0
            let isAhead = present.value(.hotp) == wanted.value(.hotp) && (present.counter ?? 0) > position
            report.movedCounters.append(.init(account: id, owner: owner, mayRepeat: isAhead))
        }
    }

    /// Replaces the mechanism of one kind, which keeps its id in this vault.
    private func replace(
        _ mechanisms: [Mechanism], _ kind: Mechanism.KindName, with wanted: Mechanism?, in records: any AccountWriter
    ) throws(StoreError) {
        let present = mechanisms.first { $0.kindName == kind }
        if let wanted {
            try records.save(wanted.withID(present?.uid ?? RandomID.uuid()))
        } else if let present {
            try records.remove(mechanism: present.uid)
        }
    }

    /// Removes an account, or the codes of an account that has push mechanisms too.
    private func remove(_ id: AccountID, in records: any AccountWriter, _ report: inout SyncReport) throws(StoreError) {
        guard let (_, mechanisms) = accounts[id] else { return }
        let codes = mechanisms.filter { $0.oath != nil }
        if codes.count == mechanisms.count {
            _ = try AccountOperation<Bool, StoreError>.removeAccount(id).body(records)
        } else {
            guard !codes.isEmpty else { return }
            for mechanism in codes { try records.remove(mechanism: mechanism.uid) }
        }
        report.removed.append(id)
    }
}

extension AccountID {
    static func isBefore(_ left: AccountID, _ right: AccountID) -> Bool {
        (left.issuer, left.accountName) < (right.issuer, right.accountName)
    }
}
