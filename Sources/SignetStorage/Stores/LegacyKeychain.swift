#if canImport(Security)
import Foundation
import Security

/// The app's keychain with the items that an iOS SDK of ForgeRock or Ping stored.
///
/// The app must have the same bundle identifier and access groups as before. Nothing is changed or removed.
///
/// It has not been run on a Mac or an iPhone yet. On Linux, it is tested against a substitute for the Security framework.
public struct LegacyKeychain: LegacyStore {
    /// Creates a view of the app's keychain.
    public init() {}

    /// Returns the items of a service, opened with the key in the Secure Enclave.
    ///
    /// Items that an SDK stored before it had a key are in plain text, and are returned as they are.
    /// - Throws: ``StoreError`` when the keychain or the key cannot be used now, for example before the first unlock.
    public func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem] {
        let group: String? = if let group = key?.accessGroup { try KeychainAccessGroup.completed(group) } else { nil }
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnData: true, kSecReturnAttributes: true, kSecUseDataProtectionKeychain: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return [] }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "read another SDK's items") }
        guard let entries = found as? [[String: Any]] else {
            throw StoreError(.corrupt, "read another SDK's items", "the keychain returned no list")
        }
        var opener: SecureEnclaveKey?
        if let key { opener = try SecureEnclaveKey.find(tag: key.tag, accessGroup: group) }
        var items: [LegacyItem] = []
        for entry in entries {
            guard let name = entry[kSecAttrAccount as String] as? String, let data = entry[kSecValueData as String] as? Data
            else { continue }
            let content = try key == nil ? data : Self.opened(data, with: opener)
            items.append(LegacyItem(name: name, content: content))
        }
        return items.sorted { $0.name < $1.name }
    }

    private static func opened(_ data: Data, with key: SecureEnclaveKey?) throws(StoreError) -> Data? {
        guard ECIES.isSealed(data) else { return data }
        guard let key else { return nil }
        do throws(StoreError) {
            return Data(try ECIES.open(Array(data), with: key))
        } catch  where error.code == .corrupt {
            return nil
        }
    }
}

#endif
