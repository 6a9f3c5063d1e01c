#if canImport(CTSS2) && canImport(Glibc)
import CTSS2
import Foundation

/// A key in a TPM, used by nothing but the C library: loaded, in a salted session with encryption.
final class BareTPM {
    private let tss: CTSS2Functions
    private var tcti: OpaquePointer?
    private var esys: OpaquePointer?
    private var session = none
    private var key = none
    private var point = TPM2B_ECC_POINT()
    private var (digest, scheme, ticket) = (TPM2B_DIGEST(), TPMT_SIG_SCHEME(), TPMT_TK_HASHCHECK())

    private static let none = ESYS_TR(ESYS_TR_NONE)

    /// Loads a key into the TPM and opens a session for it.
    /// - Parameters:
    ///   - tcti: The configuration of the TCTI, which selects the TPM.
    ///   - key: The file of a secured key, or the reference of a signing key (docs/reference/tpm-formats.md).
    ///   - encryptsAnswer: True when the bus carries the response encrypted too, which a TPM does not do for signatures.
    /// - Throws: ``BenchError`` when the libraries of tpm2-tss are missing, the key is too short, or the TPM reports an error.
    init(_ tcti: String, key: [UInt8], encryptsAnswer: Bool) throws {
        var (tss, reasons) = (CTSS2Functions(), [CChar](repeating: 0, count: 1024))
        let libraries = ("libtss2-esys.so.0", "libtss2-tctildr.so.0", "libtss2-mu.so.0")
        let isLoaded = libraries.0.withCString { esys in
            libraries.1.withCString { tctildr in
                libraries.2.withCString { mu in
                    ctss2_load(&tss, CTSS2Libraries(esys: esys, tctildr: tctildr, mu: mu), &reasons, reasons.count)
                }
            }
        }
        guard isLoaded else { throw BenchError("tpm2-tss is not here") }
        self.tss = tss
        try check(tss.Tss2_TctiLdr_Initialize(tcti, &self.tcti))
        try check(tss.Esys_Initialize(&esys, self.tcti, nil))
        try load(Self.blob(key))
        let answer = encryptsAnswer ? TPMA_SESSION(TPMA_SESSION_ENCRYPT) : 0
        let attributes = TPMA_SESSION(TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT) | answer
        try check(tss.Esys_TRSess_SetAttributes(esys, session, attributes, 0xFF))
        (point.point.x.size, point.point.y.size, digest.size) = (32, 32, 32)
        (ticket.tag, ticket.hierarchy, scheme.scheme) = (TPM2_ST_HASHCHECK, TPM2_RH_NULL, TPM2_ALG_NULL)
    }

    /// Sets the public key with which the key agrees, in X9.63 form.
    func setPoint(_ bytes: Data) {
        withUnsafeMutableBytes(of: &point.point.x.buffer) { $0.copyBytes(from: bytes.dropFirst().prefix(32)) }
        withUnsafeMutableBytes(of: &point.point.y.buffer) { $0.copyBytes(from: bytes.dropFirst(33)) }
    }

    /// The one operation of a key that signs, for a digest of zeros.
    func sign() throws {
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try check(tss.Esys_Sign(esys, key, session, Self.none, Self.none, &digest, &scheme, &ticket, &signature))
        tss.Esys_Free(signature)
    }

    /// The one operation of a key that agrees.
    func agree() throws {
        var shared: UnsafeMutablePointer<TPM2B_ECC_POINT>?
        try check(tss.Esys_ECDH_ZGen(esys, key, session, Self.none, Self.none, &point, &shared))
        tss.Esys_Free(shared)
    }

    func close() {
        _ = tss.Esys_FlushContext(esys, key)
        _ = tss.Esys_FlushContext(esys, session)
        tss.Esys_Finalize(&esys)
        tss.Tss2_TctiLdr_Finalize(&tcti)
    }

    private func load(_ blob: [UInt8]) throws {
        var storageKey = Self.none
        try check(tss.Esys_TR_FromTPMPublic(esys, 0x8100_0001, Self.none, Self.none, Self.none, &storageKey))
        var cipher = TPMT_SYM_DEF()
        cipher.algorithm = TPM2_ALG_AES
        cipher.keyBits.aes = 128
        cipher.mode.aes = TPM2_ALG_CFB
        try check(
            tss.Esys_StartAuthSession(
                esys, storageKey, Self.none, Self.none, Self.none, Self.none, nil, TPM2_SE(TPM2_SE_HMAC), &cipher,
                TPM2_ALG_SHA256, &session))
        let attributes = TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT
        try check(tss.Esys_TRSess_SetAttributes(esys, session, TPMA_SESSION(attributes), 0xFF))
        var (area, sealed, length) = (TPM2B_PUBLIC(), TPM2B_PRIVATE(), 0)
        try check(tss.Tss2_MU_TPM2B_PUBLIC_Unmarshal(blob, blob.count, &length, &area))
        try check(tss.Tss2_MU_TPM2B_PRIVATE_Unmarshal(blob, blob.count, &length, &sealed))
        try check(tss.Esys_Load(esys, storageKey, session, Self.none, Self.none, &sealed, &area, &key))
    }

    /// The last of the parts of a key: behind six bytes, and the name of the storage key after its length.
    private static func blob(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.count > 10 else { throw BenchError("no key") }
        return Array(bytes.dropFirst(6 + 4 + Int(bytes[9]) + 4))
    }

    private func check(_ answer: TSS2_RC) throws {
        guard answer == 0 else { throw BenchError("the TPM answers 0x\(String(answer, radix: 16))") }
    }
}
#endif
