#if canImport(CTSS2) && canImport(Glibc)
import CTSS2

/// The public areas of the kinds of keys that Signet creates in a TPM.
enum TPMTemplate {
    /// The handle of the persistent storage key, if the machine has one (TCG, "TPM v2.0 Provisioning Guidance", section 7.8).
    static let storageKeyHandle: TPM2_HANDLE = 0x8100_0001

    /// The attributes of a key that this TPM created and that never leaves it.
    private static let bound = TPMA_OBJECT(
        TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH)
    /// The attribute that excludes the key from dictionary attack protection.
    ///
    /// The key has no password, so failed attempts cannot occur.
    private static let noLockout = TPMA_OBJECT(TPMA_OBJECT_NODA)

    /// The storage key: P-256 with AES-128, by the TCG's template, so that the TPM creates the same key again from its seed.
    static var storageKey: TPM2B_PUBLIC {
        var key = onP256(attributes: bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT))
        key.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES
        key.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
        key.publicArea.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB
        key.publicArea.unique.ecc.x.size = 32
        key.publicArea.unique.ecc.y.size = 32
        return key
    }

    /// A key that can only be used for key agreement.
    static var agreementKey: TPM2B_PUBLIC {
        var key = onP256(attributes: bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_DECRYPT))
        key.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDH
        key.publicArea.parameters.eccDetail.scheme.details.ecdh.hashAlg = TPM2_ALG_SHA256
        return key
    }

    /// A key for key agreement that a PIN releases.
    ///
    /// The TPM counts wrong PINs, and locks itself after too many.
    static var pinKey: TPM2B_PUBLIC {
        var key = agreementKey
        key.publicArea.objectAttributes &= ~noLockout
        return key
    }

    /// A key that can only sign, with ECDSA and SHA-256.
    static var signingKey: TPM2B_PUBLIC { signing(bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_SIGN_ENCRYPT)) }

    /// The attestation key: a primary key that signs only what the TPM itself made.
    ///
    /// The TPM creates the same key again each time from its endorsement seed and `label`, the digest of a text of Signet's.
    static func attestationKey(label: [UInt8]) -> TPM2B_PUBLIC {
        var key = signing(bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_SIGN_ENCRYPT))
        (key.publicArea.unique.ecc.x.size, key.publicArea.unique.ecc.y.size) = (32, 32)
        fill(&key.publicArea.unique.ecc.x.buffer, with: label)
        return key
    }

    private static func signing(_ attributes: TPMA_OBJECT) -> TPM2B_PUBLIC {
        var key = onP256(attributes: attributes)
        key.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA
        key.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = TPM2_ALG_SHA256
        return key
    }

    /// Returns true when the key at ``storageKeyHandle`` can be the parent of Signet's keys.
    ///
    /// Another program may have put its own key there.
    static func isStorageKey(_ key: TPMT_PUBLIC) -> Bool {
        let wanted = bound | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT)
        return isOnP256(key) && key.objectAttributes & wanted == wanted
            && key.objectAttributes & TPMA_OBJECT(TPMA_OBJECT_SIGN_ENCRYPT) == 0
            && key.parameters.eccDetail.symmetric.algorithm == TPM2_ALG_AES
    }

    /// Returns true when `key` has the attributes of Signet's keys, of those that a PIN releases or of the others.
    ///
    /// Above all, its private half was never outside of the TPM.
    static func isAgreementKey(_ key: TPMT_PUBLIC, needsPin: Bool) -> Bool {
        isOnP256(key) && key.objectAttributes == (needsPin ? pinKey : agreementKey).publicArea.objectAttributes
    }

    /// Returns true when `key` has the attributes of Signet's signing keys.
    static func isSigningKey(_ key: TPMT_PUBLIC) -> Bool {
        isOnP256(key) && key.objectAttributes == signingKey.publicArea.objectAttributes
    }

    /// Returns the point of a key (X9.63).
    ///
    /// A TPM omits leading zeros, which are added again.
    static func point(_ point: TPMS_ECC_POINT) -> [UInt8] {
        [4] + padded(point.x) + padded(point.y)
    }

    static func padded(_ coordinate: TPM2B_ECC_PARAMETER) -> [UInt8] {
        let bytes = bytes(of: coordinate.buffer, min(coordinate.size, 32))
        return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }

    private static func onP256(attributes: TPMA_OBJECT) -> TPM2B_PUBLIC {
        var key = TPM2B_PUBLIC()
        key.publicArea.type = TPM2_ALG_ECC
        key.publicArea.nameAlg = TPM2_ALG_SHA256
        key.publicArea.objectAttributes = attributes
        key.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL
        key.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
        key.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
        key.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
        return key
    }

    private static func isOnP256(_ key: TPMT_PUBLIC) -> Bool {
        key.type == TPM2_ALG_ECC && key.nameAlg == TPM2_ALG_SHA256 && key.parameters.eccDetail.curveID == TPM2_ECC_NIST_P256
    }
}
#endif
