/// Markup for a browser.
///
/// Text is escaped when it becomes part of it, and the names of elements and attributes are literals of the program: whatever came
/// from outside can be text and nothing else.
struct Markup: Sendable, Hashable {
    private(set) var html: String

    static let nothing = Markup(html: "")

    private init(html: String) { self.html = html }

    /// Text.
    init(_ text: String) { html = text.escapedForHTML }

    /// An element. An attribute whose value is nil is left out, one whose value is empty only stands there.
    init(_ name: StaticString, _ attributes: Markup.Attributes, _ content: Markup) {
        html = "<\(name)\(attributes.html)>\(content.html)</\(name)>"
    }

    /// An element that never has content.
    init(void name: StaticString, _ attributes: Markup.Attributes) {
        html = "<\(name)\(attributes.html)>"
    }

    static func + (left: Markup, right: Markup) -> Markup { Markup(html: left.html + right.html) }

    /// Whether there is nothing to see: no markup, or hidden inputs only.
    var isInvisible: Bool { html.split(separator: "<").allSatisfy { $0.hasPrefix("input type=\"hidden\"") } }

    /// A whole document.
    static func document(_ content: Markup) -> String { "<!doctype html>\n\(content.html)\n" }
}

extension Markup {
    /// The attributes of an element, in order.
    struct Attributes: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private(set) var html = ""

        init(dictionaryLiteral elements: (StaticString, String?)...) {
            for case (let name, let value?) in elements {
                html += value.isEmpty ? " \(name)" : " \(name)=\"\(value.escapedForHTML)\""
            }
        }

        static func + (left: Attributes, right: Attributes) -> Attributes {
            var sum = left
            sum.html += right.html
            return sum
        }
    }

    /// The value of an attribute that is there or not.
    static func flag(_ isThere: Bool) -> String? { isThere ? "" : nil }
}

/// Puts markup together from statements; a string is text.
@resultBuilder
enum MarkupBuilder {
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildExpression(_ text: String) -> Markup { Markup(text) }
    static func buildBlock(_ parts: Markup...) -> Markup { parts.reduce(.nothing, +) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? .nothing }
    static func buildEither(first part: Markup) -> Markup { part }
    static func buildEither(second part: Markup) -> Markup { part }
    static func buildArray(_ parts: [Markup]) -> Markup { parts.reduce(.nothing, +) }
}

/// An element with content.
func tag(
    _ name: StaticString, _ attributes: Markup.Attributes = [:], @MarkupBuilder _ content: () -> Markup = { .nothing }
) -> Markup {
    Markup(name, attributes, content())
}

/// An element that never has content.
func void(_ name: StaticString, _ attributes: Markup.Attributes = [:]) -> Markup {
    Markup(void: name, attributes)
}

extension String {
    /// The text with everything that means something in HTML, as text or between quotes, written as a reference.
    fileprivate var escapedForHTML: String {
        var escaped = ""
        escaped.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // A browser would read these as something else, or not at all.
            case "\0": escaped += "\u{FFFD}"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
