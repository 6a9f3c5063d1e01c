/// A regular expression of a script, compiled to steps that ``ScriptPatternMatcher`` runs.
///
/// It is the syntax of JavaScript without lookbehind, named groups, properties of characters (`\p`) and the flags `u`, `v` and `y`.
struct ScriptPattern: Sendable, Hashable {
    /// A step of a match.
    enum Step: Sendable, Hashable {
        /// Takes one character of the set.
        case take(ScriptPatternSet)
        /// Goes on at the first index, and when that does not match, at the second.
        case split(Int, Int)
        case jump(Int)
        /// Stores the position.
        case save(Int)
        /// Removes the stored positions.
        case clear(Range<Int>)
        /// Fails when the position is the stored one: an iteration has taken no character.
        case progress(Int)
        case start
        case end
        /// Requires a boundary of a word, or with false the inside or the outside of one.
        case boundary(Bool)
        /// Takes the text of a group once more.
        case reference(Int)
        /// Requires that the steps up to the index match here, or with false that they do not.
        case look(end: Int, isWanted: Bool)
        case accept
    }

    /// The flags of a regular expression.
    struct Flags: Sendable, Hashable {
        var isGlobal = false
        var ignoresCase = false
        var isMultiline = false
        var dotTakesBreaks = false
    }

    let source: String
    let flagText: String
    let flags: Flags
    let steps: [Step]
    /// The number of groups that store what they match.
    let groupCount: Int
    /// The number of stored positions: two of the whole match and of each group, and one of each loop.
    let positionCount: Int

    /// Reads a regular expression.
    /// - Parameters:
    ///   - source: The text between the slashes.
    ///   - text: The flags after them.
    ///   - line: The line of the script, for messages.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    init(_ source: String, flags text: String, line: Int) throws(ScriptError) {
        guard let flags = Flags(text) else { throw .unsupported("the flags `\(text)` of a regular expression", line: line) }
        var parser = ScriptPatternParser(source, flags, line: line)
        let node = try parser.pattern()
        var compiler = ScriptPatternCompiler(groupCount: parser.groupCount, line: line)
        try compiler.compile(node)
        (self.source, self.flagText, self.flags) = (source, text, flags)
        (steps, groupCount, positionCount) = (compiler.steps, parser.groupCount, compiler.positionCount)
    }
}

extension ScriptPattern {
    /// Creates a regular expression that matches a text as it is.
    init(literal text: String, isGlobal: Bool) {
        (source, flagText, flags) = (text, isGlobal ? "g" : "", Flags(isGlobal: isGlobal))
        let characters = text.unicodeScalars.map { Step.take(ScriptPatternSet(items: [.range($0.value, $0.value)])) }
        steps = [.save(0)] + characters + [.save(1), .accept]
        (groupCount, positionCount) = (0, 2)
    }
}

extension ScriptPattern.Flags {
    /// Creates the flags; nil for one that this server does not have.
    fileprivate init?(_ text: String) {
        self.init()
        for flag in text {
            switch flag {
            case "g": isGlobal = true
            case "i": ignoresCase = true
            case "m": isMultiline = true
            case "s": dotTakesBreaks = true
            default: return nil
            }
        }
    }
}

/// A part of a regular expression.
indirect enum ScriptPatternNode: Sendable, Hashable {
    case take(ScriptPatternSet)
    case start
    case end
    case boundary(Bool)
    case reference(Int)
    case sequence([ScriptPatternNode])
    case choice([ScriptPatternNode])
    /// A group with its number; nil for one that stores nothing.
    case group(ScriptPatternNode, Int?)
    case look(ScriptPatternNode, isWanted: Bool)
    /// A repetition. `groups` are the numbers of the groups in it.
    case repeated(ScriptPatternNode, least: Int, most: Int?, isLazy: Bool, groups: Range<Int>)
}

/// A set of characters in a regular expression.
struct ScriptPatternSet: Sendable, Hashable {
    enum Item: Sendable, Hashable {
        case range(UInt32, UInt32)
        case digit
        case word
        case space
        /// A character that ends a line.
        case lineBreak
        /// All characters that another set does not have.
        case except([Item])
    }

    var items: [Item] = []
    var isInverted = false

    /// Returns true when the set has the character.
    func contains(_ scalar: Unicode.Scalar, ignoringCase: Bool) -> Bool {
        let isFound = ignoringCase ? scalar.variants.contains { has($0) } : has(scalar)
        return isFound != isInverted
    }

    private func has(_ scalar: Unicode.Scalar) -> Bool { items.contains { $0.has(scalar) } }
}

extension ScriptPatternSet.Item {
    fileprivate func has(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .range(let first, let last): first <= scalar.value && scalar.value <= last
        case .digit: ("0"..."9").contains(scalar)
        case .word: scalar.isWordCharacter
        case .space: scalar.properties.isWhitespace || scalar == "\u{FEFF}"
        case .lineBreak: scalar.endsLine
        case .except(let items): !items.contains { $0.has(scalar) }
        }
    }
}

extension Unicode.Scalar {
    /// True for a character of `\w`.
    var isWordCharacter: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self) || self == "_"
    }

    /// True for a character that ends a line in JavaScript.
    var endsLine: Bool { self == "\n" || self == "\r" || self == "\u{2028}" || self == "\u{2029}" }

    /// The character, and its forms in lower and upper case when they are single characters.
    var variants: [Unicode.Scalar] {
        [self]
            + [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { text in
                text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
            }
    }
}

/// A regular expression as a value of a running script.
final class ScriptRegExp {
    let pattern: ScriptPattern
    /// The number of characters before the next search of a pattern with the flag `g`.
    var lastIndex = 0

    init(_ pattern: ScriptPattern) { self.pattern = pattern }
}
