import Foundation
import SignetCore

/// A second factor of the user that releases a key in hardware.
enum SecondFactor: Sendable {
    /// A PIN, which a TPM checks.
    case pin(Secret)
    /// The fingerprints or the face that are enrolled on the device, which a Secure Enclave requires.
    case biometry
}

/// The apps that may use a key in a Secure Enclave, and the time at which they may.
///
/// Other hardware has no access groups, and its keys can always be used.
package struct KeyAccess: Sendable {
    /// The time at which a key can be used.
    package enum Time: Sendable {
        /// After the device was unlocked once since it started.
        case afterFirstUnlock
        /// While the device is unlocked.
        case whenUnlocked
        /// While the device is unlocked, if it has a passcode.
        case whenPasscodeSet
    }

    let group: String?
    let time: Time

    /// Creates an access.
    /// - Parameters:
    ///   - group: The keychain access group, with or without the prefix of the team; nil for the app alone.
    ///   - time: The time.
    package init(group: String? = nil, time: Time = .afterFirstUnlock) {
        self.group = group
        self.time = time
    }
}

/// The hardware that protects P-256 keys on this system, and the way to access it.
package struct HardwareKeys: Sendable {
    #if canImport(Security)
    package static let `default` = HardwareKeys()

    /// Returns the availability of keys in the Secure Enclave.
    package func availability() -> KeyProtectorAvailability {
        SecureEnclaveKey.isAvailable ? .usable : .unusable("this device has no Secure Enclave")
    }

    /// Returns the key with this tag in the Secure Enclave.
    ///
    /// Creates it if it does not exist. A key that an iOS SDK of ForgeRock or Ping made under the tag is found.
    func key(
        tag: String, in directory: VaultDirectory?, for access: KeyAccess
    ) throws(StoreError) -> any AgreementKey {
        let group: String? = if let group = access.group { try KeychainAccessGroup.completed(group) } else { nil }
        return try SecureEnclaveKey.findOrCreate(tag: tag, accessGroup: group, at: access.time)
    }

    /// Returns the key with this tag that the second factor releases.
    ///
    /// Creates it if it does not exist. If `isNew` is true, it replaces an existing one. A PIN releases keys in a TPM only.
    func key(
        tag: String, releasedBy factor: SecondFactor, isNew: Bool, in directory: VaultDirectory?
    ) throws(StoreError) -> any AgreementKey {
        guard case .biometry = factor else {
            throw StoreError(.keyUnavailable, "open the secured key", "a PIN protects only keys in a TPM; this system has none")
        }
        let tag = tag + ".biometry"
        let earlier = try SecureEnclaveKey.find(tag: tag)
        if let earlier, !isNew { return earlier }
        let key = try SecureEnclaveKey.create(tag: tag, needsBiometry: true)
        try earlier?.remove()
        return key
    }
    #elseif os(Linux)
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
    func key(
        tag: String, in directory: VaultDirectory?, for access: KeyAccess
    ) throws(StoreError) -> any AgreementKey {
        try TPMAgreementKey(file: TPMKeyFile(directory: vaultDirectory(directory), tag: tag), tcti: tcti)
    }

    /// Returns the key with this tag that the second factor releases.
    ///
    /// Creates it if it does not exist. If `isNew` is true, it replaces an existing one. A fingerprint or a face releases keys in a
    /// Secure Enclave only.
    func key(
        tag: String, releasedBy factor: SecondFactor, isNew: Bool, in directory: VaultDirectory?
    ) throws(StoreError) -> any AgreementKey {
        guard case .pin(let pin) = factor else {
            throw StoreError(.keyUnavailable, "open the secured key", "no service here binds fingerprints to keys; use a PIN")
        }
        let file = TPMKeyFile(directory: try vaultDirectory(directory), tag: tag, needsPin: true)
        return try TPMAgreementKey(file: file, pin: TPMPin(pin, tag: tag), isNew: isNew, tcti: tcti)
    }

    private func vaultDirectory(_ directory: VaultDirectory?) throws(StoreError) -> VaultDirectory {
        guard let directory = directory ?? VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw StoreError(.keyUnavailable, "open the secured key", "no directory for the key's file is known; set SIGNET_HOME")
        }
        return directory
    }
    #else
    package static let `default` = HardwareKeys()

    /// Returns ``KeyProtectorAvailability/unusable(_:)``, because keys in hardware are not supported on this system.
    package func availability() -> KeyProtectorAvailability { .unusable(Self.missing) }

    /// Throws ``StoreError/Code/keyUnavailable``, because keys in hardware are not supported on this system.
    func key(
        tag: String, in directory: VaultDirectory?, for access: KeyAccess
    ) throws(StoreError) -> any AgreementKey {
        throw StoreError(.keyUnavailable, "open the secured key", Self.missing)
    }

    /// Throws ``StoreError/Code/keyUnavailable``, because keys in hardware are not supported on this system.
    func key(
        tag: String, releasedBy factor: SecondFactor, isNew: Bool, in directory: VaultDirectory?
    ) throws(StoreError) -> any AgreementKey {
        throw StoreError(.keyUnavailable, "open the secured key", Self.missing)
    }

    private static let missing = "keys in hardware are not supported on this system"
    #endif
}
