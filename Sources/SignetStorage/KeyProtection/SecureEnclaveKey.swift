#if canImport(Security)
import Crypto
import Security
public import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A P-256 key whose private half never leaves the Secure Enclave of an Apple device, found by its tag.
///
/// It can be used after the first unlock, by this app on this device. As ``KeychainStore``, it has been checked against a
/// stand-in for the Security framework, and not on a device yet.
public struct SecureEnclaveKey: Sendable {
    /// The tag that names the key in the keychain.
    public let tag: String
    /// The public half: an uncompressed point, 65 bytes.
    public let publicKey: [UInt8]

    /// Makes a key in the enclave. A key that has the tag already stays, and can still be found by its public half.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when there is no enclave, or the device was not unlocked yet.
    public static func create(tag: String) throws(StoreError) -> SecureEnclaveKey {
        var failure: Unmanaged<CFError>?
        let access = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, &failure)
        guard let access else { throw EnclaveFailure.storeError(failure, "make a key in the Secure Enclave") }
        let privateHalf: [CFString: Any] = [
            kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(tag.utf8), kSecAttrAccessControl: access,
        ]
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecUseDataProtectionKeychain: true,
            kSecPrivateKeyAttrs: privateHalf,
        ]
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &failure) else {
            throw EnclaveFailure.storeError(failure, "make a key in the Secure Enclave")
        }
        return SecureEnclaveKey(tag: tag, publicKey: try publicHalf(of: key))
    }

    /// The key with this tag and, where it is given, this public half; nil only when it is certain that there is none.
    public static func find(tag: String, publicKey: [UInt8]? = nil) throws(StoreError) -> SecureEnclaveKey? {
        guard let key = try reference(tag, publicKey) else { return nil }
        return SecureEnclaveKey(tag: tag, publicKey: try publicHalf(of: key))
    }

    /// The key with this tag, which is made when it is certain that there is none.
    public static func findOrCreate(tag: String) throws(StoreError) -> SecureEnclaveKey {
        if let key = try find(tag: tag) { return key }
        return try create(tag: tag)
    }

    /// The X coordinate of the point that this key and `ephemeral`, an uncompressed point of 65 bytes, agree on.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the key is gone, ``StoreError/Code/corrupt`` when `ephemeral` is not
    ///   a point of the curve.
    public func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        let operation = "agree on a key in the Secure Enclave"
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        guard let other = SecKeyCreateWithData(Data(ephemeral) as CFData, attributes as CFDictionary, nil) else {
            throw StoreError(.corrupt, operation, "what came is not a point of the curve P-256")
        }
        var failure: Unmanaged<CFError>?
        let nothing: [CFString: Any] = [:]
        let shared = SecKeyCopyKeyExchangeResult(
            try reference(operation), .ecdhKeyExchangeCofactor, other, nothing as CFDictionary, &failure)
        guard let shared else { throw EnclaveFailure.storeError(failure, operation) }
        return Secret(shared as Data)
    }

    private static let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    /// Seals a few bytes to the public half (ECIES, Apple's layout with the derived nonce).
    func seal(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        let operation = "seal to the Secure Enclave"
        guard let key = SecKeyCopyPublicKey(try reference(operation)) else { throw EnclaveFailure.noPublicHalf }
        var failure: Unmanaged<CFError>?
        guard let sealed = SecKeyCreateEncryptedData(key, Self.algorithm, Data(bytes) as CFData, &failure) else {
            throw EnclaveFailure.storeError(failure, operation)
        }
        return Array(sealed as Data)
    }

    /// Opens what ``seal(_:)`` made; nil when it was not sealed to this key, or was changed.
    func open(_ sealed: [UInt8]) throws(StoreError) -> Secret? {
        let operation = "open with the Secure Enclave"
        var failure: Unmanaged<CFError>?
        let opened = SecKeyCreateDecryptedData(try reference(operation), Self.algorithm, Data(sealed) as CFData, &failure)
        if let opened { return Secret(opened as Data) }
        let error = EnclaveFailure.storeError(failure, operation)
        // So the framework says that the tag of the ciphertext is wrong, or its form.
        if let status = error.platformStatus, [errSecParam, errSecDecode].contains(status) { return nil }
        throw error
    }

    private func reference(_ operation: String) throws(StoreError) -> SecKey {
        guard let key = try Self.reference(tag, publicKey) else {
            throw StoreError(.keyUnavailable, operation, "the key \(tag) is no longer in this device's Secure Enclave")
        }
        return key
    }

    /// The private half's handle. It is looked up for each use: it may not be kept across threads.
    private static func reference(_ tag: String, _ publicKey: [UInt8]?) throws(StoreError) -> SecKey? {
        var query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrApplicationTag: Data(tag.utf8), kSecUseDataProtectionKeychain: true, kSecMatchLimit: kSecMatchLimitOne,
            kSecReturnRef: true,
        ]
        // The keychain labels a key with the SHA-1 of its public half: two keys of one tag stay apart.
        if let publicKey { query[kSecAttrApplicationLabel] = Data(Insecure.SHA1.hash(data: publicKey)) }
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainFailure.storeError(status, "find a key of the Secure Enclave") }
        guard let found, CFGetTypeID(found) == SecKeyGetTypeID() else {
            throw StoreError(.corrupt, "find a key of the Secure Enclave", "what is under the tag \(tag) is not a key")
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

private enum EnclaveFailure {
    static let noPublicHalf = StoreError(.failed, "read a key of the Secure Enclave", "it has no public half")

    /// The error that a function of the framework left behind, which is then ours to release.
    static func storeError(_ failure: Unmanaged<CFError>?, _ operation: String) -> StoreError {
        guard let error = failure?.takeRetainedValue(), let status = OSStatus(exactly: CFErrorGetCode(error)) else {
            return StoreError(.failed, operation, "the Secure Enclave failed")
        }
        guard CFErrorGetDomain(error) == kCFErrorDomainOSStatus else {
            return StoreError(.failed, operation, "the Secure Enclave failed", status: status)
        }
        if status == errSecUnimplemented {
            return StoreError(
                .keyUnavailable, operation, "this device has no Secure Enclave; choose another way to seal", status: status)
        }
        return KeychainFailure.storeError(status, operation)
    }
}

#endif
