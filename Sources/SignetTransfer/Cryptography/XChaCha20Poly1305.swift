import Crypto
import Foundation
package import SignetCore

/// The authenticated encryption XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03).
package enum XChaCha20Poly1305 {
    /// Returns the plaintext; nil when the bytes were not encrypted with this key and nonce.
    /// - Parameters:
    ///   - ciphertext: The ciphertext and the tag of 16 bytes.
    ///   - key: The key, of 32 bytes.
    ///   - nonce: The nonce, of 24 bytes.
    ///   - associatedData: The bytes that were authenticated together with the plaintext.
    /// - Returns: The plaintext; nil for another key or nonce, and for damaged bytes.
    package static func open(
        _ ciphertext: [UInt8], key: Secret, nonce: [UInt8], associatedData: [UInt8] = []
    ) -> [UInt8]? {
        guard key.count == 32, nonce.count == 24, ciphertext.count >= 16 else { return nil }
        let subkey = SymmetricKey(data: ChaCha20.subkey(of: key.bytes, nonce: Array(nonce[0..<16])))
        var combined: [UInt8] = [0, 0, 0, 0]
        combined += nonce[16..<24]
        combined += ciphertext
        guard let box = try? ChaChaPoly.SealedBox(combined: combined) else { return nil }
        return (try? ChaChaPoly.open(box, using: subkey, authenticating: associatedData)).map { Array($0) }
    }
}
