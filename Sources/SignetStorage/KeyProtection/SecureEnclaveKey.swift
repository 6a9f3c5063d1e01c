#if canImport(Security)
import Crypto
import Foundation
import Security
public import SignetCore

/// A P-256 key whose private half never leaves the Secure Enclave of an Apple device.
///
/// It is found by its tag.
///
/// This app can use it on this device after the first unlock. Like ``KeychainStore``, it has been tested against a substitute for
/// the Security framework, and not on a device yet.
public struct SecureEnclaveKey: AgreementKey, Sendable {
    /// The tag that identifies the key in the keychain.
    public let tag: String
    /// The public half: an uncompressed point, 65 bytes.
    public let publicKey: [UInt8]
    /// The complete name of the keychain access group whose apps may use the key; nil for the app's own.
    public let accessGroup: String?

    /// True when the device has a Secure Enclave.
    static var isAvailable: Bool { SecureEnclave.isAvailable }

    /// Creates a key in the Secure Enclave.
    ///
    /// An existing key with the same tag is kept, and can still be found by its public half.
    /// - Parameters:
    ///   - tag: The tag.
    ///   - accessGroup: The complete name of the keychain access group; nil for the app's own.
    ///   - needsBiometry: Pass true for a key that only the fingerprints or the face release that are enrolled now. The device asks for
    ///     them at each use, and the key is useless after a change of them.
    /// - Returns: The new key.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the device has no Secure Enclave, or was not unlocked yet.
    public static func create(
        tag: String, accessGroup: String? = nil, needsBiometry: Bool = false
    ) throws(StoreError) -> SecureEnclaveKey {
        let time = needsBiometry ? KeyAccess.Time.whenUnlocked : .afterFirstUnlock
        return try create(tag: tag, accessGroup: accessGroup, needsBiometry: needsBiometry, at: time)
    }

