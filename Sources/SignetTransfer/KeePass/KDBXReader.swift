/// A reader of the little-endian values of a KeePass database, which never reads past the end.
struct KDBXReader {
    private let content: [UInt8]
    /// The offset of the next byte.
    private(set) var position: Int

    init(_ bytes: [UInt8], from start: Int = 0) {
        content = bytes
        position = start
    }

    /// The bytes that were not read yet.
    var rest: ArraySlice<UInt8> { content[position...] }

    /// Returns the next `count` bytes; nil when there are fewer.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= content.count - position else { return nil }
        defer { position += count }
        return Array(content[position..<position + count])
    }

    /// Returns the next number of `count` bytes, at most 4; nil when there are fewer.
    mutating func number(_ count: Int) -> Int? {
        bytes(count).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
    }

    /// Returns the number that a value of 4 or 8 bytes contains; nil for other values and for numbers that do not fit `Int`.
    static func number(_ value: [UInt8]?) -> Int? {
        guard let value else { return nil }
        switch value.count {
        case 4: return Int(LittleEndian.word32(value, at: 0))
        case 8: return Int(exactly: LittleEndian.word64(value, at: 0))
        default: return nil
        }
    }
}
