/// A line of `signet watch`, made of parts in different styles.
struct WatchLine: Sendable, Hashable {
    /// The appearance of a part.
    ///
    /// Each state can be seen without it too.
    enum Style: String, Sendable {
        case plain = "0"
        case bold = "1"
        case faint = "2"
        /// Something needs attention soon.
        case warning = "1;33"
        /// An error, or a code that ends.
        case alert = "1;31"
    }

    private struct Part: Sendable, Hashable {
        let text: String
        let style: Style
    }

    private var parts: [Part] = []
    /// The number of columns.
    private(set) var width = 0
    /// True for the selected line, which is drawn in reverse.
    var isSelected = false

    /// Creates an empty line.
    init() {}

    /// Creates a line in one style.
    init(_ text: String, _ style: Style = .plain) { add(text, style) }

    /// Adds a part without control characters at the end.
    mutating func add(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        parts.append(Part(text: text, style: style))
        width += text.displayWidth
    }

    /// Adds spaces up to a column; nothing when the line is longer.
    mutating func fill(to column: Int) { add(String(repeating: " ", count: max(0, column - width))) }

    /// Adds a part at the right end of a line with a number of columns, and shortens what is before it.
    mutating func addRight(_ text: String, _ style: Style = .plain, columns: Int) {
        let free = columns - text.displayWidth
        guard free > 0 else { return }
        shorten(to: free - 1)
        fill(to: free)
        add(text, style)
    }

    /// Shortens the line to a number of columns, with an ellipsis at its end.
    mutating func shorten(to columns: Int) {
        guard width > columns else { return }
        let all = parts
        (parts, width) = ([], 0)
        for part in all {
            let free = columns - width
            let next = part.text.displayWidth
            // The last part that fits keeps a column for the ellipsis.
            guard next < free else {
                return add((part.text + "…").shortened(to: free), part.style)
            }
            add(part.text, part.style)
        }
    }

    /// Returns the line with exactly a number of columns.
    /// - Parameters:
    ///   - columns: The width of the terminal.
    ///   - colors: True to use the control sequences SGR of ECMA-48 for the styles. Nothing else in the result is a control
    ///     character.
    /// - Returns: The text.
    func text(columns: Int, colors: Bool) -> String {
        var line = self
        line.shorten(to: columns)
        line.fill(to: columns)
        return line.parts.reduce(into: "") { text, part in
            var codes: [String] = []
            if isSelected { codes.append("7") }
            if part.style != .plain { codes.append(part.style.rawValue) }
            if colors, !codes.isEmpty {
                text += "\u{1B}[\(codes.joined(separator: ";"))m\(part.text)\u{1B}[0m"
            } else {
                text += part.text
            }
        }
    }
}
