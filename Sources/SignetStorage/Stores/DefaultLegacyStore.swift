/// The place in which another SDK has stored an app's data on this system.
package enum DefaultLegacyStore {
    /// The app's keychain on Apple's systems; nil elsewhere.
    package static var current: (any LegacyStore)? {
        #if canImport(Security)
        LegacyKeychain()
        #else
        nil
        #endif
    }

    /// Returns the encryptor with which Ping's modules sealed an app's data on this system.
    ///
    /// The call may use hardware. It creates no key.
    /// - Returns: The encryptor with the app's key in the Secure Enclave on Apple's systems; nil without this key, and on other
    ///   systems, whose hardware does not have the key.
    /// - Throws: ``StoreError`` when it cannot find out if there is a key, for example before the first unlock.
    static func encryptor() async throws(StoreError) -> (any Encryptor)? {
        #if canImport(Security)
        return try await Blocking.run { () throws(StoreError) -> SecuredKeyEncryptor? in
            guard let key = try SecureEnclaveKey.find(tag: LegacyKey.ping.tag) else { return nil }
            return SecuredKeyEncryptor(SecuredKey(key))
        }
        #else
        return nil
        #endif
    }
}
