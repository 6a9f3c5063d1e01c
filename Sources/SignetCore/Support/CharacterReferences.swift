/// The character references of HTML and XML: `&amp;`, `&#39;`, `&#x27;`.
package enum CharacterReferences {
    /// Returns a text with its character references replaced by the characters that they name.
    ///
    /// Numeric references and the names of XML and of the spaces and quotes that servers' pages use are known (HTML section 13.5). What
    /// isn't a known reference stays as it is. A reference that a replacement would create isn't replaced again.
    package static func decode(_ text: some StringProtocol) -> String {
        var decoded = ""
        var rest = text[...]
        while let mark = rest.firstIndex(of: "&") {
            decoded += rest[..<mark]
            rest = rest[mark...]
            let name = rest.dropFirst().prefix { $0 != ";" && $0 != "&" && !$0.isWhitespace }
            if name.endIndex < rest.endIndex, rest[name.endIndex] == ";", let character = character(named: String(name)) {
                decoded.append(character)
                rest = rest[rest.index(after: name.endIndex)...]
            } else {
                decoded.append("&")
                rest = rest.dropFirst()
            }
        }
        return decoded + rest
    }

    private static func character(named name: String) -> Character? {
        guard name.hasPrefix("#") else { return named[name] }
        let isHexadecimal = name.dropFirst().first == "x" || name.dropFirst().first == "X"
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.first?.isHexDigit ?? false, let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value > 0 else {
            return nil
        }
        return Unicode.Scalar(value).map { Character($0) }
    }

    private static let named: [String: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}", "ndash": "\u{2013}", "mdash": "\u{2014}",
        "lsquo": "\u{2018}", "rsquo": "\u{2019}", "ldquo": "\u{201C}", "rdquo": "\u{201D}", "hellip": "\u{2026}",
        "copy": "\u{A9}",
        "reg": "\u{AE}", "laquo": "\u{AB}", "raquo": "\u{BB}",
    ]
}
