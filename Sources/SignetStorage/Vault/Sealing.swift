import Crypto
import Foundation
package import SignetCore

/// AES-256-GCM with a random nonce.
///
/// The output is the nonce (12 bytes), the ciphertext and the tag (16 bytes).
package enum Sealing {
    private static let nonceLength = 12

    /// Seals bytes.
    /// - Parameters:
    ///   - bytes: The plaintext.
    ///   - key: The key, of 32 bytes.
    ///   - context: The bytes to authenticate together with the plaintext.
    ///   - preamble: The bytes to put unencrypted before the result.
    /// - Returns: The preamble, the nonce (12 bytes), the ciphertext and the tag (16 bytes).
    /// - Throws: ``StoreError/Code/failed`` when AES-256-GCM fails.
    package static func seal(
        _ bytes: [UInt8], with key: Secret, context: [UInt8], behind preamble: [UInt8] = []
    ) throws(StoreError) -> [UInt8] {
        // A box whose nonce has this length, the default one, has a combined form.
        guard let nonce = try? AES.GCM.Nonce(data: RandomBytes.next(nonceLength)),
            let sealed = try? AES.GCM.seal(bytes, using: key.key, nonce: nonce, authenticating: context).combined
        else { throw StoreError(.failed, "seal", "AES-256-GCM failed") }
        var result = preamble
        result.reserveCapacity(preamble.count + sealed.count)
        result.append(contentsOf: sealed)
        return result
    }

    /// Returns the plaintext, or nil when `sealed` was not sealed with this key and context.
    package static func open(_ sealed: some Collection<UInt8>, with key: Secret, context: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)) else { return nil }
        return (try? AES.GCM.open(box, using: key.key, authenticating: context)).map(Array.init)
    }

    /// Derives a key for one purpose from `key` (HKDF, RFC 5869).
    package static func derive(_ purpose: String, from key: Secret) -> Secret {
        Secret(key: HKDF<SHA256>.deriveKey(inputKeyMaterial: key.key, info: Array(purpose.utf8), outputByteCount: 32))
    }
}