    /// Creates a key that can be used at the given time; see ``create(tag:accessGroup:needsBiometry:)``.
    static func create(
        tag: String, accessGroup: String?, needsBiometry: Bool = false, at time: KeyAccess.Time
    ) throws(StoreError) -> SecureEnclaveKey {
        let protection =
            switch time {
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenUnlocked: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .whenPasscodeSet: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        var failure: Unmanaged<CFError>?
        let access = SecAccessControlCreateWithFlags(
            nil, protection, needsBiometry ? [.privateKeyUsage, .biometryCurrentSet] : .privateKeyUsage, &failure)
        guard let access else { throw EnclaveFailure.storeError(failure, "make a key in the Secure Enclave") }
        let privateHalf: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(tag.utf8), kSecAttrAccessControl: access,
        ]
        var attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecUseDataProtectionKeychain: true,
            kSecPrivateKeyAttrs: privateHalf,
        ]
        attributes[kSecAttrAccessGroup] = accessGroup
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &failure) else {
            throw EnclaveFailure.storeError(failure, "make a key in the Secure Enclave")
        }
        return SecureEnclaveKey(tag: tag, publicKey: try publicHalf(of: key), accessGroup: accessGroup)
    }

    /// Returns the key with this tag and, if it is given, this public half.
    ///
    /// Returns nil only when the key does not exist; it throws when it cannot find out.
    public static func find(
        tag: String, publicKey: [UInt8]? = nil, accessGroup: String? = nil
    ) throws(StoreError) -> SecureEnclaveKey? {
        guard let key = try reference(tag, publicKey, accessGroup) else { return nil }
        return SecureEnclaveKey(tag: tag, publicKey: try publicHalf(of: key), accessGroup: accessGroup)
    }

    /// Returns the key with this tag.
    ///
    /// Creates it when it does not exist. `time` is the time at which a new key can be used; an existing key keeps its own.
    static func findOrCreate(
        tag: String, accessGroup: String?, at time: KeyAccess.Time = .afterFirstUnlock
    ) throws(StoreError) -> SecureEnclaveKey {
        if let key = try find(tag: tag, accessGroup: accessGroup) { return key }
        return try create(tag: tag, accessGroup: accessGroup, at: time)
    }

    /// Removes the key from the Secure Enclave.
    ///
    /// What was sealed to it cannot be opened any more.
    func remove() throws(StoreError) {
        var query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(tag.utf8), kSecUseDataProtectionKeychain: true,
            kSecAttrApplicationLabel: Data(Insecure.SHA1.hash(data: publicKey)),
        ]
        query[kSecAttrAccessGroup] = accessGroup
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw KeychainFailure.storeError(status, "remove a key of the Secure Enclave")
        }
    }

    /// Returns the x coordinate of the shared point of this key and `ephemeral`, an uncompressed point of 65 bytes.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the key does not exist any more; ``StoreError/Code/corrupt`` when
    ///   `ephemeral` is not a point of the curve.
    public func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        let operation = "agree on a key in the Secure Enclave"
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        guard let other = SecKeyCreateWithData(Data(ephemeral) as CFData, attributes as CFDictionary, nil) else {
            throw StoreError(.corrupt, operation, "the received public key is not a point of the curve P-256")
        }
        var failure: Unmanaged<CFError>?
        let nothing: [CFString: Any] = [:]
        let shared = SecKeyCopyKeyExchangeResult(
            try reference(operation), .ecdhKeyExchangeCofactor, other, nothing as CFDictionary, &failure)
        guard let shared else { throw EnclaveFailure.storeError(failure, operation) }
        return Secret(shared as Data)
    }

    private static let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    /// Seals a few bytes to the public half (ECIES, Apple's format with a derived IV).
    func seal(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        let operation = "seal to the Secure Enclave"
        guard let key = SecKeyCopyPublicKey(try reference(operation)) else { throw EnclaveFailure.noPublicHalf }
        var failure: Unmanaged<CFError>?
        guard let sealed = SecKeyCreateEncryptedData(key, Self.algorithm, Data(bytes) as CFData, &failure) else {
            throw EnclaveFailure.storeError(failure, operation)
        }
        return Array(sealed as Data)
    }

    /// Opens what ``seal(_:)`` sealed; nil when it was not sealed to this key, or was changed.
    func open(_ sealed: [UInt8]) throws(StoreError) -> Secret? {
        let operation = "open with the Secure Enclave"
        var failure: Unmanaged<CFError>?
        let opened = SecKeyCreateDecryptedData(try reference(operation), Self.algorithm, Data(sealed) as CFData, &failure)
        if let opened { return Secret(opened as Data) }
        let error = EnclaveFailure.storeError(failure, operation)
        // The framework returns these codes for a ciphertext with a wrong tag or a wrong format.
        if let status = error.platformStatus, [errSecParam, errSecDecode].contains(status) { return nil }
        throw error
    }

    private func reference(_ operation: String) throws(StoreError) -> SecKey {
        guard let key = try Self.reference(tag, publicKey, accessGroup) else {
            throw StoreError(.keyUnavailable, operation, "the key \(tag) is no longer in this device's Secure Enclave")
        }
        return key
    }

    /// Returns the handle of the private half.
    ///
    /// It is looked up for each use, because it must not be shared between threads.
    private static func reference(
        _ tag: String, _ publicKey: [UInt8]?, _ accessGroup: String?
    ) throws(StoreError) -> SecKey? {
        // The iOS SDKs of ForgeRock and Ping give their keys a text as the tag, where the documentation asks for data.
        if let key = try reference(tagged: Data(tag.utf8), publicKey, accessGroup) { return key }
        return try reference(tagged: tag, publicKey, accessGroup)
    }

    private static func reference(
        tagged tag: Any, _ publicKey: [UInt8]?, _ accessGroup: String?
    ) throws(StoreError) -> SecKey? {
        var query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrApplicationTag: tag, kSecUseDataProtectionKeychain: true, kSecMatchLimit: kSecMatchLimitOne,
            kSecReturnRef: true,
        ]
        query[kSecAttrAccessGroup] = accessGroup
        // The application label of a key is the SHA-1 of its public half. It distinguishes two keys with the same tag.
        if let publicKey { query[kSecAttrApplicationLabel] = Data(Insecure.SHA1.hash(data: publicKey)) }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "find a key of the Secure Enclave") }
        guard let found, CFGetTypeID(found) == SecKeyGetTypeID() else {
            throw StoreError(.corrupt, "find a key of the Secure Enclave", "the keychain item with the tag is not a key")
        }
        return unsafeDowncast(found, to: SecKey.self)
    }

    private static func publicHalf(of key: SecKey) throws(StoreError) -> [UInt8] {
        guard let half = SecKeyCopyPublicKey(key), let bytes = SecKeyCopyExternalRepresentation(half, nil) else {
            throw EnclaveFailure.noPublicHalf
        }
        return Array(bytes as Data)
    }
}

/// The errors of the functions for keys in the Secure Enclave.
enum EnclaveFailure {
    static let noPublicHalf = StoreError(.failed, "read a key of the Secure Enclave", "it has no public half")

    /// Converts the error that a function of the framework returned, and releases it.
    static func storeError(_ failure: Unmanaged<CFError>?, _ operation: String) -> StoreError {
        guard let error = failure?.takeRetainedValue(), let status = OSStatus(exactly: CFErrorGetCode(error)) else {
            return StoreError(.failed, operation, "the Secure Enclave failed")
        }
        guard CFErrorGetDomain(error) == kCFErrorDomainOSStatus else {
            return StoreError(.failed, operation, "the Secure Enclave failed", status: status)
        }
        if status == errSecUnimplemented {
            return StoreError(
                .keyUnavailable, operation, "this device has no Secure Enclave; choose another key protector", status: status)
        }
        return KeychainFailure.storeError(status, operation)
    }
}

#endif
