extension Unicode.Scalar {
    /// The number of columns that a terminal uses for the character: 0, 1 or 2.
    ///
    /// These are the rules of wcwidth(3): characters that combine with the one before have no column; those of East Asian scripts
    /// and emoji have two (Unicode Standard Annex 11, values W and F). The characters must be visible (``isVisible``).
    var displayWidth: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // The vowels and final consonants of a Korean syllable are drawn in the columns of its first consonant.
        if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
        // A flag consists of two of these letters, with one column each.
        if 0x1F1E6...0x1F1FF ~= value { return 1 }
        return properties.isEmojiPresentation || Self.isWide(value) ? 2 : 1
    }

    /// The first and the last character of each range of wide characters, without emoji (EastAsianWidth.txt).
    private static let wideRanges: [UInt32] = [
        0x1100, 0x115F, 0x2E80, 0x303E, 0x3041, 0x3247, 0x3250, 0x4DBF, 0x4E00, 0xA4C6, 0xA960, 0xA97C, 0xAC00, 0xD7A3,
        0xF900, 0xFAD9, 0xFE10, 0xFE19, 0xFE30, 0xFE6B, 0xFF01, 0xFF60, 0xFFE0, 0xFFE6, 0x16FE0, 0x1B2FB, 0x1F200, 0x1F265,
        0x20000, 0x3FFFD,
    ]

    private static func isWide(_ value: UInt32) -> Bool {
        for index in stride(from: 0, to: wideRanges.count, by: 2) {
            if value < wideRanges[index] { return false }
            if value <= wideRanges[index + 1] { return true }
        }
        return false
    }
}

extension Character {
    /// The number of columns that a terminal uses for the character with all that combines with it.
    var displayWidth: Int { unicodeScalars.reduce(0) { $0 + $1.displayWidth } }
}

extension String {
    /// The number of columns that a terminal uses for the text, which has no control characters.
    var displayWidth: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : unicodeScalars.reduce(0) { $0 + $1.displayWidth }
    }

    /// Returns the beginning of the text that fits into a number of columns, without half of a character.
    func prefix(columns: Int) -> String {
        guard displayWidth > columns else { return self }
        var (result, width) = ("", 0)
        for character in self {
            width += character.displayWidth
            guard width <= columns else { break }
            result.append(character)
        }
        return result
    }

    /// Returns the text, or its beginning with an ellipsis when it is wider than a number of columns.
    func shortened(to columns: Int) -> String {
        guard displayWidth > columns else { return self }
        return columns > 0 ? prefix(columns: columns - 1) + "…" : ""
    }

    /// Returns the text with spaces at its end, so that it is as wide as a number of columns; a wider text is shortened.
    func filling(_ columns: Int) -> String {
        let text = shortened(to: columns)
        return text + String(repeating: " ", count: max(0, columns - text.displayWidth))
    }

    /// Returns the text in lines that fit into a number of columns, broken at spaces, and inside of words that are wider.
    /// - Parameters:
    ///   - columns: The width of a line, 2 or more.
    ///   - limit: The most lines, 1 or more. The last one has all the rest, and is shortened.
    /// - Returns: The lines; none for a text without words.
    func wrapped(to columns: Int, limit: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            let longer = line.isEmpty ? String(word) : line + " " + word
            if longer.displayWidth > columns, !line.isEmpty, lines.count + 1 < limit {
                lines.append(line)
                line = String(word)
            } else {
                line = longer
            }
            while line.displayWidth > columns, lines.count + 1 < limit {
                let start = line.prefix(columns: columns)
                // One character may be wider than the line.
                guard !start.isEmpty else { break }
                lines.append(start)
                line = String(line.dropFirst(start.count))
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { $0.shortened(to: columns) }
    }
}

/// A text of others in one line of a terminal, with a known width.
///
/// The text is escaped as in ``TerminalText``. Programs for terminals disagree about the width of characters with variation
/// selectors and skin tones, so these are left out. Characters that combine with others are limited, because many of them cover
/// the lines above and below.
struct CellText: Sendable, Hashable {
    /// The text.
    let text: String
    /// The number of columns.
    let width: Int

    /// The most characters that are read of a text, more than the widest terminal shows.
    private static let limit = 600
    /// The most combining characters after another one.
    private static let markLimit = 3

    /// Escapes a text, in which white space is one space each.
    init(_ value: String) {
        let start = String(value.unicodeScalars.prefix(Self.limit))
        let line = start.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        var scalars = String.UnicodeScalarView()
        var markCount = 0
        for scalar in TerminalText(line).description.unicodeScalars where !scalar.properties.isVariationSelector {
            if scalar.displayWidth > 0 {
                if scalar.properties.isEmojiModifier, scalars.last?.properties.isEmojiModifierBase == true { continue }
                markCount = 0
            } else {
                markCount += 1
                guard markCount <= Self.markLimit else { continue }
                // The sign for a missing letter. Without it, the first character would combine with what is on the left.
                if scalars.isEmpty { scalars.append("\u{25CC}") }
            }
            scalars.append(scalar)
        }
        text = String(scalars)
        width = text.displayWidth
    }
}
