import SignetCore
import YAMLText

/// Writes values as YAML that ``YAMLText`` reads back unchanged.
enum ConfigurationText {
    /// The maximum length of a line with a whole list or mapping.
    private static let lineLength = 120

    /// Returns a mapping in block style.
    /// - Parameters:
    ///   - entries: The entries.
    ///   - indent: The number of spaces before each line.
    /// - Returns: Lines that end with a line feed.
    static func block(_ entries: [MarkedValue.Entry], indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return entries.map { margin + name($0.key) + ":" + value($0.value, indent: indent) }.joined()
    }

    /// Returns a value after a colon or a dash, up to the end of its last line.
    private static func value(_ value: MarkedValue, indent: Int) -> String {
        let line = flow(value)
        if line.count + indent <= lineLength, !hasLiteral(value) { return " \(line)\n" }
        switch value.content {
        case .scalar(let text, _): return hasLiteral(value) ? literal(text, indent: indent + 2) : " \(line)\n"
        case .mapping(let entries): return "\n" + block(entries, indent: indent + 2)
        case .list(let elements):
            let margin = String(repeating: " ", count: indent + 2)
            return "\n" + elements.map { "\(margin)-" + self.element($0, indent: indent + 4) }.joined()
        }
    }

    /// Returns an element of a list: a mapping begins in the line of its dash.
    private static func element(_ element: MarkedValue, indent: Int) -> String {
        let line = flow(element)
        guard line.count + indent > lineLength || hasLiteral(element), let entries = element.mapping else {
            return value(element, indent: indent)
        }
        return " " + String(block(entries, indent: indent).drop { $0 == " " })
    }

    /// True when a text in the value has several lines that can be written as they are (YAML 1.2 section 8.1.2).
    private static func hasLiteral(_ value: MarkedValue) -> Bool {
        switch value.content {
        case .list(let elements): return elements.contains(where: hasLiteral)
        case .mapping(let entries): return entries.contains { hasLiteral($0.value) }
        case .scalar(let text, let isQuoted):
            guard isQuoted, text.contains("\n"), let first = text.first, !first.isWhitespace, !text.hasSuffix("\n\n") else {
                return false
            }
            // The reader of configuration files looks for anchors before it parses.
            return text.unicodeScalars.allSatisfy { $0 != "&" && (isVisible($0) || $0 == "\n" || $0 == "\t") }
        }
    }

    /// Returns a text of several lines in literal style.
    private static func literal(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        let isEnded = text.hasSuffix("\n")
        let lines = (isEnded ? text.dropLast() : text[...]).split(separator: "\n", omittingEmptySubsequences: false)
        return (isEnded ? " |\n" : " |-\n") + lines.map { $0.isEmpty ? "\n" : "\(margin)\($0)\n" }.joined()
    }

    /// Returns a value in one line.
    private static func flow(_ value: MarkedValue) -> String {
        switch value.content {
        case .scalar(let text, let isQuoted): isQuoted ? string(text) : text
        case .list(let elements): "[" + elements.map(flow).joined(separator: ", ") + "]"
        case .mapping(let entries): "{" + entries.map { "\(name($0.key)): \(flow($0.value))" }.joined(separator: ", ") + "}"
        }
    }

    /// Returns the name of an entry: names are always strings, so `true` needs no quotes.
    private static func name(_ key: String) -> String { ["true", "false"].contains(key) ? key : string(key) }

    /// Returns a string, in quotes unless it is a word or a few words that YAML cannot take for anything else.
    static func string(_ text: String) -> String {
        if isPlain(text) { return text }
        return "\"" + text.unicodeScalars.map { isPrintable($0) ? String($0) : escape($0) }.joined() + "\""
    }

    /// The words that YAML reads as another type than a string.
    private static let reserved: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter, text.utf8.count <= 60 else { return false }
        guard text.utf8.last != UInt8(ascii: " "), !text.contains("  ") else { return false }
        return text.utf8.allSatisfy { $0.isASCIILetterOrDigit || " _-.".utf8.contains($0) }
            && !reserved.contains(text.lowercased())
    }

    /// True for a character that stands for itself in double quotes (YAML 1.2 section 5.7).
    ///
    /// An asterisk is escaped, because the reader of configuration files looks for aliases before it parses.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        isVisible(scalar) && !["\"", "\\", "*"].contains(scalar)
    }

    /// True for a character that YAML allows (YAML 1.2 section 5.1) and that has a shape.
    ///
    /// Characters without a shape, such as those that change the direction of text, would hide what the file says.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.generalCategory == .format { return false }
        return switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x1_0000...0x10_FFFF: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\t": return "\\t"
        default:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
    }
}

extension MarkedValue {
    /// Creates a value from JSON, with one position for all of it.
    ///
    /// The members of objects are in alphabetical order.
    init(_ json: JSONValue, at position: SourcePosition) {
        let content: Content =
            switch json {
            case .null: .scalar("null", isQuoted: false)
            case .string(let text): .scalar(text, isQuoted: true)
            case .array(let elements): .list(elements.map { MarkedValue($0, at: position) })
            case .object(let members):
                .mapping(
                    members.sorted { $0.key < $1.key }.map {
                        Entry(key: $0.key, position: position, value: MarkedValue($0.value, at: position))
                    })
            default: .scalar(JSON.text(of: json), isQuoted: false)
            }
        self.init(content: content, position: position)
    }
}
