/// A key protector that can also keep a number outside the vault's store, so that an old copy of the whole store is noticed.
///
/// A vault's epoch only grows. It is written into the vault's header first and told to the rollback protector then: a vault that is ahead
/// of its rollback protector was interrupted in between, one that is behind was put back to an older state.
public protocol RollbackProtector: KeyProtector {
    /// The highest epoch that was told; nil when this rollback protector never heard of the vault.
    func epoch(ofVault id: String) throws(StoreError) -> UInt64?
    /// Remembers an epoch. A lower one than it knows is refused with ``StoreError/Code/rolledBack``.
    func remember(epoch: UInt64, ofVault id: String) throws(StoreError)
}
