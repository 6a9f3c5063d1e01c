import Crypto
import SignetCore

/// Encryption to a P-256 key in the format of Apple's Security framework: point (65 bytes), ciphertext, tag (16 bytes).
///
/// The format is that of `eciesEncryptionCofactorVariableIVX963SHA256AESGCM`. X9.63 key derivation with SHA-256 over the shared x
/// coordinate and the point gives an AES-128 key and an IV of 16 bytes. The older algorithm without `VariableIV`, whose IV is
/// zero, is only decrypted, never used to encrypt. The format has no version, and it binds neither the name nor the
/// purpose of what is sealed.
enum ECIES {
    private static let pointLength = 65
    private static let tagLength = 16

    /// Seals `plaintext` to `publicKey` (X9.63).
    /// - Parameters:
    ///   - plaintext: The bytes to seal.
    ///   - publicKey: The recipient's public key.
    ///   - ephemeral: The ephemeral key. The default is a new key for every message; tests pass the key of a test vector.
    /// - Returns: The ephemeral public key (65 bytes), the ciphertext and the tag (16 bytes).
    /// - Throws: ``StoreError/Code/failed`` when `publicKey` is not a point of P-256.
    static func seal(
        _ plaintext: [UInt8], to publicKey: [UInt8], ephemeral: P256.KeyAgreement.PrivateKey = P256.KeyAgreement.PrivateKey()
    ) throws(StoreError) -> [UInt8] {
        let point = Array(ephemeral.publicKey.x963Representation)
        do {
            let recipient = try P256.KeyAgreement.PublicKey(x963Representation: publicKey)
            let agreed = try ephemeral.sharedSecretFromKeyAgreement(with: recipient).withUnsafeBytes { Secret($0) }
            let keys = Keys(agreed, point)
            let box = try AES.GCM.seal(plaintext, using: keys.key, nonce: AES.GCM.Nonce(data: keys.variableIV))
            return point + Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw StoreError(.failed, "encrypt", "the recipient's key is not a point of P-256")
        }
    }

    /// Returns true when bytes may be sealed: they begin with an uncompressed point, as texts, JSON and archives do not.
    static func isSealed(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.first == 0x04 && bytes.count >= pointLength + tagLength
    }

    /// Opens what ``seal(_:to:ephemeral:)``, or either of Apple's algorithms, sealed.
    ///
    /// Uses `key` once.
    /// - Throws: ``StoreError/Code/corrupt`` when `sealed` does not open; the errors of `key`.
    static func open(_ sealed: [UInt8], with key: any AgreementKey) throws(StoreError) -> [UInt8] {
        let damaged = StoreError(.corrupt, "decrypt", "it is damaged, or was sealed to another key")
        guard sealed.count >= pointLength + tagLength else { throw damaged }
        let point = Array(sealed.prefix(pointLength))
        // A point that is not on the curve is rejected here without using the hardware, which checks it again.
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil else { throw damaged }
        let keys = Keys(try key.agree(with: point), point)
        for iv in [keys.variableIV, keys.zeroIV] {
            if let plaintext = open(sealed.dropFirst(pointLength), keys.key, iv) { return plaintext }
        }
        throw damaged
    }

    private static func open(_ sealed: ArraySlice<UInt8>, _ key: SymmetricKey, _ iv: [UInt8]) -> [UInt8]? {
        guard let nonce = try? AES.GCM.Nonce(data: iv),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(tagLength), tag: sealed.suffix(tagLength))
        else { return nil }
        return (try? AES.GCM.open(box, using: key)).map(Array.init)
    }

    /// The output of the X9.63 key derivation: one block of SHA-256.
    private struct Keys {
        let key: SymmetricKey
        let variableIV: [UInt8]
        let zeroIV = [UInt8](repeating: 0, count: 16)

        init(_ agreed: Secret, _ point: [UInt8]) {
            var hash = SHA256()
            agreed.withUnsafeBytes { hash.update(bufferPointer: $0) }
            hash.update(data: [0, 0, 0, 1])
            hash.update(data: point)
            let block = hash.finalize()
            key = block.withUnsafeBytes { SymmetricKey(data: $0.prefix(16)) }
            variableIV = Array(block.suffix(16))
        }
    }
}
