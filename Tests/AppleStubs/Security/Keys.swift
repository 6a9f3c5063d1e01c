// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import Crypto
public import Foundation
import Synchronization

// Keys of a Secure Enclave in software, with the ECIES layout of Apple's real one (research, section 1.4).

/// The part of CryptoKit for keys in the enclave, which Crypto re-exports on Apple's systems.
public enum SecureEnclave {
    public static var isAvailable: Bool { !StandInEnclave.isMissing.withLock { $0 } }

    public enum P256 {
        public enum Signing {
            /// A key whose representation is its number and the scalar; the real one is encrypted.
            public struct PrivateKey {
                private let number: UInt8
                private let key: Crypto.P256.Signing.PrivateKey
                public let dataRepresentation: Data

                public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {
                    guard SecureEnclave.isAvailable else { throw CryptoKitError.incorrectParameterSize }
                    let isBound = accessControl.flags.contains(.biometryCurrentSet)
                    number = isBound ? UInt8(StandInEnclave.biometry.withLock { $0 } + 1) : 0
                    key = Crypto.P256.Signing.PrivateKey(compactRepresentable: compactRepresentable)
                    let device = UInt8(StandInEnclave.generation.withLock { $0 })
                    dataRepresentation = Data([device, number]) + key.rawRepresentation
                }

                public init(dataRepresentation: Data) throws {
                    let bytes = Array(dataRepresentation)
                    guard bytes.count == 34, bytes[0] == UInt8(StandInEnclave.generation.withLock { $0 }) else {
                        throw CryptoKitError.incorrectParameterSize
                    }
                    number = bytes[1]
                    key = try Crypto.P256.Signing.PrivateKey(rawRepresentation: bytes[2...])
                    self.dataRepresentation = dataRepresentation
                }

                public var publicKey: Crypto.P256.Signing.PublicKey { key.publicKey }

                public func signature(for data: some DataProtocol) throws -> Crypto.P256.Signing.ECDSASignature {
                    guard number == 0 || number == UInt8(StandInEnclave.biometry.withLock { $0 } + 1) else {
                        throw CryptoKitError.authenticationFailure
                    }
                    return try key.signature(for: data)
                }
            }
        }
    }
}

/// The device that the tests run on.
public enum StandInEnclave {
    static let isMissing = Mutex(false)

    /// Makes the device one without an enclave, or one with it.
    public static func setMissing(_ isMissing: Bool) { Self.isMissing.withLock { $0 = isMissing } }

    static let biometry = Mutex(0)

    /// Enrolls another fingerprint, which makes the keys useless that need the earlier set.
    public static func enrollFingerprint() { biometry.withLock { $0 += 1 } }

    /// The number of the device, which a key of CryptoKit belongs to.
    static let generation = Mutex(0)

    /// Removes all keys, as on another device.
    public static func forgetKeys() {
        generation.withLock { $0 += 1 }
        keychain.withLock { state in state.items.removeAll { $0[kSecClass] == .text(kSecClassKey) } }
    }
}

public final class SecKey: Hashable, Sendable {
    fileprivate let privateKey: P256.KeyAgreement.PrivateKey?
    fileprivate let publicKey: P256.KeyAgreement.PublicKey
    /// The number of the set of fingerprints that releases the key; nil for a key that needs none.
    private let biometry: Int?
    fileprivate var isUsable: Bool { biometry == nil || biometry == StandInEnclave.biometry.withLock { $0 } }

    fileprivate init(_ key: P256.KeyAgreement.PrivateKey, _ access: SecAccessControl) {
        privateKey = key
        publicKey = key.publicKey
        biometry = access.flags.contains(.biometryCurrentSet) ? StandInEnclave.biometry.withLock { $0 } : nil
    }

    fileprivate init(_ key: P256.KeyAgreement.PublicKey) {
        privateKey = nil
        publicKey = key
        biometry = nil
    }

    public static func == (left: SecKey, right: SecKey) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(publicKey.x963Representation) }
}

public final class SecAccessControl: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    fileprivate let flags: SecAccessControlCreateFlags

    fileprivate init(_ protection: CFString, _ flags: SecAccessControlCreateFlags) {
        description = protection
        self.flags = flags
    }

    public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) {}
}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}

