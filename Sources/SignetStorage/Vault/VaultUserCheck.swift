import SignetCore

extension Vault {
    /// Returns true when a key protector unwraps the key of this open vault, for example with a passphrase that the user has typed
    /// again to show their presence.
    /// - Parameter protector: The key protector. It is asked once for each slot of its name.
    /// - Returns: False when the vault has no slot of the key protector that it unwraps.
    /// - Throws: The errors of the key protector, except ``StoreError/Code/keyMismatch``.
    package func isUnwrapped(by protector: some KeyProtector) throws(StoreError) -> Bool {
        let header = header
        for slot in header.slots where slot.protector == protector.name {
            do throws(StoreError) {
                _ = try protector.unwrap(slot.wrapped, context: header.context(protector: protector.name))
                return true
            } catch {
                guard error.code == .keyMismatch else { throw error }
            }
        }
        return false
    }
}
