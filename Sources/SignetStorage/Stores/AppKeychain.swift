#if canImport(Security)
import Foundation
import Logging
import Security
import SignetCore

/// The default store on Apple's systems: a vault in the keychain, which the app or the apps of an access group have.
///
/// The Secure Enclave seals its data key. On a device without one, such as a simulator, a key in an item of its own does.
///
/// It has not been run on a Mac or an iPhone yet. On Linux, it is tested against a substitute for the Security framework.
enum AppKeychain {
    /// Opens the vault, and creates it the first time.
    ///
    /// A new vault of the app takes over the items of Ping's `KeychainStorage`.
    /// - Parameters:
    ///   - group: The access group as the app writes it; nil for a vault of the app alone.
    ///   - requirement: The protection that the app and the operator require.
    ///   - logger: The logger that records the creation of a vault.
    /// - Returns: The open vault.
    /// - Throws: ``StoreError/Code/denied`` when the app lacks the entitlement for the keychain, as a program that is not signed
    ///   does on macOS; ``StoreError/Code/keyUnavailable`` before the first unlock of the device;
    ///   ``StoreError/Code/protectionTooWeak``, and no vault and no key was created then.
    static func open(
        accessGroup group: String? = nil, _ requirement: VaultRequirement, logger: Logger = Logger(label: "signet.storage")
    ) throws(StoreError) -> CheckedVault {
        // Without an access group, the system puts an item into the app's first group, which other apps may share.
        let owner = group.map { "group.\($0)" } ?? "app.\(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)"
        let complete: String? = if let group { try KeychainAccessGroup.completed(group) } else { nil }
        let opening = Opening(
            store: KeychainStore(service: "signet.\(owner)", accessGroup: complete),
            enclave: SecureEnclaveProtector(tag: "signet.vault.\(owner)", accessGroup: complete),
            keychain: KeychainKeyProtector(service: "signet.\(owner)", accessGroup: complete), requirement: requirement)
        let vault = try CheckedVault(opening.vault(logger), requirement)
        if group == nil { try LegacyItems.takeOver(from: LegacyKeychain(), into: vault, logger: logger) }
        return vault
    }

    /// The store of a vault, and the keys that can seal it.
    private struct Opening {
        let store: KeychainStore
        let enclave: SecureEnclaveProtector
        let keychain: KeychainKeyProtector
        let requirement: VaultRequirement

        /// Opens the vault, and creates a missing one.
        func vault(_ logger: Logger) throws(StoreError) -> Vault {
            do throws(StoreError) {
                return try existing()
            } catch  where error.code == .noVault {
                // Before anything is created.
                let protector = try strongest()
                do throws(StoreError) {
                    let vault = try Vault.create(in: store, protector: protector)
                    report(vault, to: logger)
                    return vault
                } catch  where [.exists, .busy].contains(error.code) {
                    // Another process of the app or of the group was first.
                    return try existing()
                }
            }
        }

        private func existing() throws(StoreError) -> Vault {
            var protectors: [any KeyProtector] = [enclave, keychain]
            // Opens a vault with a recovery key.
            if let passphrase = requirement.preferences.passphraseProtector { protectors.append(passphrase) }
            return try Vault.open(store, protectors: protectors)
        }

        private func strongest() throws(StoreError) -> any KeyProtector {
            if SecureEnclaveKey.isAvailable { return enclave }
            guard ProtectionLevel(protector: keychain.name) >= requirement.level else {
                throw .tooWeak(requirement.level, ["\(enclave.name): \(AppKeychain.noEnclave)"], "create vault")
            }
            return keychain
        }

        private func report(_ vault: Vault, to logger: Logger) {
            let weakness = "whose key is in another item of it, because \(AppKeychain.noEnclave)"
            vault.reportCreation(
                in: "the keychain", weakness: vault.openedBy.protector == keychain.name ? weakness : nil,
                recovery: "VaultProvider.addRecoveryKey()", to: logger)
        }
    }

    private static let noEnclave = "this device has no Secure Enclave"
}

