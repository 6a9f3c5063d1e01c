/// Reads the text of a regular expression.
struct ScriptPatternParser {
    /// The longest regular expression, in characters.
    private static let maxLength = 1000
    private static let maxDepth = 20
    private static let maxGroups = 9
    private static let maxCount = 1000

    private let source: [Unicode.Scalar]
    private let flags: ScriptPattern.Flags
    private let line: Int
    private var index = 0
    private var depth = 0
    /// The number of groups that store what they match.
    private(set) var groupCount = 0
    private var greatestReference = 0

    init(_ source: String, _ flags: ScriptPattern.Flags, line: Int) {
        self.source = Array(source.unicodeScalars)
        self.flags = flags
        self.line = line
    }

    /// Reads the whole regular expression.
    /// - Throws: ``ScriptError/unsupported(_:line:)``.
    mutating func pattern() throws(ScriptError) -> ScriptPatternNode {
        guard source.count <= Self.maxLength else { throw refusal("more than \(Self.maxLength) characters") }
        let node = try choice()
        guard index == source.count else { throw refusal("`\(source[index])` here") }
        guard greatestReference <= groupCount else { throw refusal("`\\\(greatestReference)`") }
        return node
    }

    private var present: Unicode.Scalar? { source.indices.contains(index) ? source[index] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard source[index...].starts(with: text.unicodeScalars) else { return false }
        index += text.unicodeScalars.count
        return true
    }

    private func refusal(_ part: String) -> ScriptError { .unsupported("a regular expression with \(part)", line: line) }

    // MARK: Parts

    private mutating func choice() throws(ScriptError) -> ScriptPatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else { throw refusal("more than \(Self.maxDepth) nested groups") }
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws(ScriptError) -> ScriptPatternNode {
        var parts: [ScriptPatternNode] = []
        while let present, present != "|", present != ")" {
            let before = groupCount
            let (part, repeats) = try term()
            parts.append(try repeats ? repeated(part, groups: before + 1..<groupCount + 1) : part)
        }
        return .sequence(parts)
    }

    /// Reads a part without what repeats it; false for a part that cannot be repeated.
    private mutating func term() throws(ScriptError) -> (ScriptPatternNode, Bool) {
        if take("^") { return (.start, false) }
        if take("$") { return (.end, false) }
        if take("\\b") { return (.boundary(true), false) }
        if take("\\B") { return (.boundary(false), false) }
        if take("(?=") { return (.look(try group(), isWanted: true), false) }
        if take("(?!") { return (.look(try group(), isWanted: false), false) }
        if take("(?:") { return (.group(try group(), nil), true) }
        if take("(?<") { throw refusal("`(?<`") }
        if take("(") {
            groupCount += 1
            guard groupCount <= Self.maxGroups else { throw refusal("more than \(Self.maxGroups) groups") }
            let number = groupCount
            return (.group(try group(), number), true)
        }
        if take("[") { return (.take(try set()), true) }
        if take(".") { return (.take(ScriptPatternSet(items: flags.dotTakesBreaks ? [] : [.lineBreak], isInverted: true)), true) }
        if take("\\") { return (try escape(), true) }
        guard let character = present, !["*", "+", "?"].contains(character) else {
            throw refusal("`\(present.map { String($0) } ?? "")` here")
        }
        index += 1
        return (.take(Self.set(of: character)), true)
    }

    private mutating func group() throws(ScriptError) -> ScriptPatternNode {
        let node = try choice()
        guard take(")") else { throw refusal("a group without an end") }
        return node
    }

