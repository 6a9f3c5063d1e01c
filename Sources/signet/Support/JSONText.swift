import SignetCore

/// Formats the JSON output of the commands.
enum JSONText {
    /// Returns a value in one line, with sorted members.
    ///
    /// Terminal control characters and characters without a shape are escaped, which doesn't change the value.
    static func line(_ value: JSONValue) -> TerminalText {
        let text = JSON.text(of: value)
        guard !text.unicodeScalars.allSatisfy(\.isVisible) else { return TerminalText(verbatim: text) }
        return TerminalText(verbatim: text.unicodeScalars.map { $0.isVisible ? String($0) : escape($0) }.joined())
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    /// Makes an object without the members whose value is nil.
    static func object(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }
}

extension JSONValue {
    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
    static func string(_ text: String?) -> JSONValue? { text.map { .string($0) } }
}
