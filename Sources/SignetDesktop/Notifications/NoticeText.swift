/// Text of a server for a notification of the desktop.
enum NoticeText {
    /// Puts a text in one line, without characters that have no shape or that change the direction of other text.
    ///
    /// A text that a server chose cannot begin a line of its own in this way, which could pass for a line of Signet's.
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The maximum number of characters; a longer text ends with `…`.
    /// - Returns: The line.
    static func line(_ text: String, limit: Int) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                if scalars.last != " " { scalars.append(" ") }
            } else if isShown(scalar) {
                scalars.append(scalar)
            }
            // Combining characters could make one character of any length.
            if scalars.count >= 4 * limit { break }
        }
        var words = String(scalars)[...]
        while words.first == " " { words.removeFirst() }
        while words.last == " " { words.removeLast() }
        guard words.count > limit else { return String(words) }
        return String(words.prefix(limit - 1)) + "…"
    }

    /// Returns a text in which no character begins markup (Desktop Notifications Specification, "Markup").
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.append(character)
            }
        }
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: !scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector
        }
    }
}