    private mutating func repeated(_ part: ScriptPatternNode, groups: Range<Int>) throws(ScriptError) -> ScriptPatternNode {
        let least: Int
        let most: Int?
        if take("*") {
            (least, most) = (0, nil)
        } else if take("+") {
            (least, most) = (1, nil)
        } else if take("?") {
            (least, most) = (0, 1)
        } else if let counts = counts() {
            (least, most) = counts
        } else {
            return part
        }
        guard least <= Self.maxCount, (most ?? least) <= Self.maxCount, (most ?? least) >= least else {
            throw refusal("more than \(Self.maxCount) repetitions, or fewer at most than at least")
        }
        return .repeated(part, least: least, most: most, isLazy: take("?"), groups: groups)
    }

    /// Reads `{2}`, `{2,}` or `{2,3}`; nil for a brace that stands for itself.
    private mutating func counts() -> (Int, Int?)? {
        let before = index
        guard take("{"), let least = number() else {
            index = before
            return nil
        }
        if take("}") { return (least, least) }
        guard take(",") else {
            index = before
            return nil
        }
        let most = number()
        guard take("}") else {
            index = before
            return nil
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = index
        while let present, ("0"..."9").contains(present) { index += 1 }
        return Int(String(String.UnicodeScalarView(source[start..<index])))
    }

    // MARK: Characters

    private static func set(of character: Unicode.Scalar) -> ScriptPatternSet {
        ScriptPatternSet(items: [.range(character.value, character.value)])
    }

    /// Reads what follows a backslash outside of a set.
    private mutating func escape() throws(ScriptError) -> ScriptPatternNode {
        if let character = present, let digit = Int(String(character)), digit > 0 {
            index += 1
            if let present, ("0"..."9").contains(present) { throw refusal("`\\\(digit)\(present)`") }
            greatestReference = max(greatestReference, digit)
            return .reference(digit)
        }
        return .take(ScriptPatternSet(items: [try escapedItem()]))
    }

    private mutating func escapedItem() throws(ScriptError) -> ScriptPatternSet.Item {
        guard let character = present else { throw refusal("a `\\` at its end") }
        index += 1
        switch character {
        case "d": return .digit
        case "D": return .except([.digit])
        case "w": return .word
        case "W": return .except([.word])
        case "s": return .space
        case "S": return .except([.space])
        case "n": return .range(10, 10)
        case "r": return .range(13, 13)
        case "t": return .range(9, 9)
        case "v": return .range(11, 11)
        case "f": return .range(12, 12)
        case "0": return .range(0, 0)
        case "x", "u": return try code(character == "x" ? 2 : 4)
        default:
            guard !character.isWordCharacter else { throw refusal("`\\\(character)`") }
            return .range(character.value, character.value)
        }
    }

    private mutating func code(_ length: Int) throws(ScriptError) -> ScriptPatternSet.Item {
        let end = index + length
        guard end <= source.count, let code = UInt32(String(String.UnicodeScalarView(source[index..<end])), radix: 16) else {
            throw refusal("a `\\x` or `\\u` without its code")
        }
        index = end
        return .range(code, code)
    }

    /// Reads a set up to its bracket.
    private mutating func set() throws(ScriptError) -> ScriptPatternSet {
        var set = ScriptPatternSet(isInverted: take("^"))
        while !take("]") {
            let item = try setItem()
            guard present == "-", source.indices.contains(index + 1), source[index + 1] != "]" else {
                set.items.append(item)
                continue
            }
            index += 1
            let other = try setItem()
            guard case .range(let first, _) = item, case .range(let last, _) = other else {
                // Beside a set such as `\w`, the character stands for itself.
                set.items += [item, .range(0x2D, 0x2D), other]
                continue
            }
            guard first <= last else { throw refusal("a range of characters in the wrong order") }
            set.items.append(.range(first, last))
        }
        return set
    }

    private mutating func setItem() throws(ScriptError) -> ScriptPatternSet.Item {
        guard let character = present else { throw refusal("a set without an end") }
        index += 1
        guard character == "\\" else { return .range(character.value, character.value) }
        if take("b") { return .range(8, 8) }
        if take("-") { return .range(0x2D, 0x2D) }
        return try escapedItem()
    }
}
