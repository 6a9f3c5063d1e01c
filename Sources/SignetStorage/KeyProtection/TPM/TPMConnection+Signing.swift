#if canImport(CTSS2) && canImport(Glibc)
import CTSS2
import Crypto
import SignetCore

extension TPMConnection {
    private static let signOperation = "sign with the key in the TPM"
    private static let attestOperation = "attest the key in the TPM"
    private static let endorsement = ESYS_TR(ESYS_TR_RH_ENDORSEMENT)

    func makeSigningKey() throws(StoreError) -> TPMKey { try makeKey(TPMTemplate.signingKey) }

    func loadSigningKey(_ key: TPMKey) throws(StoreError) -> [UInt8] { try load(key, ifArea: TPMTemplate.isSigningKey) }

    func sign(_ digest: [UInt8]) throws(StoreError) -> [UInt8] {
        let operation = Self.signOperation
        guard let loadedKey else { throw StoreError(.failed, operation, "no key is loaded") }
        var (input, scheme, ticket) = (TPM2B_DIGEST(), Self.keysOwnScheme, TPMT_TK_HASHCHECK())
        input.size = UInt16(digest.count)
        fill(&input.buffer, with: digest)
        (ticket.tag, ticket.hierarchy) = (TPM2_ST_HASHCHECK, TPM2_RH_NULL)
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        defer { tss.Esys_Free(signature) }
        try check(
            operation,
            tss.Esys_Sign(esys, loadedKey, session(.command), Self.none, Self.none, &input, &scheme, &ticket, &signature))
        return try Self.numbers(of: signature, operation)
    }

    func certify(_ key: TPMKey, nonce: [UInt8]) throws(StoreError) -> KeyAttestation {
        let operation = Self.attestOperation
        guard let loadedKey else { throw StoreError(.failed, operation, "no key is loaded") }
        let signer = try attestationKey()
        defer { drop(signer.handle) }
        var (data, scheme) = (TPM2B_DATA(), Self.keysOwnScheme)
        data.size = UInt16(nonce.count)
        fill(&data.buffer, with: nonce)
        var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        defer {
            tss.Esys_Free(statement)
            tss.Esys_Free(signature)
        }
        try check(
            operation,
            tss.Esys_Certify(
                esys, loadedKey, signer.handle, session([.command, .answer]), Self.password, Self.none, &data, &scheme,
                &statement, &signature))
        guard let statement else { throw StoreError(.failed, operation, "the TPM made no statement") }
        return KeyAttestation(
            statement: bytes(of: statement.pointee.attestationData, statement.pointee.size),
            signature: try Self.numbers(of: signature, operation), keyArea: Self.area(key.blob),
            attestationKeyArea: Self.area(signer.encoded))
    }

    /// The scheme for a key that has its own: ECDSA with SHA-256.
    private static var keysOwnScheme: TPMT_SIG_SCHEME {
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPM2_ALG_NULL
        return scheme
    }

    /// Creates the attestation key of this TPM, which is the same each time.
    ///
    /// It is not kept in the TPM.
    private func attestationKey() throws(StoreError) -> (handle: ESYS_TR, encoded: [UInt8]) {
        let operation = Self.attestOperation
        var handle = Self.none
        let label = Array(SHA256.hash(data: Array("signet attestation key 1".utf8)))
        var (nothing, template) = (TPM2B_SENSITIVE_CREATE(), TPMTemplate.attestationKey(label: label))
        var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        defer { tss.Esys_Free(area) }
        let answer = tss.Esys_CreatePrimary(
            esys, Self.endorsement, Self.password, Self.none, Self.none, &nothing, &template, &outside, &registers, &handle,
            &area, nil, nil, nil)
        let kind = TPMResponse(code: answer).kind
        if kind == .authFail || kind == .badAuth {
            throw StoreError(
                .denied, operation,
                "the TPM requires a password of its endorsement hierarchy; ask its administrator to remove it",
                status: Int32(bitPattern: answer))
        }
        try check(operation, answer)
        _ = own(handle)
        guard let area else { throw StoreError(.failed, operation, "the TPM returned no attestation key") }
        var encoded = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
        var length = 0
        try check(operation, tss.Tss2_MU_TPM2B_PUBLIC_Marshal(area, &encoded, encoded.count, &length))
        return (handle, Array(encoded.prefix(length)))
    }

    /// Returns the `TPMT_PUBLIC` at the beginning of an encoded `TPM2B_PUBLIC`, which starts with its length.
    private static func area(_ encoded: [UInt8]) -> [UInt8] {
        guard encoded.count >= 2 else { return [] }
        return Array(encoded.dropFirst(2).prefix(Int(encoded[0]) << 8 | Int(encoded[1])))
    }

    private static func numbers(
        of signature: UnsafeMutablePointer<TPMT_SIGNATURE>?, _ operation: String
    ) throws(StoreError) -> [UInt8] {
        guard let signature, signature.pointee.sigAlg == TPM2_ALG_ECDSA else {
            throw StoreError(.failed, operation, "the TPM returned no ECDSA signature")
        }
        let numbers = signature.pointee.signature.ecdsa
        return TPMTemplate.padded(numbers.signatureR) + TPMTemplate.padded(numbers.signatureS)
    }
}
#endif
