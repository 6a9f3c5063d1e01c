import Foundation

/// An open vault that refuses each call while its protection is weaker than required.
///
/// The app can raise the requirement after the vault was opened.
package final class CheckedVault: RecordStore, QuickReading, DeferredWriting {
    private let vault: Vault
    private let requirement: VaultRequirement

    /// Creates a store for an open vault.
    /// - Throws: ``StoreError/Code/protectionTooWeak``.
    init(_ vault: Vault, _ requirement: VaultRequirement) throws(StoreError) {
        self.vault = vault
        self.requirement = requirement
        _ = try opened()
    }

    /// Returns the vault if its protection has the required level.
    package func opened() throws(StoreError) -> Vault {
        try vault.protection.require(requirement.level)
        return vault
    }

    /// Reads a consistent state of the vault.
    package func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try opened().read(body)
    }

    /// Reads and changes records in one transaction.
    package func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try opened().write(body)
    }

    /// Reads and changes records in one transaction, which is deferred if the vault allows it.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try opened().writeDeferred(body)
    }

    /// True when the vault reads quickly.
    package var readsQuickly: Bool { vault.readsQuickly }
}

/// The protection that the app and the operator require of a vault.
struct VaultRequirement: Sendable {
    let preferences: VaultPreferences
    private let operatorLevel: ProtectionLevel

    /// Creates the requirement of an app in an environment.
    /// - Throws: ``StoreError/Code/invalid`` when the operator requires an unknown level.
    init(
        _ preferences: VaultPreferences, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StoreError) {
        self.preferences = preferences
        operatorLevel = try ProtectionLevel.required(by: environment)
    }

    /// The weakest level that the app and the operator permit.
    var level: ProtectionLevel { max(preferences.level, operatorLevel) }
}
