/// A text as a QR code (ISO/IEC 18004): a square of dark and light modules.
///
/// The code is as secret as the text.
package struct QRCode: Sendable, Hashable {
    /// The text does not fit: a QR code holds 2953 bytes.
    package struct TooLong: Error, Sendable, Hashable {
        /// The number of bytes of the text in UTF-8.
        package let byteCount: Int
    }

    /// The error correction level.
    ///
    /// The raw value is its value in the format information and its index in the tables.
    enum Correction: Int, Sendable, CaseIterable {
        /// Level M, which restores about 15 percent of the code.
        case medium = 0
        /// Level L, which restores about 7 percent of the code.
        case low = 1
    }

    /// The width of the required light margin around the code, in modules.
    package static let quietZone = 4

    /// The number of modules on a side, without the quiet zone.
    package let side: Int
    /// The modules row by row; true is dark.
    private let modules: [Bool]

    /// Encodes the UTF-8 bytes of a text with error correction level M, which holds 2331 bytes.
    ///
    /// A longer text uses level L, which holds 2953 bytes.
    /// - Throws: ``TooLong`` when the text does not fit.
    package init(text: String) throws(TooLong) {
        let bytes = Array(text.utf8)
        guard let (layout, words) = QRLayout.fitting(bytes) else { throw TooLong(byteCount: bytes.count) }
        let code = (0..<8).map { QRDrawingBoard(layout, words, mask: $0) }.min { $0.penalty < $1.penalty }
        side = layout.side
        modules = code?.modules ?? []
    }

    /// Returns true when a module is dark.
    ///
    /// Modules outside of the code are light.
    package func isDark(_ column: Int, _ row: Int) -> Bool {
        (0..<side).contains(column) && (0..<side).contains(row) && modules[row * side + column]
    }

    /// Returns the dark modules as an SVG path.
    ///
    /// A module has the size 1, and the path is moved by `offset` from the upper left corner.
    package func outline(offset: Int) -> String {
        var path = ""
        for row in 0..<side {
            var column = 0
            while column < side {
                let start = column
                while isDark(column, row) { column += 1 }
                if column > start { path += "M\(start + offset) \(row + offset)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }
}

/// The size of a code and the distribution of its code words, from the tables of the standard.
struct QRLayout: Sendable, Hashable {
    let version: Int
    let correction: QRCode.Correction

    var side: Int { version * 4 + 17 }

    /// Returns the smallest layout that holds the bytes, and its code words in order.
    static func fitting(_ bytes: [UInt8]) -> (QRLayout, [UInt8])? {
        for correction in QRCode.Correction.allCases {
            for version in 1...40 {
                let layout = QRLayout(version: version, correction: correction)
                if let words = layout.words(of: bytes) { return (layout, words) }
            }
        }
        return nil
    }

    /// The number of error correction code words of each block, by correction level and version.
    private static let wordsPerBlock: [[Int]] = [
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28,
            28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
    ]

    private static let blockCounts: [[Int]] = [
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35,
            37, 38, 40, 43, 45, 47, 49,
        ],
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19,
            20, 21, 22, 24, 25,
        ],
    ]

    private var correctionWords: Int { Self.wordsPerBlock[correction.rawValue][version - 1] }
    private var blocks: Int { Self.blockCounts[correction.rawValue][version - 1] }

    /// The number of code words that fit into the code: the modules that function patterns leave free, in bytes.
    private var capacity: Int {
        var modules = (16 * version + 128) * version + 64
        if version >= 2 {
            let alignments = version / 7 + 2
            modules -= (25 * alignments - 10) * alignments - 55
            if version >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    /// The positions of the centers of the alignment patterns, on both axes.
    var alignments: [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = version == 32 ? 26 : (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).reversed().map { side - 7 - $0 * step }
    }

    /// Returns the data and error correction code words, interleaved; nil when the bytes do not fit.
    private func words(of bytes: [UInt8]) -> [UInt8]? {
        let room = capacity - correctionWords * blocks
        let head = version < 10 ? 2 : 3
        // The header is 12 or 20 bits long. The terminator fills the other half of the last byte.
        guard bytes.count + head <= room else { return nil }
        var data: [UInt8] = []
        data.reserveCapacity(room)
        // The header consists of four mode bits, which select byte mode, and the number of bytes.
        var carry = UInt8(4)
        func push(_ byte: UInt8) {
            data.append(carry << 4 | byte >> 4)
            carry = byte & 15
        }
        if version >= 10 { push(UInt8(bytes.count >> 8)) }
        push(UInt8(bytes.count & 0xFF))
        for byte in bytes { push(byte) }
        data.append(carry << 4)
        for index in 0..<room - data.count { data.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }
        return interleaved(data)
    }

    private func interleaved(_ data: [UInt8]) -> [UInt8] {
        let shortBlocks = blocks - capacity % blocks
        let shortLength = capacity / blocks - correctionWords
        var rest = data[...]
        var parts: [(data: [UInt8], correction: [UInt8])] = []
        let divisor = GaloisField.divisor(degree: correctionWords)
        for block in 0..<blocks {
            let part = Array(rest.prefix(shortLength + (block < shortBlocks ? 0 : 1)))
            rest = rest.dropFirst(part.count)
            parts.append((part, GaloisField.remainder(of: part, by: divisor)))
        }
        var words: [UInt8] = []
        for index in 0...shortLength { for part in parts where index < part.data.count { words.append(part.data[index]) } }
        for index in 0..<correctionWords { for part in parts { words.append(part.correction[index]) } }
        return words
    }
}

/// Arithmetic in the finite field with 256 elements that the error correction uses.
private enum GaloisField {
    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = (result << 1) ^ ((result >> 7) * 0x11D)
            if right >> bit & 1 == 1 { result ^= Int(left) }
        }
        return UInt8(result)
    }

    /// Returns the product of (x - 2^i), with i from 0, without its leading coefficient of one.
    static func divisor(degree: Int) -> [UInt8] {
        var polynomial = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root = UInt8(1)
        for _ in 0..<degree {
            for index in 0..<degree {
                polynomial[index] = product(polynomial[index], root)
                if index + 1 < degree { polynomial[index] ^= polynomial[index + 1] }
            }
            root = product(root, 2)
        }
        return polynomial
    }

    static func remainder(of data: [UInt8], by divisor: [UInt8]) -> [UInt8] {
        var rest = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= product(divisor[index], factor) }
        }
        return rest
    }
}
