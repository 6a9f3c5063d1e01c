/// The inside of a string literal of JavaScript (ECMA-262 section 12.9.4).
package enum JavaScriptLiteral {
    /// Returns the value of a literal, given the characters between its quotes.
    ///
    /// Nil for an escape sequence that is incomplete or names no character. A sequence of two `\u` escapes may name one character.
    package static func decode(_ literal: some StringProtocol) -> String? {
        var units: [UInt16] = []
        var rest = Substring(literal).unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                units += String(scalar).utf16
                continue
            }
            guard let kind = rest.popFirst() else { return nil }
            switch kind {
            case "x":
                guard let unit = takeHexadecimal(2, from: &rest) else { return nil }
                units.append(unit)
            case "u" where rest.first == "{":
                let digits = rest.dropFirst().prefix { $0 != "}" }
                guard digits.endIndex < rest.endIndex, digits.allSatisfy(\.properties.isASCIIHexDigit),
                    let value = UInt32(String(digits), radix: 16), let scalar = Unicode.Scalar(value)
                else { return nil }
                units += String(scalar).utf16
                rest = rest[rest.index(after: digits.endIndex)...]
            case "u":
                guard let unit = takeHexadecimal(4, from: &rest) else { return nil }
                units.append(unit)
            case "\n", "\u{2028}", "\u{2029}": break
            default: units += String(single[kind] ?? kind).utf16
            }
        }
        // Decoding replaces a surrogate without its other half.
        let text = String(decoding: units, as: UTF16.self)
        return text.utf16.elementsEqual(units) ? text : nil
    }

    private static func takeHexadecimal(_ count: Int, from text: inout Substring.UnicodeScalarView) -> UInt16? {
        let digits = text.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
        text = text.dropFirst(count)
        return UInt16(String(digits), radix: 16)
    }

    /// The escape sequences of one letter.
    private static let single: [Unicode.Scalar: Unicode.Scalar] = [
        "n": "\n", "r": "\r", "t": "\t", "b": "\u{8}", "f": "\u{C}", "v": "\u{B}", "0": "\0",
    ]
}
