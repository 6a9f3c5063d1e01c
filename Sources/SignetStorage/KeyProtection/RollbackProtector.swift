/// A key protector that can also store a number outside of the vault's store, to detect that the whole store was replaced by an
/// old copy.
///
/// The epoch of a vault only grows. A change writes it to the vault's header first and then sends it to the rollback protector.
/// If the vault has the larger epoch, the change was interrupted in between. If the rollback protector has the larger one, the
/// vault was rolled back to an older state.
public protocol RollbackProtector: KeyProtector {
    /// Returns the highest epoch that was stored for the vault; nil when none was stored.
    func epoch(ofVault id: String) throws(StoreError) -> UInt64?
    /// Stores an epoch.
    /// - Throws: ``StoreError/Code/rolledBack`` when it is lower than the stored one.
    func remember(epoch: UInt64, ofVault id: String) throws(StoreError)
}
