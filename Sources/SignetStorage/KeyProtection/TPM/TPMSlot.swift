import Crypto
import SignetCore

/// A data key that only one TPM can open: docs/reference/tpm-formats.md, section "Slot".
///
/// Sealing is done in software, to the public half of a key in the TPM. A new P-256 key agrees with it, and HKDF-SHA-256 derives
/// the key for AES-256-GCM. HKDF and GCM bind everything before the ciphertext, and GCM also binds the caller's context.
struct TPMSlot {
    let key: TPMKey
    /// The public half of the new key (X9.63).
    let ephemeral: [UInt8]
    private let box: [UInt8]

    private static let pointLength = 65
    private static let boxOverhead = 12 + 16
    private static let maxDataKeyLength = 1024

    /// Seals `dataKey` to `publicKey`, the public half of `key`.
    static func seal(
        _ dataKey: Secret, to publicKey: [UInt8], of key: TPMKey, context: [UInt8]
    ) throws(StoreError) -> [UInt8] {
        let fresh = P256.KeyAgreement.PrivateKey()
        let agreed: Secret
        do {
            let recipient = try P256.KeyAgreement.PublicKey(x963Representation: publicKey)
            agreed = try fresh.sharedSecretFromKeyAgreement(with: recipient).withUnsafeBytes { Secret($0) }
        } catch {
            throw StoreError(.failed, "wrap the data key", "the TPM made a key that is not on P-256")
        }
        let header = TPMFormat.slot.preamble + key.bytes + Array(fresh.publicKey.x963Representation)
        return header + (try Sealing.seal(dataKey.bytes, with: sealingKey(agreed, header), context: header + context))
    }

    /// Reads what ``seal(_:to:of:context:)`` wrote, without opening it.
    init(_ bytes: [UInt8]) throws(StoreError) {
        let operation = "open vault"
        var reader = try TPMFormat.slot.reader(bytes, operation)
        guard let key = TPMKey(&reader), let ephemeral = reader.bytes(Self.pointLength),
            (Self.boxOverhead...Self.boxOverhead + Self.maxDataKeyLength).contains(reader.rest.count),
            (try? P256.KeyAgreement.PublicKey(x963Representation: ephemeral)) != nil
        else { throw TPMFormat.slot.damaged(operation) }
        self.key = key
        self.ephemeral = ephemeral
        box = Array(reader.rest)
    }

    /// Opens the data key with the secret that the TPM agreed on with ``ephemeral``.
    func open(_ agreed: Secret, context: [UInt8]) throws(StoreError) -> Secret {
        let header = TPMFormat.slot.preamble + key.bytes + ephemeral
        guard let bytes = Sealing.open(box, with: Self.sealingKey(agreed, header), context: header + context) else {
            throw StoreError(
                .keyMismatch, "open vault", "the slot of the TPM is damaged, or is another vault's; it was left as it is")
        }
        return Secret(bytes)
    }

    private static func sealingKey(_ agreed: Secret, _ header: [UInt8]) -> Secret {
        Secret(
            key: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: agreed.key, info: Array("signet tpm slot 1".utf8) + header, outputByteCount: 32))
    }
}
