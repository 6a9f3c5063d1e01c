package import SignetCore

/// A value in a YAML file, with its position.
package struct MarkedValue: Sendable {
    package enum Content: Sendable {
        /// A scalar. If it isn't quoted, it may also stand for a number, a Boolean value or null.
        case scalar(String, isQuoted: Bool)
        case list([MarkedValue])
        case mapping([Entry])
    }

    package struct Entry: Sendable {
        package let key: String
        package let position: SourcePosition
        package let value: MarkedValue

        /// Creates an entry.
        package init(key: String, position: SourcePosition, value: MarkedValue) {
            self.key = key
            self.position = position
            self.value = value
        }
    }

    package let content: Content
    package let position: SourcePosition

    /// Creates a value that comes from another source than a YAML file.
    package init(content: Content, position: SourcePosition) {
        self.content = content
        self.position = position
    }

    /// The text of a scalar of any type, as written.
    ///
    /// Nil for an empty value, `~` and `null`, and for lists and mappings.
    package var text: String? {
        guard case .scalar(let text, _) = content, !isNothing else { return nil }
        return text
    }

    /// True when the value is `~`, `null`, or empty after the colon.
    package var isNothing: Bool {
        guard case .scalar(let text, isQuoted: false) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    package var bool: Bool? {
        guard case .scalar(let text, isQuoted: false) = content else { return nil }
        return switch text {
        case "true", "True", "TRUE": true
        case "false", "False", "FALSE": false
        default: nil
        }
    }

    package var integer: Int? {
        guard case .scalar(let text, isQuoted: false) = content else { return nil }
        return Int(text)
    }

    package var list: [MarkedValue]? { if case .list(let elements) = content { elements } else { nil } }
    package var mapping: [Entry]? { if case .mapping(let entries) = content { entries } else { nil } }

    /// The value as JSON by YAML's core schema; a quoted scalar is always a string.
    package var json: JSONValue {
        switch content {
        case .list(let elements): return .array(elements.map(\.json))
        case .mapping(let entries):
            return .object(Dictionary(entries.map { ($0.key, $0.value.json) }, uniquingKeysWith: { _, last in last }))
        case .scalar(let text, let isQuoted):
            if isQuoted { return .string(text) }
            if isNothing { return .null }
            if let bool { return .bool(bool) }
            if let number = Int64(text) { return .integer(number) }
            if text.utf8.first.map(Self.startsNumber) == true, let number = Double(text), number.isFinite {
                return .number(number)
            }
            return .string(text)
        }
    }

    /// True when a number can start with this character.
    ///
    /// Swift also parses `nan` and `infinity`, which start with a letter.
    private static func startsNumber(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) || "+-.".utf8.contains(character)
    }

    /// The kind of the value, for error messages.
    package var kind: String {
        switch content {
        case .list: "a list"
        case .mapping: "a mapping"
        case .scalar: isNothing ? "nothing" : "a single value"
        }
    }
}