public struct SecKeyAlgorithm: Hashable, Sendable {
    let name: String
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(name: "ecdh")
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(name: "ecies")
}

public func SecKeyGetTypeID() -> CFTypeID { 1 }

public func SecAccessControlCreateWithFlags(
    _ allocator: AnyObject?, _ protection: CFString, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    SecAccessControl(protection, flags)
}

public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard parameters[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave,
        let attributes = parameters[kSecPrivateKeyAttrs] as? [String: Any], attributes[kSecAttrIsPermanent] as? Bool == true,
        let tag = attributes[kSecAttrApplicationTag] as? Data, let access = attributes[kSecAttrAccessControl] as? SecAccessControl
    else {
        error.fail(errSecParam)
        return nil
    }
    let key = SecKey(P256.KeyAgreement.PrivateKey(), access)
    let status = keychain.withLock { state in
        let item: Attributes = [
            kSecClass: .text(kSecClassKey), kSecAttrKeyClass: .text(kSecAttrKeyClassPrivate),
            kSecAttrKeyType: .text(kSecAttrKeyTypeECSECPrimeRandom), kSecAttrApplicationTag: .data(tag),
            kSecAttrApplicationLabel: .data(Data(Insecure.SHA1.hash(data: key.publicKey.x963Representation))),
            kSecAttrTokenID: .text(kSecAttrTokenIDSecureEnclave), "v_Ref": .key(key), kSecAttrAccessControl: .access(access),
            kSecAttrAccessGroup: .text(parameters[kSecAttrAccessGroup] as? String ?? state.accessGroups[0]),
        ]
        return state.refusal(.add, item) ?? state.add(item)
    }
    guard status == errSecSuccess else {
        error.fail(status)
        return nil
    }
    return key
}

public func SecKeyCreateWithData(
    _ data: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: data) else {
        error.fail(errSecParam)
        return nil
    }
    return SecKey(key)
}

public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { SecKey(key.publicKey) }

public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    key.privateKey == nil ? key.publicKey.x963Representation : nil
}

public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard privateKey.isUsable else {
        error.fail(errSecAuthFailed)
        return nil
    }
    guard algorithm == .ecdhKeyExchangeCofactor,
        let shared = try? privateKey.privateKey?.sharedSecretFromKeyAgreement(with: publicKey.publicKey)
    else {
        error.fail(errSecParam)
        return nil
    }
    return shared.withUnsafeBytes { Data($0) }
}

public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let ephemeral = P256.KeyAgreement.PrivateKey()
    let point = ephemeral.publicKey.x963Representation
    guard algorithm == .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
        let shared = try? ephemeral.sharedSecretFromKeyAgreement(with: key.publicKey),
        let (secret, nonce) = try? derived(shared, point),
        let box = try? AES.GCM.seal(plaintext, using: secret, nonce: nonce)
    else {
        error.fail(errSecParam)
        return nil
    }
    return point + box.ciphertext + box.tag
}

public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    if let status = key.isUsable ? keychain.withLock({ $0.refusal(.copy, [:]) }) : errSecAuthFailed {
        error.fail(status)
        return nil
    }
    guard algorithm == .eciesEncryptionCofactorVariableIVX963SHA256AESGCM, ciphertext.count >= 81,
        let point = try? P256.KeyAgreement.PublicKey(x963Representation: ciphertext.prefix(65)),
        let shared = try? key.privateKey?.sharedSecretFromKeyAgreement(with: point),
        let (secret, nonce) = try? derived(shared, ciphertext.prefix(65)),
        let box = try? AES.GCM.SealedBox(
            nonce: nonce, ciphertext: ciphertext.dropFirst(65).dropLast(16), tag: ciphertext.suffix(16)),
        let plaintext = try? AES.GCM.open(box, using: secret)
    else {
        error.fail(errSecParam)
        return nil
    }
    return plaintext
}

private func derived(_ shared: SharedSecret, _ point: Data) throws -> (SymmetricKey, AES.GCM.Nonce) {
    let bytes = shared.x963DerivedSymmetricKey(using: SHA256.self, sharedInfo: point, outputByteCount: 32)
        .withUnsafeBytes { Data($0) }
    return (SymmetricKey(data: bytes.prefix(16)), try AES.GCM.Nonce(data: bytes.suffix(16)))
}
