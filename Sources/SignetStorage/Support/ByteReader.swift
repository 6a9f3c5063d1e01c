/// A reader that takes bytes from the front and never reads past the end.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next `count` bytes; nil when there are fewer.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Reads a number of four bytes, most significant first.
    mutating func number() -> Int? { bytes(4)?.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads bytes in the encoding of ``LengthPrefixed``; nil when they are longer than `limit` or incomplete.
    mutating func lengthPrefixed(limit: Int = .max) -> [UInt8]? {
        number().flatMap { $0 <= limit ? bytes($0) : nil }
    }
}
