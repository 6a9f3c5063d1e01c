import Crypto
import SignetCore

/// A signing key that stays loaded in the TPM, so that each signature takes a single command.
final class TPMSigningKey: SigningKey {
    let publicKey: ES256PublicKey
    private let key: TPMKey
    private let connection: TPMKeyConnection

    private static let longestNonce = 32

    var level: SigningKeyLevel { .hardware }

    var reference: Secret { SigningKeyReference.tpm(key).bytes }

    /// Creates a key in the TPM.
    convenience init(tcti: String) throws(StoreError) {
        let key = try TPMAccess.with(tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.makeSigningKey() }
        try self.init(key, tcti: tcti)
    }

    /// Loads a key.
    ///
    /// Loading the key at once proves that the hardware is present and that the public half belongs to a key in it.
    init(_ key: TPMKey, tcti: String) throws(StoreError) {
        let open = try TPMAccess.connect(tcti)
        guard let publicKey = ES256PublicKey(x963: try open.loadSigningKey(key)) else { throw SigningKeyReference.damaged }
        self.key = key
        self.publicKey = publicKey
        connection = TPMKeyConnection(open, tcti: tcti) { (open) throws(StoreError) in _ = try open.loadSigningKey(key) }
    }

    func sign(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        let digest = Array(SHA256.hash(data: bytes))
        return try connection.use { (open) throws(StoreError) in try open.sign(digest) }
    }

    func attestation(nonce: [UInt8]) throws(StoreError) -> KeyAttestation {
        guard nonce.count <= Self.longestNonce else {
            throw StoreError(.invalid, "attest a signing key", "a nonce has up to \(Self.longestNonce) bytes; hash a longer one")
        }
        return try connection.use { (open) throws(StoreError) in try open.certify(key, nonce: nonce) }
    }
}