/// Names of keychain access groups.
enum KeychainAccessGroup {
    /// Returns an access group with the prefix of the app's team, which the system requires and apps may leave out.
    ///
    /// The prefix is that of the app's own group, which the system gives to an item without one.
    static func completed(_ group: String) throws(StoreError) -> String {
        let operation = "find the keychain access group"
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "signet", kSecAttrAccount: "access group",
            kSecUseDataProtectionKeychain: true,
        ]
        var query = item
        query[kSecMatchLimit] = kSecMatchLimitOne
        query[kSecReturnAttributes] = true
        var found: CFTypeRef?
        var status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound {
            let protection: [CFString: Any] = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
            status = SecItemAdd(item.merging(protection) { $1 } as CFDictionary, nil)
            guard status == errSecSuccess || status == errSecDuplicateItem else {
                throw KeychainFailure.storeError(status, operation)
            }
            status = SecItemCopyMatching(query as CFDictionary, &found)
        }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, operation) }
        let own = (found as? [String: Any])?[kSecAttrAccessGroup as String] as? String
        guard let team = own?.split(separator: "."), team.count > 1, !group.hasPrefix("\(team[0]).") else { return group }
        return "\(team[0]).\(group)"
    }
}

/// A key in an item of the keychain, for devices without a Secure Enclave.
///
/// It protects as the keychain does: only this app, or the apps of its access group, can use it, on this device only.
struct KeychainKeyProtector: KeyProtector {
    let name = "keychain"
    let service: String
    let accessGroup: String?

    private static let account = "signet key"

    func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
        let key = if let key = try key() { key } else { try makeKey() }
        return try WrappedKey.seal(dataKey, with: key, header: [WrappedKey.version], context: context)
    }

    func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
        let wrapped = try WrappedKey(wrapped, headerLength: 1)
        guard let key = try key() else {
            throw StoreError(
                .keyUnavailable, "open vault",
                "the keychain of this device does not have the key; open the vault with another key protector")
        }
        guard let dataKey = wrapped.open(with: key, context: context) else {
            throw StoreError(.keyMismatch, "open vault", "the keychain does not hold the key this vault was sealed with")
        }
        return dataKey
    }

    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: Self.account,
            kSecAttrSynchronizable: false, kSecUseDataProtectionKeychain: true,
        ]
        query[kSecAttrAccessGroup] = accessGroup
        return query
    }

    private func key() throws(StoreError) -> Secret? {
        var query = query
        query[kSecMatchLimit] = kSecMatchLimitOne
        query[kSecReturnData] = true
        query[kSecReturnAttributes] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "read the keychain") }
        guard let attributes = found as? [String: Any], let data = attributes[kSecValueData as String] as? Data, data.count == 32
        else { throw StoreError(.corrupt, "read the keychain", "the item with the vault's key is damaged; it was left as it is") }
        return Secret(data)
    }

    private func makeKey() throws(StoreError) -> Secret {
        let key = Secret.random(byteCount: 32)
        let content: [CFString: Any] = [
            kSecValueData: Data(key.bytes), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        let status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
        // Another process was first: its key counts.
        if status == errSecDuplicateItem, let key = try self.key() { return key }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "write the keychain") }
        return key
    }
}

extension VaultProvider {
    /// Returns the keychain that the apps of a keychain access group share.
    ///
    /// Its vault is opened at the first use, and created the first time.
    /// - Parameter group: The access group. The prefix of the team may be left out.
    /// - Returns: A keychain, which the caller keeps: each call opens the vault again.
    public static func keychain(accessGroup group: String) -> VaultProvider {
        keychain(accessGroup: group, preferences: VaultPreferences())
    }

    /// Returns the keychain that the apps of a keychain access group share, with preferences that another keychain may have too.
    /// - Parameters:
    ///   - group: The access group. The prefix of the team may be left out.
    ///   - preferences: The app's requirements, also those that it adds later.
    /// - Returns: A keychain, which the caller keeps: each call opens the vault again.
    package static func keychain(accessGroup group: String, preferences: VaultPreferences) -> VaultProvider {
        VaultProvider(preferences) { () throws(StoreError) in
            try AppKeychain.open(accessGroup: group, VaultRequirement(preferences))
        }
    }
}

#endif
