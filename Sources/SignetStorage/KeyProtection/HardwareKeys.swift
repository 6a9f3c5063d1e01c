/// The hardware that keeps P-256 keys on this system, and how it is reached.
package struct HardwareKeys: Sendable {
    #if os(Linux)
    /// The TPM's transmission interface, always named.
    let tcti: String

    package static let usual = HardwareKeys(tcti: TPMProtector.defaultTCTI)

    package init(tcti: String) {
        self.tcti = tcti
    }

    /// Whether a key can be asked for here.
    package func availability() -> KeyProtectorAvailability { TPMProtector(tcti: tcti).availability() }

    /// The key of that tag, which is made if there is none.
    func key(tag: String, in directory: VaultDirectory) throws(StoreError) -> any AgreementKey {
        try TPMAgreementKey(file: TPMKeyFile(directory: directory, tag: tag), tcti: tcti)
    }
    #else
    package static let usual = HardwareKeys()

    /// Whether a key can be asked for here.
    package func availability() -> KeyProtectorAvailability { .unusable(Self.missing) }

    /// The key of that tag, which is made if there is none.
    func key(tag: String, in directory: VaultDirectory) throws(StoreError) -> any AgreementKey {
        throw StoreError(.keyUnavailable, "open the secured key", Self.missing)
    }

    private static let missing = "keys in hardware are not there yet on this system"
    #endif
}
