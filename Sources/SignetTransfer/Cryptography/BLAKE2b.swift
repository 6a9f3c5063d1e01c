/// The hash function BLAKE2b (RFC 7693), which Argon2 uses.
package enum BLAKE2b {
    private static let blockLength = 128
    /// The initial state, which is that of SHA-512 (RFC 7693 section 2.6).
    private static let initialState: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    /// The order of the message's words in each round (RFC 7693 section 2.7); rounds 10 and 11 use the first two rows again.
    private static let schedule: [[Int]] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]
    /// The words of the state that each of a round's eight mixing steps changes: the columns, then the diagonals.
    private static let positions: [[Int]] = [
        [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
        [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
    ]

    /// Returns the hash of a message.
    /// - Parameters:
    ///   - message: The message.
    ///   - key: A key of at most 64 bytes; empty for a hash without a key.
    ///   - length: The length of the hash in bytes, 1 to 64.
    /// - Returns: The hash, of `length` bytes.
    package static func hash(_ message: [UInt8], key: [UInt8] = [], length: Int) -> [UInt8] {
        precondition((1...64).contains(length) && key.count <= 64, "BLAKE2b has at most 64 bytes of hash and of key")
        var state = initialState
        state[0] ^= 0x0101_0000 ^ UInt64(key.count) << 8 ^ UInt64(length)
        var input = key
        if !key.isEmpty { input += [UInt8](repeating: 0, count: blockLength - key.count) }
        input += message
        var offset = 0
        // The last block is compressed as such, also when it is full.
        while input.count - offset > blockLength {
            compress(&state, words(input, at: offset), count: offset + blockLength, isLast: false)
            offset += blockLength
        }
        compress(&state, words(input, at: offset), count: input.count, isLast: true)
        return Array(LittleEndian.bytes(state).prefix(length))
    }

    /// Returns the 16 little-endian words of the block at an offset; bytes after the end are zero.
    private static func words(_ input: [UInt8], at offset: Int) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: 16)
        for index in 0..<min(blockLength, input.count - offset) {
            words[index / 8] |= UInt64(input[offset + index]) << UInt64(8 * (index % 8))
        }
        return words
    }

    /// Compresses one block (RFC 7693 section 3.2).
    private static func compress(_ state: inout [UInt64], _ message: [UInt64], count: Int, isLast: Bool) {
        var v = state + initialState
        v[12] ^= UInt64(count)
        if isLast { v[14] = ~v[14] }
        for round in 0..<12 {
            let order = schedule[round % 10]
            for (step, position) in positions.enumerated() {
                mix(&v, position, message[order[2 * step]], message[order[2 * step + 1]])
            }
        }
        for index in 0..<8 { state[index] ^= v[index] ^ v[index + 8] }
    }

    /// Mixes two words of the message into four words of the state (RFC 7693 section 3.1).
    private static func mix(_ v: inout [UInt64], _ position: [Int], _ x: UInt64, _ y: UInt64) {
        let (a, b, c, d) = (position[0], position[1], position[2], position[3])
        v[a] = v[a] &+ v[b] &+ x
        v[d] = rotated(v[d] ^ v[a], by: 32)
        v[c] = v[c] &+ v[d]
        v[b] = rotated(v[b] ^ v[c], by: 24)
        v[a] = v[a] &+ v[b] &+ y
        v[d] = rotated(v[d] ^ v[a], by: 16)
        v[c] = v[c] &+ v[d]
        v[b] = rotated(v[b] ^ v[c], by: 63)
    }

    private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { word &>> count | word &<< (64 - count) }
}
