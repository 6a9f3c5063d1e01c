import Crypto
import CryptoExtras
import Foundation

/// The stream cipher ChaCha20 (RFC 8439), and HChaCha20 (draft-irtf-cfrg-xchacha-03), which swift-crypto does not have.
package enum ChaCha20 {
    /// The ASCII text `expand 32-byte k`.
    private static let constants: [UInt32] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]
    /// The words of the state that each of the eight quarter rounds changes: the columns, then the diagonals.
    private static let positions: [[Int]] = [
        [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
        [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
    ]

    /// Encrypts or decrypts bytes (RFC 8439 section 2.4).
    /// - Parameters:
    ///   - bytes: The plaintext or the ciphertext.
    ///   - key: The key, of 32 bytes.
    ///   - counter: The number of the first block of the key stream.
    ///   - nonce: The nonce, of 12 bytes.
    /// - Returns: The other form of the bytes; nil for a key or nonce of a wrong length.
    package static func apply(to bytes: [UInt8], key: [UInt8], counter: UInt32, nonce: [UInt8]) -> [UInt8]? {
        guard key.count == 32, nonce.count == 12 else { return nil }
        guard !bytes.isEmpty else { return [] }
        guard let start = try? Insecure.ChaCha20CTR.Counter(offset: counter),
            let nonce = try? Insecure.ChaCha20CTR.Nonce(data: nonce),
            let result = try? Insecure.ChaCha20CTR.encrypt(
                bytes, using: SymmetricKey(data: key), counter: start, nonce: nonce)
        else { return nil }
        return Array(result)
    }

    /// Returns the subkey of XChaCha20 (HChaCha20, section 2.2 of the draft).
    /// - Parameters:
    ///   - key: The key, of 32 bytes.
    ///   - nonce: The first 16 bytes of the nonce.
    /// - Returns: The subkey, of 32 bytes.
    package static func subkey(of key: [UInt8], nonce: [UInt8]) -> [UInt8] {
        var state = constants + words(key, count: 8) + words(nonce, count: 4)
        for _ in 0..<10 {
            for position in positions { quarterRound(&state, position[0], position[1], position[2], position[3]) }
        }
        return LittleEndian.bytes(Array(state[0..<4])) + LittleEndian.bytes(Array(state[12..<16]))
    }

    private static func words(_ bytes: [UInt8], count: Int) -> [UInt32] {
        (0..<count).map { LittleEndian.word32(bytes, at: 4 * $0) }
    }

    /// Applies a quarter round (RFC 8439 section 2.1).
    private static func quarterRound(_ state: inout [UInt32], _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        state[a] = state[a] &+ state[b]
        state[d] = rotated(state[d] ^ state[a], by: 16)
        state[c] = state[c] &+ state[d]
        state[b] = rotated(state[b] ^ state[c], by: 12)
        state[a] = state[a] &+ state[b]
        state[d] = rotated(state[d] ^ state[a], by: 8)
        state[c] = state[c] &+ state[d]
        state[b] = rotated(state[b] ^ state[c], by: 7)
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { (word &<< count) | (word &>> (32 - count)) }
}
