/// A reader of gzip files with one member (RFC 1952).
enum Gzip {
    private static let headerLength = 10
    private static let trailerLength = 8

    /// Returns the decompressed content.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - limit: The maximum length of the content in bytes.
    /// - Returns: The content.
    /// - Throws: ``Inflater/Failure``, with `malformed` also for a wrong checksum or length, and for bytes after the member.
    static func decompress(_ bytes: [UInt8], limit: Int) throws(Inflater.Failure) -> [UInt8] {
        let start = try contentStart(bytes)
        let (content, end) = try Inflater.inflate(bytes, from: start, limit: limit)
        guard bytes.count - end == trailerLength,
            LittleEndian.word32(bytes, at: end) == checksum(of: content),
            LittleEndian.word32(bytes, at: end + 4) == UInt32(truncatingIfNeeded: content.count)
        else { throw .malformed }
        return content
    }

    /// Returns the offset of the compressed content behind the header (section 2.3).
    private static func contentStart(_ bytes: [UInt8]) throws(Inflater.Failure) -> Int {
        guard bytes.count >= headerLength + trailerLength, bytes[0] == 0x1F, bytes[1] == 0x8B, bytes[2] == 8 else {
            throw .malformed
        }
        let flags = bytes[3]
        // The upper three flags are reserved.
        guard flags & 0xE0 == 0 else { throw .malformed }
        var start = headerLength
        if flags & 0x04 != 0 {
            guard bytes.count - start >= 2 else { throw .malformed }
            start += 2 + Int(bytes[start]) + Int(bytes[start + 1]) << 8
        }
        // The name of the file and a comment, which end with a zero byte.
        for flag: UInt8 in [0x08, 0x10] where flags & flag != 0 {
            guard start < bytes.count, let end = bytes[start...].firstIndex(of: 0) else { throw .malformed }
            start = end + 1
        }
        if flags & 0x02 != 0 { start += 2 }
        guard start <= bytes.count else { throw .malformed }
        return start
    }

    /// Returns the CRC-32 of bytes (section 8).
    static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        var value = UInt32.max
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8 }
        return ~value
    }

    private static let table: [UInt32] = (0..<256).map { index in
        var value = UInt32(index)
        for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
        return value
    }
}
