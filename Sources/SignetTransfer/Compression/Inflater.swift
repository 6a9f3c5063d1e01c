/// A decoder of DEFLATE (RFC 1951) for untrusted data: its output has a limit.
///
/// It decodes one bit after the other, so that a hostile stream of many small blocks costs no more than a long one.
struct Inflater {
    /// The reasons why data is refused.
    enum Failure: Error {
        /// The data violates the format, or was cut off.
        case malformed
        /// The output would be longer than the limit.
        case tooLong
    }

    private let bytes: [UInt8]
    private let limit: Int
    private var position: Int
    /// The bits of the bytes before ``position`` that were not used yet, the next one lowest.
    private var held: UInt32 = 0
    private var heldCount = 0
    private var output: [UInt8] = []

    private init(_ bytes: [UInt8], from start: Int, limit: Int) {
        self.bytes = bytes
        self.limit = limit
        position = start
    }

    /// Decodes a stream.
    /// - Parameters:
    ///   - bytes: The bytes that contain the stream.
    ///   - start: The offset of its first byte.
    ///   - limit: The maximum length of the output in bytes.
    /// - Returns: The output, and the offset of the first byte after the stream.
    /// - Throws: ``Failure``.
    static func inflate(
        _ bytes: [UInt8], from start: Int = 0, limit: Int
    ) throws(Failure) -> (output: [UInt8], end: Int) {
        var inflater = Inflater(bytes, from: start, limit: limit)
        while try inflater.readBlock() {}
        return (inflater.output, inflater.position)
    }

    // MARK: Blocks

    /// Decodes one block (RFC 1951 section 3.2.3).
    ///
    /// Returns false after the last one.
    private mutating func readBlock() throws(Failure) -> Bool {
        let isLast = try bits(1) == 1
        switch try bits(2) {
        case 0: try copyStored()
        case 1: try decode(Self.fixedLiterals, Self.fixedDistances)
        case 2:
            let (literals, distances) = try codes()
            try decode(literals, distances)
        default: throw .malformed
        }
        return !isLast
    }

    /// Copies a block without compression (section 3.2.4).
    private mutating func copyStored() throws(Failure) {
        // The rest of the byte is not used. Fewer than 8 bits are held, all of them of the last byte.
        (held, heldCount) = (0, 0)
        guard bytes.count - position >= 4 else { throw .malformed }
        let length = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        let complement = Int(bytes[position + 2]) | Int(bytes[position + 3]) << 8
        position += 4
        guard length ^ complement == 0xFFFF, bytes.count - position >= length else { throw .malformed }
        guard limit - output.count >= length else { throw .tooLong }
        output += bytes[position..<position + length]
        position += length
    }

