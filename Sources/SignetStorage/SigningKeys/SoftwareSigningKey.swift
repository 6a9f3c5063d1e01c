import Crypto
import Foundation
import SignetCore

/// A signing key in this program's memory.
struct SoftwareSigningKey: SigningKey {
    let publicKey: ES256PublicKey
    private let key: P256.Signing.PrivateKey

    var level: SigningKeyLevel { .software }

    var reference: Secret { SigningKeyReference.software(Secret(key.rawRepresentation)).bytes }

    /// Creates a new key.
    init() {
        self.init(P256.Signing.PrivateKey())
    }

    /// Opens the key with this private half, 32 bytes.
    init(_ scalar: Secret) throws(StoreError) {
        guard let key = scalar.withUnsafeBytes({ try? P256.Signing.PrivateKey(rawRepresentation: $0) }) else {
            throw SigningKeyReference.damaged
        }
        self.init(key)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        publicKey = ES256PublicKey(key.publicKey)
    }

    func sign(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        do {
            return Array(try key.signature(for: bytes).rawRepresentation)
        } catch {
            throw StoreError(.failed, "sign", "the library for the curve P-256 failed")
        }
    }
}
