/// A reader that takes bytes from the front and never reads past the end.
package struct ByteReader {
    /// The bytes that were not taken yet.
    package private(set) var rest: ArraySlice<UInt8>

    /// Creates a reader of all bytes.
    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Creates a reader of a part of an array.
    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next `count` bytes; nil when there are fewer.
    package mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Reads a number of four bytes, most significant first.
    package mutating func number() -> Int? { number(ofBytes: 4) }

    /// Reads a number of up to four bytes, most significant first.
    package mutating func number(ofBytes count: Int) -> Int? { bytes(count)?.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads bytes after their length in four bytes; nil when they are longer than `limit` or incomplete.
    package mutating func lengthPrefixed(limit: Int = .max) -> [UInt8]? {
        number().flatMap { $0 <= limit ? bytes($0) : nil }
    }
}
