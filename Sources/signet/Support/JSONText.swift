import SignetCore

/// JSON for programs that read our output.
enum JSONText {
    /// One line, members sorted. Characters that could steer a terminal are written as escapes, which is the same JSON.
    static func line(_ value: JSONValue) -> String {
        let text = JSON.text(of: value)
        guard !text.isSafeToShow else { return text }
        return text.unicodeScalars.map { String($0).isSafeToShow ? String($0) : escape($0) }.joined()
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    /// A member that is left out when there is no value.
    static func object(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }
}

extension JSONValue {
    static func string(_ text: String?) -> JSONValue? { text.map { .string($0) } }
}
