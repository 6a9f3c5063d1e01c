import SignetCore

/// Text for a terminal, standard error or a log, in which no value can act on the terminal or forge a line.
///
/// Only literals are written unchanged. Every interpolated value is escaped, a line feed included, because it may come from a
/// server, a file or another user: terminal control sequences, characters that change the text direction, and characters without
/// a shape appear as `\u{1B}`. Enrollment URIs, which contain secrets, are left out.
struct TerminalText: ExpressibleByStringInterpolation, Sendable, Hashable, CustomStringConvertible {
    /// The text as it is written.
    let description: String

    /// Creates text from a literal of the program.
    init(stringLiteral text: String) { description = text }

    /// Creates text from a literal with escaped values.
    init(stringInterpolation: Interpolation) { description = stringInterpolation.text }

    /// Escapes a value.
    init(_ value: String) { description = Redaction.withoutSecrets(value).escaped(keepingLines: false) }

    /// Escapes a value that may have several lines, such as the terms of a server.
    init(lines value: String) { description = Redaction.withoutSecrets(value).escaped(keepingLines: true) }

    /// Creates text that is written unchanged: JSON, which is escaped in its own way, or a drawing.
    init(verbatim text: String) { description = text }

    static func + (first: TerminalText, second: TerminalText) -> TerminalText {
        TerminalText(verbatim: first.description + second.description)
    }

    /// Collects the literals and the escaped values of an interpolation.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16 * interpolationCount) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ text: TerminalText) { self.text += text.description }
        mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += TerminalText(value.description).description
        }
        mutating func appendInterpolation(_ value: any Error) { text += TerminalText("\(value)" as String).description }
    }
}

extension Sequence<TerminalText> {
    /// Returns the texts with a literal of the program between them.
    func joined(separator: String) -> TerminalText {
        TerminalText(verbatim: map(\.description).joined(separator: separator))
    }
}

extension String {
    /// Returns the text with the characters that aren't visible escaped as in Swift's string literals.
    fileprivate func escaped(keepingLines: Bool) -> String {
        guard !unicodeScalars.allSatisfy(\.isVisible) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case _ where scalar.isVisible: text.unicodeScalars.append(scalar)
            case "\n": text += keepingLines ? "\n" : "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
    }
}

extension Unicode.Scalar {
    /// True if a terminal shows the character and it neither controls the terminal nor changes the direction of other text.
    ///
    /// A variation selector, which is part of many emoji, changes only the character before it.
    var isVisible: Bool {
        if isASCII { return 0x20..<0x7F ~= value }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
        }
    }
}
