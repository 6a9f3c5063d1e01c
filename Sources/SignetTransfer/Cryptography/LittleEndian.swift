/// Integers as bytes in little-endian order, as the algorithms of this folder have them.
enum LittleEndian {
    /// Returns the 32-bit integer at an offset.
    static func word32(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        var word: UInt32 = 0
        for index in 0..<4 { word |= UInt32(bytes[offset + index]) &<< UInt32(8 * index) }
        return word
    }

    /// Returns the 64-bit integer at an offset.
    static func word64(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<8 { word |= UInt64(bytes[offset + index]) &<< UInt64(8 * index) }
        return word
    }

    /// Returns the low 32 bits of a number.
    static func bytes32(_ number: Int) -> [UInt8] { bytes([UInt32(truncatingIfNeeded: number)]) }

    /// Returns 32-bit integers as bytes.
    static func bytes(_ words: [UInt32]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * words.count)
        for word in words {
            for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: word &>> UInt32(8 * index))) }
        }
        return bytes
    }

    /// Returns 64-bit integers as bytes.
    static func bytes(_ words: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * words.count)
        for word in words {
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word &>> UInt64(8 * index))) }
        }
        return bytes
    }
}
