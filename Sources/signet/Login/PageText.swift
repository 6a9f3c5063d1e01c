import SignetCore

// Texts that a server writes for its page. A terminal shows what a browser would show: `<br/>` is a line break, and character
// references are characters. ``TerminalText`` escapes the result, because a reference can name a control character.

extension String {
    /// The text of a page, which may have several lines.
    var pageLines: String { CharacterReferences.decode(replacingLineBreaks(with: "\n")) }

    /// The text of a page in one line, such as a prompt or the name of a choice.
    var pageLine: String { CharacterReferences.decode(replacingLineBreaks(with: " ")) }

    /// Returns the text with another text in place of each `<br>`, `<br/>` and `<br />`.
    private func replacingLineBreaks(with replacement: String) -> String {
        var result = ""
        var rest = self[...]
        while let mark = rest.firstIndex(of: "<") {
            result += rest[..<mark]
            rest = rest[mark...]
            let tag = rest.prefix(Self.maxTagLength).prefix { $0 != ">" }
            let isBreak =
                tag.endIndex < rest.endIndex && rest[tag.endIndex] == ">"
                && ["<br", "<br/"].contains(tag.lowercased().filter { !$0.isWhitespace })
            result += isBreak ? replacement : "<"
            rest = isBreak ? rest[rest.index(after: tag.endIndex)...] : rest.dropFirst()
        }
        return result + rest
    }

    /// The maximum length of a line break's tag, which may contain spaces.
    private static let maxTagLength = 16
}
