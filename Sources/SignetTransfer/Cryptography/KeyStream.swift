import Crypto
import CryptoExtras
import SignetCore

/// The keystream of a stream cipher, from its beginning.
///
/// The values that it encrypts follow one another: each uses the bytes after those of the value before it.
struct KeyStream {
    /// A cipher with its key and nonce.
    private enum Cipher {
        case salsa20([UInt32])
        case chaCha20(SymmetricKey, Insecure.ChaCha20CTR.Nonce)
    }

    private static let chunkLength = 4_096

    private let cipher: Cipher
    /// The number of blocks of 64 bytes that were computed.
    private var blockCount: UInt64 = 0
    private var chunk: [UInt8] = []
    private var position = 0

    /// Creates the keystream of Salsa20/20 (Bernstein, "Salsa20 specification", 2005).
    ///
    /// Returns nil for a key that does not have 32 bytes, or a nonce that does not have 8.
    init?(salsa20 key: Secret, nonce: [UInt8]) {
        guard key.count == 32, nonce.count == 8 else { return nil }
        cipher = .salsa20(Self.salsa20State(key.bytes, nonce))
    }

    /// Creates the keystream of ChaCha20 with the counter 0 (RFC 8439 section 2.4).
    ///
    /// Returns nil for a key that does not have 32 bytes, or a nonce that does not have 12.
    init?(chaCha20 key: Secret, nonce: [UInt8]) {
        guard key.count == 32, let nonce = try? Insecure.ChaCha20CTR.Nonce(data: nonce) else { return nil }
        cipher = .chaCha20(key.key, nonce)
    }

    /// Encrypts or decrypts the next bytes.
    ///
    /// Returns nil at the end of the keystream, which has at least 2^32 blocks.
    mutating func applied(to bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        for index in result.indices {
            if position == chunk.count {
                guard let next = nextChunk() else { return nil }
                (chunk, position) = (next, 0)
            }
            result[index] ^= chunk[position]
            position += 1
        }
        return result
    }

    private mutating func nextChunk() -> [UInt8]? {
        let blocksOfChunk = UInt64(Self.chunkLength / 64)
        defer { blockCount += blocksOfChunk }
        switch cipher {
        case .salsa20(let state):
            var chunk: [UInt8] = []
            chunk.reserveCapacity(Self.chunkLength)
            for number in blockCount..<blockCount + blocksOfChunk { chunk += Self.salsa20Block(state, number) }
            return chunk
        case .chaCha20(let key, let nonce):
            guard let offset = UInt32(exactly: blockCount),
                let counter = try? Insecure.ChaCha20CTR.Counter(offset: offset),
                let chunk = try? Insecure.ChaCha20CTR.encrypt(
                    [UInt8](repeating: 0, count: Self.chunkLength), using: key, counter: counter, nonce: nonce)
            else { return nil }
            return Array(chunk)
        }
    }

    // MARK: Salsa20

    /// Returns the state of Salsa20 before its first block: the constants, the key, the nonce and the counter 0.
    private static func salsa20State(_ key: [UInt8], _ nonce: [UInt8]) -> [UInt32] {
        let constants = Array("expand 32-byte k".utf8)
        var state = [UInt32](repeating: 0, count: 16)
        for index in 0..<4 {
            state[5 * index] = LittleEndian.word32(constants, at: 4 * index)
            state[1 + index] = LittleEndian.word32(key, at: 4 * index)
            state[11 + index] = LittleEndian.word32(key, at: 16 + 4 * index)
        }
        for index in 0..<2 { state[6 + index] = LittleEndian.word32(nonce, at: 4 * index) }
        return state
    }

    /// Returns the block of 64 bytes with a number.
    private static func salsa20Block(_ state: [UInt32], _ number: UInt64) -> [UInt8] {
        var initial = state
        initial[8] = UInt32(truncatingIfNeeded: number)
        initial[9] = UInt32(truncatingIfNeeded: number >> 32)
        var words = initial
        for _ in 0..<10 {
            // The columns, then the rows of the 4 x 4 matrix.
            quarterRound(&words, 0, 4, 8, 12)
            quarterRound(&words, 5, 9, 13, 1)
            quarterRound(&words, 10, 14, 2, 6)
            quarterRound(&words, 15, 3, 7, 11)
            quarterRound(&words, 0, 1, 2, 3)
            quarterRound(&words, 5, 6, 7, 4)
            quarterRound(&words, 10, 11, 8, 9)
            quarterRound(&words, 15, 12, 13, 14)
        }
        for index in 0..<16 { words[index] = words[index] &+ initial[index] }
        return LittleEndian.bytes(words)
    }

    private static func quarterRound(_ words: inout [UInt32], _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        words[b] ^= rotated(words[a] &+ words[d], by: 7)
        words[c] ^= rotated(words[b] &+ words[a], by: 9)
        words[d] ^= rotated(words[c] &+ words[b], by: 13)
        words[a] ^= rotated(words[d] &+ words[c], by: 18)
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word &<< count | word &>> (32 - count) }
}
