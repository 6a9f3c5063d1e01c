/// Draws a QR code: the function patterns, the code words, and one of eight masks over the code words.
struct QRDrawingBoard: Sendable {
    private let layout: QRLayout
    private let side: Int
    private(set) var modules: [Bool]
    /// The modules that the mask does not change.
    private var isFixed: [Bool]

    init(_ layout: QRLayout, _ words: [UInt8], mask: Int) {
        self.layout = layout
        side = layout.side
        modules = [Bool](repeating: false, count: side * side)
        isFixed = modules
        drawTiming()
        for (column, row) in [(3, 3), (side - 4, 3), (3, side - 4)] { drawFinder(column, row) }
        drawAlignments()
        drawVersion()
        drawFormat(mask)
        drawWords(words, mask)
    }

    private subscript(column: Int, row: Int) -> Bool { modules[row * side + column] }

    private mutating func fix(_ column: Int, _ row: Int, _ isDark: Bool) {
        guard (0..<side).contains(column), (0..<side).contains(row) else { return }
        modules[row * side + column] = isDark
        isFixed[row * side + column] = true
    }

    // MARK: Fixed patterns

    private mutating func drawTiming() {
        for index in 0..<side {
            fix(6, index, index.isMultiple(of: 2))
            fix(index, 6, index.isMultiple(of: 2))
        }
    }

    /// Draws a finder pattern and its light separator.
    private mutating func drawFinder(_ column: Int, _ row: Int) {
        for down in -4...4 {
            for right in -4...4 {
                let distance = max(abs(down), abs(right))
                fix(column + right, row + down, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignments() {
        let centers = layout.alignments
        guard let last = centers.last else { return }
        for row in centers {
            for column in centers where !([(6, 6), (6, last), (last, 6)].contains { $0 == (column, row) }) {
                for down in -2...2 {
                    for right in -2...2 { fix(column + right, row + down, max(abs(down), abs(right)) != 1) }
                }
            }
        }
    }

    private mutating func drawVersion() {
        guard layout.version >= 7 else { return }
        var rest = layout.version
        for _ in 0..<12 { rest = (rest << 1) ^ ((rest >> 11) * 0x1F25) }
        let bits = layout.version << 12 | rest
        for index in 0..<18 {
            let (long, short) = (side - 11 + index % 3, index / 3)
            fix(long, short, bits >> index & 1 == 1)
            fix(short, long, bits >> index & 1 == 1)
        }
    }

    /// Draws the error correction level and the mask in both places.
    private mutating func drawFormat(_ mask: Int) {
        let data = layout.correction.rawValue << 3 | mask
        var rest = data
        for _ in 0..<10 { rest = (rest << 1) ^ ((rest >> 9) * 0x537) }
        let bits = (data << 10 | rest) ^ 0x5412
        func isSet(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { fix(8, index, isSet(index)) }
        fix(8, 7, isSet(6))
        fix(8, 8, isSet(7))
        fix(7, 8, isSet(8))
        for index in 9..<15 { fix(14 - index, 8, isSet(index)) }
        for index in 0..<8 { fix(side - 1 - index, 8, isSet(index)) }
        for index in 8..<15 { fix(8, side - 15 + index, isSet(index)) }
        fix(8, side - 8, true)
    }

    // MARK: Words

    /// Draws the bits in pairs of columns, alternately up and down, from the lower right corner.
    private mutating func drawWords(_ words: [UInt8], _ mask: Int) {
        var bit = 0
        for pair in stride(from: side - 1, to: 0, by: -2) {
            // The column of the vertical timing pattern is skipped.
            let right = pair <= 6 ? pair - 1 : pair
            let isUpward = (right + 1) & 2 == 0
            for step in 0..<side {
                let row = isUpward ? side - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * side + column] {
                    let isDark = bit < words.count * 8 && words[bit / 8] >> (7 - bit % 8) & 1 == 1
                    modules[row * side + column] = isDark != Self.inverts(mask, column, row)
                    bit += 1
                }
            }
        }
    }

    private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y).isMultiple(of: 2)
        case 1: y.isMultiple(of: 2)
        case 2: x.isMultiple(of: 3)
        case 3: (x + y).isMultiple(of: 3)
        case 4: (x / 3 + y / 2).isMultiple(of: 2)
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3).isMultiple(of: 2)
        default: ((x + y) % 2 + x * y % 3).isMultiple(of: 2)
        }
    }

    // MARK: Penalty

    /// The penalty score of the code by the four rules of the standard.
    ///
    /// A lower score is easier to read.
    var penalty: Int {
        let rows = (0..<side).map { row in (0..<side).map { self[$0, row] } }
        let columns = (0..<side).map { column in (0..<side).map { self[column, $0] } }
        let lines = (rows + columns).reduce(0) { $0 + Self.penalty(ofLine: $1) }
        var blocks = 0
        for row in 1..<side {
            for column in 1..<side {
                let color = self[column, row]
                if self[column - 1, row] == color, self[column, row - 1] == color, self[column - 1, row - 1] == color {
                    blocks += 3
                }
            }
        }
        let dark = modules.count { $0 }
        let total = side * side
        let imbalance = (abs(dark * 20 - total * 10) + total - 1) / total - 1
        return lines + blocks + max(0, imbalance) * 10
    }

    /// Returns the penalty of runs of one color, and of patterns that look like a finder.
    private static func penalty(ofLine line: [Bool]) -> Int {
        var sum = 0
        var run = 0
        var window = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
            window = (window << 1 | (isDark ? 1 : 0)) & 0x7FF
            if index >= 10, window == 0b101_1101_0000 || window == 0b000_0101_1101 { sum += 40 }
        }
        return sum
    }
}
