/// HTML markup.
///
/// Text is escaped when it is added. The names of elements and attributes are static strings. Input from outside of the program
/// can therefore only become text.
struct Markup: Sendable, Hashable {
    private(set) var html: String

    static let nothing = Markup(html: "")

    fileprivate init(html: String) { self.html = html }

    /// Creates markup from text, which is escaped.
    init(_ text: String) { html = text.escapedForHTML }

    static func + (left: Markup, right: Markup) -> Markup { Markup(html: left.html + right.html) }

    /// Joins markup.
    static func joined(_ parts: [Markup]) -> Markup {
        if parts.count == 1 { return parts[0] }
        var html = ""
        html.reserveCapacity(parts.reduce(0) { $0 + $1.html.utf8.count })
        for part in parts { html += part.html }
        return Markup(html: html)
    }

    /// Creates markup from a part of other markup.
    static func xml(_ html: some StringProtocol) -> Markup { Markup(html: String(html)) }

    /// True when the markup is empty or contains only hidden inputs.
    var isInvisible: Bool {
        html.utf8.split(separator: UInt8(ascii: "<")).allSatisfy { $0.starts(with: "input type=\"hidden\"".utf8) }
    }

    /// Returns a complete HTML document.
    static func document(_ content: Markup) -> String { "<!doctype html>\n\(content.html)\n" }
}

extension Markup {
    /// The attributes of an element, in order.
    struct Attributes: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private(set) var html = ""

        init(dictionaryLiteral elements: (StaticString, String?)...) {
            for case (let name, let value?) in elements {
                html += " "
                html += name.text
                if value.isEmpty { continue }
                html += "=\""
                html += value.escapedForHTML
                html += "\""
            }
        }

        static func + (left: Attributes, right: Attributes) -> Attributes {
            var sum = left
            sum.html += right.html
            return sum
        }
    }

    /// Returns the value of a Boolean attribute: empty if it is present, nil if it is absent.
    static func flag(_ isThere: Bool) -> String? { isThere ? "" : nil }
}

/// A result builder that joins markup.
///
/// Strings become escaped text.
@resultBuilder
enum MarkupBuilder {
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildExpression(_ text: String) -> Markup { Markup(text) }
    static func buildBlock(_ parts: Markup...) -> Markup { Markup.joined(parts) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? .nothing }
    static func buildEither(first part: Markup) -> Markup { part }
    static func buildEither(second part: Markup) -> Markup { part }
    static func buildArray(_ parts: [Markup]) -> Markup { Markup.joined(parts) }
}

/// Creates an element with content.
///
/// An attribute with a nil value is omitted, and one with an empty value has only a name.
func tag(
    _ name: StaticString, _ attributes: Markup.Attributes = [:], @MarkupBuilder _ content: () -> Markup = { .nothing }
) -> Markup {
    let (name, content) = (name.text, content().html)
    var html = ""
    html.reserveCapacity(2 * name.utf8.count + attributes.html.utf8.count + content.utf8.count + 5)
    html += "<"
    html += name
    html += attributes.html
    html += ">"
    html += content
    html += "</"
    html += name
    html += ">"
    return Markup(html: html)
}

/// Creates a void element, which never has content.
func void(_ name: StaticString, _ attributes: Markup.Attributes = [:]) -> Markup {
    Markup(html: "<" + name.text + attributes.html + ">")
}

/// Creates a data block: a `script` element with text for programs, which browsers neither show nor run.
///
/// Each `<` becomes an escape sequence of JavaScript, so that the text cannot end the element. It has the same meaning inside of
/// string literals only.
func dataBlock(_ text: String) -> Markup {
    Markup(html: "<script type=\"text/plain\">\(text.replacing("<", with: "\\u003C"))</script>")
}

extension StaticString {
    /// The text as a string, which has no memory of its own when it is as short as most names.
    fileprivate var text: String { withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }
}

extension String {
    /// The text with all characters escaped that have a meaning in HTML text or in quoted attribute values.
    fileprivate var escapedForHTML: String {
        guard utf8.contains(where: Self.isEscapedInHTML) else { return self }
        var escaped = ""
        escaped.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // Browsers replace or drop these characters.
            case "\0": escaped += "\u{FFFD}"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func isEscapedInHTML(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0,
            UInt8(ascii: "\r"):
            true
        default: false
        }
    }
}
