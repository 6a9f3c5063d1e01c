#if canImport(Security)
import Crypto
import Foundation
import Security
import SignetCore

/// A signing key whose private half never leaves the Secure Enclave of an Apple device.
///
/// Its reference is what the enclave sealed for this device; the keychain holds nothing of it. Like ``SecureEnclaveKey``, it has been
/// tested against a substitute for the framework, and not on a device yet.
struct SecureEnclaveSigningKey: SigningKey {
    let publicKey: ES256PublicKey
    /// The representation of the key by CryptoKit, from which it is opened for each use.
    private let sealed: [UInt8]

    var level: SigningKeyLevel { .hardware }

    var reference: Secret { SigningKeyReference.secureEnclave(sealed).bytes }

    /// Creates a key that can be used after the first unlock, or while the device is unlocked and the factor releases it.
    init(releasedBy factor: SigningKeyFactor?) throws(StoreError) {
        let operation = "create a signing key in the Secure Enclave"
        guard SecureEnclaveKey.isAvailable else {
            throw StoreError(.keyUnavailable, operation, "this device has no Secure Enclave")
        }
        let flags: SecAccessControlCreateFlags =
            switch factor {
            case nil: .privateKeyUsage
            case .biometry: [.privateKeyUsage, .biometryCurrentSet]
            case .biometryOrPasscode: [.privateKeyUsage, .userPresence]
            }
        let time =
            factor == nil ? kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly : kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        var failure: Unmanaged<CFError>?
        guard let access = SecAccessControlCreateWithFlags(nil, time, flags, &failure) else {
            throw EnclaveFailure.storeError(failure, operation)
        }
        do {
            self.init(try SecureEnclave.P256.Signing.PrivateKey(accessControl: access))
        } catch {
            throw StoreError(
                .keyUnavailable, operation,
                "the Secure Enclave refused: unlock the device, and enroll what shall release the key")
        }
    }

    /// Opens the key that the enclave sealed.
    init(_ sealed: [UInt8]) throws(StoreError) {
        self.init(try Self.opened(sealed, "open a signing key"))
    }

    private init(_ key: SecureEnclave.P256.Signing.PrivateKey) {
        publicKey = ES256PublicKey(key.publicKey)
        sealed = Array(key.dataRepresentation)
    }

    private static func opened(
        _ sealed: [UInt8], _ operation: String
    ) throws(StoreError) -> SecureEnclave.P256.Signing.PrivateKey {
        do {
            return try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Data(sealed))
        } catch {
            throw StoreError(
                .keyMismatch, operation, "the Secure Enclave of this device does not open the key: another device made it")
        }
    }

    func sign(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        let operation = "sign with the Secure Enclave"
        let key = try Self.opened(sealed, operation)
        do {
            return Array(try key.signature(for: bytes).rawRepresentation)
        } catch {
            throw StoreError(
                .denied, operation,
                "the Secure Enclave refused: the user did not agree, the device is locked, or its fingerprints have changed")
        }
    }
}
#endif