    /// Decodes literals and copies until the end of the block (section 3.2.5).
    private mutating func decode(_ literals: Code, _ distances: Code) throws(Failure) {
        while true {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            if symbol < 256 {
                guard output.count < limit else { throw .tooLong }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengths.count else { throw .malformed }
            let length = try Self.lengths[symbol - 257].base + bits(Self.lengths[symbol - 257].extra)
            let code = try self.symbol(distances)
            guard code < Self.distances.count else { throw .malformed }
            let distance = try Self.distances[code].base + bits(Self.distances[code].extra)
            guard distance <= output.count else { throw .malformed }
            guard limit - output.count >= length else { throw .tooLong }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    // MARK: Codes

    /// The order in which the lengths of the codes for code lengths are written (section 3.2.7).
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// The lengths that the symbols from 257 on stand for, and the number of bits that are added.
    private static let lengths: [(base: Int, extra: Int)] =
        ranges(
            from: 3, extras: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5])
        + [(base: 258, extra: 0)]
    /// The distances that the symbols stand for, and the number of bits that are added.
    private static let distances: [(base: Int, extra: Int)] = ranges(
        from: 1, extras: [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13])

    private static func ranges(from start: Int, extras: [Int]) -> [(base: Int, extra: Int)] {
        var next = start
        return extras.map { extra in
            defer { next += 1 << extra }
            return (base: next, extra: extra)
        }
    }

    /// The fixed codes (section 3.2.6).
    private static let fixedLiterals = Code(
        complete: [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
            + [UInt8](repeating: 8, count: 8))
    private static let fixedDistances = Code(complete: [UInt8](repeating: 5, count: 32))

    /// Reads the codes of a block that has its own (section 3.2.7).
    private mutating func codes() throws(Failure) -> (literals: Code, distances: Code) {
        let (literalCount, distanceCount) = (try bits(5) + 257, try bits(5) + 1)
        let lengthCount = try bits(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .malformed }
        var lengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<lengthCount { lengths[Self.order[index]] = UInt8(try bits(3)) }
        guard let code = Code(lengths, allowsSingle: false) else { throw .malformed }

        var all: [UInt8] = []
        while all.count < literalCount + distanceCount {
            let symbol = try symbol(code)
            var (value, count): (UInt8, Int) = (0, 1)
            switch symbol {
            case 16:
                guard let last = all.last else { throw .malformed }
                (value, count) = (last, try bits(2) + 3)
            case 17: count = try bits(3) + 3
            case 18: count = try bits(7) + 11
            default: value = UInt8(symbol)
            }
            guard all.count + count <= literalCount + distanceCount else { throw .malformed }
            for _ in 0..<count { all.append(value) }
        }
        // Without a code for the end, a block would have none.
        guard all[256] > 0, let literals = Code(Array(all[..<literalCount]), allowsSingle: true),
            let distances = Code(Array(all[literalCount...]), allowsSingle: true)
        else { throw .malformed }
        return (literals, distances)
    }

    /// A Huffman code, which the lengths of its codewords define (section 3.2.2).
    private struct Code {
        private static let maxLength = 15

        /// The number of codewords of each length.
        var counts = [Int](repeating: 0, count: Code.maxLength + 1)
        /// The symbols in the order of their codewords.
        var symbols: [Int] = []

        /// Creates a code from the lengths of the symbols' codewords; 0 is a symbol that is not used.
        ///
        /// Returns nil when the lengths define no code in which each sequence of bits has one meaning. A code with a single
        /// codeword of one bit, or with none, is incomplete and used by encoders.
        init?(_ lengths: [UInt8], allowsSingle: Bool) {
            self.init(complete: lengths)
            // The number of codewords that are free at the greatest length.
            var free = 1
            for length in 1...Self.maxLength {
                free = free << 1 - counts[length]
                guard free >= 0 else { return nil }
            }
            let isSmall = symbols.isEmpty || (symbols.count == 1 && counts[1] == 1)
            guard free == 0 || (allowsSingle && isSmall) else { return nil }
        }

        /// Creates a code from lengths that are known to define one.
        init(complete lengths: [UInt8]) {
            for length in lengths { counts[Int(length)] += 1 }
            counts[0] = 0
            // The place of the next symbol of each length.
            var places = [Int](repeating: 0, count: Self.maxLength + 1)
            for length in 1...Self.maxLength { places[length] = places[length - 1] + counts[length - 1] }
            symbols = [Int](repeating: 0, count: counts.reduce(0, +))
            for (symbol, length) in lengths.enumerated() where length > 0 {
                symbols[places[Int(length)]] = symbol
                places[Int(length)] += 1
            }
        }
    }

    /// Decodes the next symbol.
    private mutating func symbol(_ code: Code) throws(Failure) -> Int {
        // The codeword so far, the first codeword of its length, and the number of shorter codewords.
        var (word, first, shorter) = (0, 0, 0)
        for length in 1..<code.counts.count {
            word |= try bits(1)
            let count = code.counts[length]
            if word - first < count { return code.symbols[shorter + word - first] }
            shorter += count
            first = (first + count) << 1
            word <<= 1
        }
        throw .malformed
    }

    // MARK: Bits

    /// Returns the next bits, at most 16, the first one lowest.
    private mutating func bits(_ count: Int) throws(Failure) -> Int {
        while heldCount < count {
            guard position < bytes.count else { throw .malformed }
            held |= UInt32(bytes[position]) << UInt32(heldCount)
            position += 1
            heldCount += 8
        }
        let value = held & (1 << UInt32(count) - 1)
        held >>= UInt32(count)
        heldCount -= count
        return Int(value)
    }
}
