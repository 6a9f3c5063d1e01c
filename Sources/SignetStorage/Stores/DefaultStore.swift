import Foundation
package import Logging

/// The store behind ``VaultProvider/default``: the vault in the default directory.
///
/// On Apple's systems it is a vault in the keychain, unless the directory holds a vault.
package enum DefaultStore {
    /// Opens the vault in the default directory.
    ///
    /// On Apple's systems it is the app's keychain, unless the directory holds a vault.
    /// - Parameters:
    ///   - directory: The directory of the vault.
    ///   - preferences: The app's requirements.
    ///   - environment: The environment of the process.
    ///   - logger: The logger that records the creation of a vault.
    /// - Returns: The store.
    /// - Throws: The error of a vault that cannot be opened; ``StoreError/Code/protectionTooWeak``.
    package static func open(
        in directory: VaultDirectory, _ preferences: VaultPreferences = VaultProvider.defaultPreferences,
        environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger = Logger(label: "signet.storage")
    ) throws(StoreError) -> any RecordStore {
        #if canImport(Security)
        guard directory.holdsVault else {
            return try AppKeychain.open(VaultRequirement(preferences, environment: environment), logger: logger)
        }
        #endif
        return try openFile(in: directory, preferences, environment: environment, logger: logger)
    }

    /// Opens the vault in a directory, on every system.
    ///
    /// Without a vault, the store is empty, and its first write creates the vault.
    /// - Parameters:
    ///   - directory: The directory of the vault.
    ///   - preferences: The app's requirements.
    ///   - environment: The environment of the process.
    ///   - logger: The logger that records the creation of a vault.
    /// - Returns: The store.
    /// - Throws: The error of a vault that cannot be opened.
    static func openFile(
        in directory: VaultDirectory, _ preferences: VaultPreferences,
        environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger = Logger(label: "signet.storage")
    ) throws(StoreError) -> any RecordStore {
        let store = try FirstUseStore(directory, preferences, environment: environment, logger: logger)
        _ = try store.opened()
        return store
    }
}

extension VaultDirectory {
    /// Returns the default directory of this process's vault, according to its environment (``init(environment:)``).
    /// - Throws: ``StoreError/Code/noVault`` when not even a home directory is known.
    public static func `default`() throws(StoreError) -> VaultDirectory {
        guard let directory = VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw StoreError(.noVault, "find vault", "no place for it is known: set SIGNET_HOME to a directory")
        }
        return directory
    }
}
