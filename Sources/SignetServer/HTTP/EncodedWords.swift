import SignetCore

/// The encoded words of RFC 2047, with which a header field has text other than ASCII: `=?UTF-8?B?w7w=?=`.
enum EncodedWords {
    /// Decodes the encoded words in a value.
    ///
    /// White space between two encoded words is dropped (section 6.2). A word that is not valid stays as it is.
    /// - Parameter value: The value of a header field.
    /// - Returns: The text.
    static func decode(_ value: String) -> String {
        guard value.contains("=?") else { return value }
        var text = ""
        var isAfterWord = false
        for (index, token) in value.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            let word = word(token)
            if index > 0, word == nil || !isAfterWord { text += " " }
            text += word ?? String(token)
            isAfterWord = word != nil
        }
        return text
    }

    /// Decodes one word; nil when it isn't an encoded word, or not of a known character set.
    private static func word(_ token: Substring) -> String? {
        guard token.hasPrefix("=?"), token.hasSuffix("?="), token.utf8.count > 4 else { return nil }
        let parts = token.dropFirst(2).dropLast(2).split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes: [UInt8]? =
            switch parts[1].lowercased() {
            case "b": try? Base64.decode(parts[2])
            case "q": quoted(parts[2])
            default: nil
            }
        // A language may follow the character set (RFC 2231 section 5).
        return bytes.flatMap { text(of: $0, parts[0].prefix { $0 != "*" }.lowercased()) }
    }

    private static func text(of bytes: [UInt8], _ characterSet: String) -> String? {
        switch characterSet {
        case "utf-8", "us-ascii": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1":
            var scalars = String.UnicodeScalarView()
            scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
            return String(scalars)
        default: return nil
        }
    }

    /// Decodes the encoding `Q` (section 4.2): `_` is a space, and `=C3` a byte.
    private static func quoted(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "="):
                guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, digits.utf8.allSatisfy(\.isASCIILetterOrDigit),
                    let decoded = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
