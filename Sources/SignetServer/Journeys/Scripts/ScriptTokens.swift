/// A token of a script.
struct ScriptToken: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case name(String)
        case number(Double)
        case string(String)
        /// A template literal: texts, and the source of expressions.
        case template([TemplatePart])
        case symbol(String)
        /// A regular expression and its flags.
        case pattern(String, flags: String)
        case end
    }

    enum TemplatePart: Sendable, Hashable {
        case text(String)
        case source(String)
    }

    let kind: Kind
    let line: Int
    /// True when a line break precedes the token.
    let isAfterBreak: Bool

    /// The token in the form of the script, for messages.
    var text: String {
        switch kind {
        case .name(let name): name
        case .number(let number): "\(number)"
        case .string: "a string"
        case .template: "a template"
        case .symbol(let symbol): symbol
        case .pattern: "a regular expression"
        case .end: "the end of the script"
        }
    }
}

/// Splits a script into tokens.
struct ScriptTokenizer {
    /// The longest script, in bytes: 64 KiB.
    static let maxSize = 64 * 1024

    private static let symbols = [
        ">>>=", "===", "!==", ">>>", "...", "**=", "<<=", ">>=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "-=",
        "*=",
        "/=", "%=", "&=", "|=", "^=", "++", "--", "**", "<<", ">>", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-",
        "*",
        "/", "%", "!", "=", "?", ":", ".", "&", "|", "^", "~",
    ].map { Array($0) }

    private let source: [Character]
    private var index = 0
    private var line: Int
    private var isAfterBreak = false
    private var tokens: [ScriptToken] = []

    private init(_ source: [Character], line: Int) {
        self.source = source
        self.line = line
    }

    /// Returns the tokens of a script, with ``ScriptToken/Kind/end`` as the last one.
    /// - Parameters:
    ///   - source: The source text.
    ///   - line: The number of its first line.
    /// - Returns: The tokens.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    static func tokens(_ source: String, line: Int = 1) throws(ScriptError) -> [ScriptToken] {
        guard source.utf8.count <= maxSize else { throw .unsupported("more than 64 KiB of text", line: nil) }
        var tokenizer = ScriptTokenizer(Array(source), line: line)
        while try tokenizer.next() {}
        return tokenizer.tokens
    }

    private var present: Character? { source.indices.contains(index) ? source[index] : nil }

    private func isAt(_ text: [Character]) -> Bool { source[index...].starts(with: text) }

    private mutating func add(_ kind: ScriptToken.Kind, line start: Int) {
        tokens.append(ScriptToken(kind: kind, line: start, isAfterBreak: isAfterBreak))
        isAfterBreak = false
    }

    /// Reads the next token; false at the end.
    private mutating func next() throws(ScriptError) -> Bool {
        try skipSpace()
        let start = line
        guard let character = present else {
            add(.end, line: start)
            return false
        }
        if character.isLetter || character == "_" || character == "$" {
            let name = take { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
            add(.name(name), line: start)
        } else if character.isASCII, character.isNumber {
            try readNumber(start)
        } else if character == "\"" || character == "'" {
            index += 1
            add(.string(try string(until: character)), line: start)
        } else if character == "`" {
            index += 1
            add(.template(try template()), line: start)
        } else if character == "/", !endsValue {
            add(try pattern(), line: start)
        } else if let symbol = Self.symbols.first(where: { isAt($0) }) {
            index += symbol.count
            add(.symbol(String(symbol)), line: start)
        } else {
            throw .unsupported("the character `\(character)`", line: line)
        }
        return true
    }

    /// True when the last token ends a value, so that a slash divides.
    private var endsValue: Bool {
        switch tokens.last?.kind {
        case .name(let name): !["return", "typeof", "case", "in", "of"].contains(name)
        case .number, .string, .template, .pattern: true
        case .symbol(let symbol): [")", "]", "}"].contains(symbol)
        case .end, nil: false
        }
    }

    private mutating func take(while isPart: (Character) -> Bool) -> String {
        let start = index
        while let character = present, isPart(character) { index += 1 }
        return String(source[start..<index])
    }

    private mutating func skipSpace() throws(ScriptError) {
        while let character = present {
            if character.isNewline {
                line += 1
                isAfterBreak = true
                index += 1
            } else if character.isWhitespace || character == "\u{FEFF}" {
                index += 1
            } else if isAt(["/", "/"]) {
                _ = take { !$0.isNewline }
            } else if isAt(["/", "*"]) {
                index += 2
                while index < source.count, !isAt(["*", "/"]) {
                    if source[index].isNewline { (line, isAfterBreak) = (line + 1, true) }
                    index += 1
                }
                guard index < source.count else { throw .unsupported("a comment without an end", line: line) }
                index += 2
            } else {
                return
            }
        }
    }

    private mutating func readNumber(_ start: Int) throws(ScriptError) {
        let text = take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") }
        let hexadecimal = text.lowercased().hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16).map { Double($0) } : nil
        guard let number = hexadecimal ?? Double(text), number.isFinite else {
            throw .unsupported("the number `\(text)`", line: line)
        }
        add(.number(number), line: start)
    }

    private mutating func string(until quote: Character) throws(ScriptError) -> String {
        var text = ""
        while let character = present, !character.isNewline {
            index += 1
            if character == quote { return text }
            text += character == "\\" ? try escaped() : String(character)
        }
        throw .unsupported("a string without an end", line: line)
    }

    /// Reads the character after a backslash.
    private mutating func escaped() throws(ScriptError) -> String {
        guard let character = present else { throw .unsupported("a string without an end", line: line) }
        index += 1
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "0": return "\0"
        case "u", "x":
            let length = character == "u" ? 4 : 2
            guard index + length <= source.count, let code = UInt32(String(source[index..<index + length]), radix: 16),
                let scalar = Unicode.Scalar(code)
            else { throw .unsupported("the escape `\\\(character)`", line: line) }
            index += length
            return String(Character(scalar))
        default:
            guard character.isNewline else { return String(character) }
            line += 1
            return ""
        }
    }

    /// Reads a regular expression, in which a slash of a set does not end it.
    private mutating func pattern() throws(ScriptError) -> ScriptToken.Kind {
        index += 1
        let start = index
        var isInSet = false
        while let character = present, !character.isNewline, character != "/" || isInSet {
            if character == "[" { isInSet = true }
            if character == "]" { isInSet = false }
            index += character == "\\" ? 2 : 1
        }
        guard present == "/" else { throw .unsupported("a regular expression without an end", line: line) }
        let text = String(source[start..<index])
        index += 1
        return .pattern(text, flags: take { $0.isLetter })
    }

    private mutating func template() throws(ScriptError) -> [ScriptToken.TemplatePart] {
        var parts: [ScriptToken.TemplatePart] = []
        var text = ""
        while let character = present {
            index += 1
            if character == "`" { return parts + [.text(text)] }
            if character == "$", present == "{" {
                index += 1
                let source = take { $0 != "}" && $0 != "`" && $0 != "{" }
                guard present == "}" else { throw .unsupported("a template with nested braces", line: line) }
                index += 1
                parts += [.text(text), .source(source)]
                text = ""
            } else {
                if character.isNewline { line += 1 }
                text += character == "\\" ? try escaped() : String(character)
            }
        }
        throw .unsupported("a template without an end", line: line)
    }
}
