import Foundation

/// The store behind ``VaultProvider/default``: on every platform, the vault in the default directory.
package enum StandardStore {
    package static func open(in directory: VaultDirectory) throws(StoreError) -> any RecordStore {
        do throws(StoreError) {
            let environment = ProcessInfo.processInfo.environment
            return try directory.openVault(protectors: DefaultKeyProtectors.all(environment: environment))
        } catch  where error.code == .noVault {
            throw StoreError(
                .noVault, error.operation,
                error.reason + "; make one with 'signet init', or in the app with VaultProvider.default.open and "
                    + "VaultDirectory.createVault, and choose there how it is sealed",
                status: error.platformStatus)
        }
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
