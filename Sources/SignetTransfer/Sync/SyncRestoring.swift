import SignetAuthenticator
package import SignetCore
import SignetStorage

extension VaultSync {
    /// Stores a value that was lost in a conflict again.
    ///
    /// Names, details and the lock replace those of the account. A secret gets an account of its own, with a second name, because
    /// an account has one mechanism of each kind. An account that another machine removed is added again. The next
    /// synchronization sends the change to the other machines.
    /// - Parameter number: The number of the conflict, from 1, in the order of ``SyncState/conflicts``.
    /// - Returns: The account that was changed or added.
    /// - Throws: ``SyncError`` when no conflict has the number, or its value cannot be stored; `StoreError`. Nothing was changed
    ///   then.
    package func restore(_ number: Int) throws -> AccountID {
        try store.write { (records: any RecordWriter) throws(StoreError) -> Result<AccountID, SyncError> in
            guard let settings = try SyncSettings.load(from: records) else { return .failure(.notSetUp) }
            guard settings.state.conflicts.indices.contains(number - 1) else {
                return .failure(SyncError(.noConflict, "there is no conflict \(number)"))
            }
            return try AccountRecords.writing(in: records) { accounts throws(StoreError) in
                try Self.restore(settings.state.conflicts[number - 1], in: accounts)
            }
        }.get()
    }

    private static func restore(
        _ conflict: SyncConflict, in records: any AccountWriter
    ) throws(StoreError) -> Result<AccountID, SyncError> {
        let id = conflict.account
        let present = try records.account(id)
        let mechanisms = try records.mechanisms(of: id)
        guard let group = conflict.group else {
            guard conflict.lost != .absent, present == nil else {
                return .failure(SyncError(.noConflict, "the account is here; there is nothing to restore"))
            }
            return try add(conflict.lost.json.object ?? [:], as: id, in: records)
        }
        guard let present else {
            return .failure(SyncError(.noConflict, "the account was removed; there is nothing to restore the value to"))
        }
        var values: [String: JSONValue] = [:]
        for (group, value) in SyncFields(present, mechanisms).values { values[group.rawValue] = value.json }
        values[group.rawValue] = conflict.lost.json
        guard group != .totp, group != .hotp else {
            guard conflict.lost != .absent else {
                return .failure(
                    SyncError(.noConflict, "the mechanism was removed there and changed here; remove it to remove it"))
            }
            for other in [SyncGroup.totp, .hotp] where other != group { values[other.rawValue] = nil }
            if var names = values[SyncGroup.names.rawValue]?.object {
                // The second name is the one to show.
                names["displayAccountName"] = nil
                values[SyncGroup.names.rawValue] = .object(names)
            }
            for free in id.alternatives where try records.account(free) == nil {
                return try add(values, as: free, in: records)
            }
            return .failure(SyncError(.noConflict, "there are too many accounts of this name"))
        }
        guard let synced = try? SyncedAccount(id, SyncEntry(values)) else { return .failure(unreadable) }
        try records.save(synced.account)
        return .success(id)
    }

    private static func add(
        _ values: [String: JSONValue], as id: AccountID, in records: any AccountWriter
    ) throws(StoreError) -> Result<AccountID, SyncError> {
        guard let synced = try? SyncedAccount(id, SyncEntry(values)) else { return .failure(unreadable) }
        try records.save(synced.account)
        for mechanism in [synced.totp, synced.hotp].compactMap({ $0 }) { try records.save(mechanism.withID(RandomID.uuid())) }
        return .success(id)
    }

    private static let unreadable = SyncError(.noConflict, "the value has a form that this version cannot read")
}

extension SyncEntry {
    /// Creates an entry of values without meaningful versions.
    fileprivate init(_ values: [String: JSONValue]) {
        self.init()
        let version = SyncVersion(counter: 0, machine: "")
        for (name, value) in values {
            registers[SyncGroup(rawValue: name)] = SyncRegister(version: version, base: nil, value: SyncValue(value))
        }
    }
}
