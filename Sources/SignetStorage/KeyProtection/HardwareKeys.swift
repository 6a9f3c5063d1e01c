import Foundation

/// The hardware that protects P-256 keys on this system, and the way to access it.
package struct HardwareKeys: Sendable {
    #if os(Linux)
    /// The transmission interface (TCTI) of the TPM.
    ///
    /// It is always specified, never searched for.
    let tcti: String

    /// The TPM of this machine, or the one that ``DefaultKeyProtectors/tctiVariable`` names.
    package static var `default`: HardwareKeys {
        let environment = ProcessInfo.processInfo.environment
        return HardwareKeys(tcti: environment[DefaultKeyProtectors.tctiVariable] ?? TPMProtector.defaultTCTI)
    }

    package init(tcti: String) {
        self.tcti = tcti
    }

    /// Returns the availability of keys in hardware.
    package func availability() -> KeyProtectorAvailability { TPMProtector(tcti: tcti).availability() }

    /// Returns the key with this tag.
    ///
    /// Creates it if it does not exist.
    func key(tag: String, in directory: VaultDirectory) throws(StoreError) -> any AgreementKey {
        try TPMAgreementKey(file: TPMKeyFile(directory: directory, tag: tag), tcti: tcti)
    }
    #else
    package static let `default` = HardwareKeys()

    /// Returns ``KeyProtectorAvailability/unusable(_:)``, because keys in hardware are not supported on this system.
    package func availability() -> KeyProtectorAvailability { .unusable(Self.missing) }

    /// Throws ``StoreError/Code/keyUnavailable``, because keys in hardware are not supported on this system.
    func key(tag: String, in directory: VaultDirectory) throws(StoreError) -> any AgreementKey {
        throw StoreError(.keyUnavailable, "open the secured key", Self.missing)
    }

    private static let missing = "keys in hardware are not there yet on this system"
    #endif
}
