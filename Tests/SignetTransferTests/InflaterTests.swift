import SignetCore
import Testing

@testable import SignetTransfer

@Suite("DEFLATE and gzip")
struct InflaterTests {
    /// The text that zlib compressed for the rows.
    private static let text: [UInt8] = (0..<3_000).map { UInt8(truncatingIfNeeded: ($0 / 7 * $0) & 15) }

    /// A stream that zlib 1.2.13 wrote, and its content.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stream: String
        let content: [UInt8]

        init(_ name: String, _ stream: String, _ content: [UInt8]) {
            (testDescription, self.stream, self.content) = (name, stream, content)
        }
    }

    static let rows: [Row] = [
        Row("an empty stored block", "AQAA//8=", []),
        Row("a stored block", "ARQA6/8AAAAAAAAABwgJCgsMDQwOAAIEBg==", Array(text[..<20])),
        Row(
            "fixed codes",
            "Y2AAA3YOTi5uHl4ePgYmFjYOfiZWDm4+RgYWDh4g5mfh5GPm4OVh4uBj4WJg52PlYeZiZOAAQ3YGTiZuFl4eNgYuFj4Ofi5WBm42RgYeDhYg5ufhZGNm4OXh"
                + "4mBjYWJgZ2NlYWZiZKCRfQA=",
            Array(text[..<200])),
        Row(
            "own codes",
            "7c1BEsAgCEPRiIiIiPe/bTu9QfdJ5q8f8G36ip0nC6LmV4bvalDPt6urup8ULw3MGtmjwb9PLNl60hBafmNgW0O6vt1c1nEy3FQwbWiXBnr06NGjR48ePXr0"
                + "6P32Hg==",
            text),
        Row(
            "own codes without copies",
            "BcGBAcAgCASxExFfpLj/tk0AgK2Tt75qzEPPlm4PXIXr+empr0ztye5VMwdCiM2x618F6a2XixuDklN6dWLyVSrc2LF82gAAtk7e+qoxDz1buj1wFa7np6e+"
                + "MrUnu1fNHAghNseufxWkt14ubgxKTunViclXqXBjx/JpAwDYOnnrq8Y89Gzp9sBVuJ6fnvrK1J7sXjVzIITYHLv+VZDeerm4MSg5pVcnJl+lwo0dy6cN"
                + "AGDr5K2vGvPQs6XbA1fhen566itTe7J71cyBEGL/",
            Array(text[..<400])),
        Row(
            "several blocks, with flushes between them",
            "HMOBEQAhCAPBiKgRIvbf7Tt/Nwv8Le5IHRXMJ68NZjU49Vzf1XlkLA+sGurRwP+FbelHE+HFGwM5G0R/rvbsOIoPAAD//2Kggx0AAAAA//8DAA==",
            Array(text[..<100] + text[..<100])),
        Row("a run of one byte", "S0wcBYMJAAA=", [UInt8](repeating: 0x61, count: 400)),
    ]

    @Test("A stream of zlib is decompressed to its end, and refused when it is cut off", arguments: rows)
    func decompressesStream(row: Row) throws {
        let stream = try Base64.decode(row.stream)
        let (output, end) = try Inflater.inflate(stream + [1, 2, 3], limit: row.content.count)
        #expect(output == row.content && end == stream.count)
        #expect(try Inflater.inflate([9, 9] + stream, from: 2, limit: 3_000).output == row.content)
        for count in 0..<stream.count {
            #expect(throws: Inflater.Failure.malformed) { try Inflater.inflate(Array(stream[..<count]), limit: 3_000) }
        }
        guard !row.content.isEmpty else { return }
        #expect(throws: Inflater.Failure.tooLong) { try Inflater.inflate(stream, limit: row.content.count - 1) }
    }

    // MARK: Hostile streams

    /// A writer of bits, the first one lowest.
    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var count = 0

        /// The bytes with zeros after them.
        var padded: [UInt8] { bytes + [0, 0, 0, 0] }

        mutating func put(_ value: Int, _ length: Int) {
            for index in 0..<length { put(value >> index & 1) }
        }

        /// Writes a codeword, whose highest bit comes first.
        mutating func code(_ value: Int, _ length: Int) {
            for index in (0..<length).reversed() { put(value >> index & 1) }
        }

        private mutating func put(_ bit: Int) {
            if count.isMultiple(of: 8) { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(bit << (count % 8))
            count += 1
        }
    }

    /// Returns the head of a block with its own codes, and the lengths of the codes for code lengths in the order of RFC 1951.
    private static func ownCodes(_ lengths: [Int], literals: Int = 257, distances: Int = 1) -> Bits {
        var bits = Bits()
        bits.put(1, 1)
        bits.put(2, 2)
        bits.put(literals - 257, 5)
        bits.put(distances - 1, 5)
        bits.put(lengths.count - 4, 4)
        for length in lengths { bits.put(length, 3) }
        return bits
    }

    /// Returns the head of a block with own codes: a literal and the end of the block, or two literals.
    ///
    /// The codeword `0` stands for a run of unused codes, `10` for an unused code, and `11` for a code of one bit.
    private static func literalCodes(endsBlock: Bool) -> Bits {
        // The order is 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1.
        var lengths = [Int](repeating: 0, count: 18)
        (lengths[2], lengths[3], lengths[17]) = (1, 2, 2)
        var bits = ownCodes(lengths)
        func zeros(_ count: Int) {
            bits.code(0, 1)
            bits.put(count - 11, 7)
        }
        // Literal 0 has a codeword of one bit, and so has the end of the block, or literal 1 in its place.
        bits.code(3, 2)
        if !endsBlock { bits.code(3, 2) }
        zeros(138)
        zeros(endsBlock ? 117 : 116)
        bits.code(endsBlock ? 3 : 2, 2)
        bits.code(2, 2)
        return bits
    }

    private static func streams() -> [(String, [UInt8])] {
        var tooFar = Bits()
        tooFar.put(1, 1)
        tooFar.put(1, 2)
        // A copy of three bytes from one byte before, at the beginning.
        tooFar.code(1, 7)
        tooFar.code(0, 5)
        tooFar.code(0, 7)
        var unusedLength = Bits()
        unusedLength.put(1, 1)
        unusedLength.put(1, 2)
        unusedLength.code(0xC6, 8)
        unusedLength.code(0, 5)
        var unusedDistance = Bits()
        unusedDistance.put(1, 1)
        unusedDistance.put(1, 2)
        unusedDistance.code(0x30, 8)
        unusedDistance.code(1, 7)
        unusedDistance.code(30, 5)
        return [
            ("a type of block that does not exist", [0x07, 0, 0]), ("nothing", []),
            ("a stored block with a wrong length", [0x01, 5, 0, 0, 0, 1, 2, 3, 4, 5]),
            ("a stored block that is too short", [0x01, 5, 0, 0xFA, 0xFF, 1, 2]),
            ("a copy from before the beginning", tooFar.bytes), ("a length without meaning", unusedLength.padded),
            ("a distance without meaning", unusedDistance.padded),
            ("more codewords than fit", ownCodes([1, 1, 1, 1]).padded),
            ("too few codewords", ownCodes([1, 0, 0, 0]).padded),
            ("too many literals", ownCodes([1, 1, 0, 0], literals: 288).padded),
            ("too many distances", ownCodes([1, 1, 0, 0], distances: 32).padded),
            // 16 repeats the length before it, which is not there.
            ("a repetition of nothing", ownCodes([1, 1, 0, 0]).padded),
            ("no end of the block", literalCodes(endsBlock: false).padded),
        ]
    }

    @Test("A hostile stream is refused", arguments: 0..<13)
    func refusesHostileStream(index: Int) throws {
        let (name, stream) = Self.streams()[index]
        let error = try #require(throws: Inflater.Failure.self) { try Inflater.inflate(stream, limit: 1_000) }
        #expect(error == .malformed, "\(name)")
    }

    @Test("A block whose only codes are a literal and the end is decompressed")
    func decompressesSmallCode() throws {
        var bits = Self.literalCodes(endsBlock: true)
        for _ in 0..<5 { bits.code(0, 1) }
        bits.code(1, 1)
        #expect(try Inflater.inflate(bits.bytes, limit: 5).output == [0, 0, 0, 0, 0])
    }

    @Test("A stream that would become a thousand times as long stops at the limit")
    func limitsBomb() throws {
        var bits = Bits()
        bits.put(1, 1)
        bits.put(1, 2)
        bits.code(0x30, 8)
        for _ in 0..<40_000 {
            // 258 bytes from one byte before.
            bits.code(0xC5, 8)
            bits.code(0, 5)
        }
        bits.code(0, 7)
        let bomb = bits.bytes
        #expect(throws: Inflater.Failure.tooLong) { try Inflater.inflate(bomb, limit: 100_000) }
    }

    // MARK: gzip

    private static let gzip = "H4sIHgAAAAAAAwQAYWIAAG5hbWUAYSBjb21tZW50ANXey0jNycnXUcgAUQD/xczzDAAAAA=="

    @Test("A gzip file with all fields of the header is decompressed")
    func decompressesGzip() throws {
        #expect(try Gzip.decompress(Base64.decode(Self.gzip), limit: 12) == Array("hello, hello".utf8))
        #expect(Gzip.checksum(of: Array("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test("A gzip file with a wrong checksum, a wrong length, more bytes or an unknown flag is refused")
    func refusesGzip() throws {
        let file = try Base64.decode(Self.gzip)
        for position in [0, 1, 2, file.count - 8, file.count - 1] {
            var changed = file
            changed[position] ^= 1
            #expect(throws: Inflater.Failure.malformed, "\(position)") { try Gzip.decompress(changed, limit: 100) }
        }
        var flagged = file
        flagged[3] |= 0x20
        let files = [flagged, file + [0], []] + (0..<file.count).map { Array(file[..<$0]) }
        for file in files { #expect(throws: Inflater.Failure.malformed) { try Gzip.decompress(file, limit: 100) } }
        #expect(throws: Inflater.Failure.tooLong) { try Gzip.decompress(file, limit: 11) }
    }
}
