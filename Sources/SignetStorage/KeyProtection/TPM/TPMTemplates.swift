#if TPM && os(Linux)
import CTSS2

/// The kinds of keys that Signet uses in a TPM, as the public areas it asks for.
enum TPMTemplate {
    /// Where the storage key stands if the machine has one (TCG, "TPM v2.0 Provisioning Guidance", section 7.8).
    static let storageKeyHandle: TPM2_HANDLE = 0x8100_0001

    /// Made by this TPM and never to leave it.
    private static let bound = TPMA_OBJECT(
        TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH)
    /// Wrong passwords do not lock the whole TPM. There is no password here that could be wrong.
    private static let noLockout = TPMA_OBJECT(TPMA_OBJECT_NODA)

    /// The storage key: P-256 with AES-128, by the TCG's template, so that the TPM makes the same one again from its seed.
    static var storageKey: TPM2B_PUBLIC {
        var key = onP256(attributes: bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT))
        key.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES
        key.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
        key.publicArea.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB
        key.publicArea.unique.ecc.x.size = 32
        key.publicArea.unique.ecc.y.size = 32
        return key
    }

    /// A key to agree with, and for nothing else.
    static var agreementKey: TPM2B_PUBLIC {
        var key = onP256(attributes: bound | noLockout | TPMA_OBJECT(TPMA_OBJECT_DECRYPT))
        key.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDH
        key.publicArea.parameters.eccDetail.scheme.details.ecdh.hashAlg = TPM2_ALG_SHA256
        return key
    }

    /// Whether what stands at ``storageKeyHandle`` can be the parent of our keys. Others may have put a key of their own there.
    static func isStorageKey(_ key: TPMT_PUBLIC) -> Bool {
        let wanted = bound | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT)
        return isOnP256(key) && key.objectAttributes & wanted == wanted
            && key.objectAttributes & TPMA_OBJECT(TPMA_OBJECT_SIGN_ENCRYPT) == 0
            && key.parameters.eccDetail.symmetric.algorithm == TPM2_ALG_AES
    }

    /// Whether `key` is one of ours: above all, that its private half was never outside the TPM.
    static func isAgreementKey(_ key: TPMT_PUBLIC) -> Bool {
        isOnP256(key) && key.objectAttributes == agreementKey.publicArea.objectAttributes
    }

    /// The point of a key (X9.63). A TPM leaves leading zeros out.
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
