import SignetCore
public import SignetStorage
import SignetTransfer

extension FRAClient {
    /// Sets the place from which the first start takes over what the ForgeRock SDK stored.
    ///
    /// It is the app's keychain on Apple's systems, and nil elsewhere. An app that has its data as an exported file sets a
    /// `LegacyArchive`. The first start with the user's vault stores all accounts, mechanisms and notifications in one transaction;
    /// later starts don't read the place again. Nothing in it is changed. An app's own storage client gets nothing.
    /// - Throws: ``FRAError/invalidStateForChangingStorage`` when the SDK has started.
    public static func setLegacyStore(_ store: (any LegacyStore)?) throws {
        guard FRAProcess.current.setUp({ $0.legacyStore = store }) else { throw FRAError.invalidStateForChangingStorage }
    }
}

extension LegacySettings {
    /// Takes over the accounts of the ForgeRock SDK, if that was not done before.
    /// - Throws: The errors of the stores. Nothing was taken over then.
    func takeOverAccounts(into records: any RecordStore) throws(StoreError) {
        guard let legacyStore else { return }
        let report = try LegacyAccounts.takeOver(from: legacyStore, into: records, policy: endpoints, now: clock.now)
        guard let report else { return }
        // The names of accounts are not logged.
        for entry in report.skipped {
            FRAProcess.current.write(.warning, "start: not taken over: \(entry.type), \(entry.detail)", to: logger)
        }
    }
}
