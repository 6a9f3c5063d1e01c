import SignetCore
import YAMLText

/// A filter over the members of an object, in the language of AM's REST: `/mail sw "mira" and !(/age lt 18)`.
///
/// `and` binds more strongly than `or`, and `!` than both.
indirect enum QueryFilter: Sendable, Hashable {
    case literal(Bool)
    case present(String)
    case compare(String, Operator, JSONValue)
    case not(QueryFilter)
    case all(QueryFilter, QueryFilter)
    case any(QueryFilter, QueryFilter)

    enum Operator: String, Sendable, CaseIterable {
        case equals = "eq"
        case contains = "co"
        case startsWith = "sw"
        case less = "lt"
        case lessOrEqual = "le"
        case greater = "gt"
        case greaterOrEqual = "ge"
    }

    /// Reads a filter.
    /// - Parameter text: The filter.
    /// - Throws: ``QueryFilterError``.
    init(_ text: String) throws(QueryFilterError) {
        var reader = try QueryFilterReader(text)
        self = try reader.alternatives(depth: 0)
        guard reader.isAtEnd else { throw .unexpected(reader.rest) }
    }

    /// Returns true when an object matches.
    /// - Parameter value: Returns the value of a member by its path, without the slash at its start; nil when it is absent.
    /// - Returns: True when the object matches.
    func matches(_ value: (String) -> JSONValue?) -> Bool {
        switch self {
        case .literal(let result): result
        case .present(let path): value(path) != nil
        case .compare(let path, let comparison, let expected):
            // A list matches when one of its elements does.
            value(path).map { found in (found.array ?? [found]).contains { comparison.holds($0, expected) } } ?? false
        case .not(let filter): !filter.matches(value)
        case .all(let one, let other): one.matches(value) && other.matches(value)
        case .any(let one, let other): one.matches(value) || other.matches(value)
        }
    }
}

/// The reason why a text is not a filter.
enum QueryFilterError: Error, Sendable, Hashable {
    case missing(String)
    case unexpected(String)
    case openString
    case tooDeep

    /// The reason in words.
    var explanation: String {
        switch self {
        case .missing(let part): "\(part) is missing at its end"
        case .unexpected(let text): "`\(text.shortened)` is not expected"
        case .openString: "a string has no closing quote"
        case .tooDeep: "it has more than 64 nested parts, or more than 256 parts"
        }
    }
}

extension QueryFilter.Operator {
    /// Compares two values of the same type: numbers by size, and texts without regard to case.
    fileprivate func holds(_ found: JSONValue, _ expected: JSONValue) -> Bool {
        if let one = found.double, let other = expected.double { return holds(one, other) }
        if let one = found.string?.lowercased(), let other = expected.string?.lowercased() {
            switch self {
            case .contains: return one.contains(other)
            case .startsWith: return one.hasPrefix(other)
            default: return holds(one, other)
            }
        }
        return self == .equals && found == expected
    }

    private func holds<Value: Comparable>(_ one: Value, _ other: Value) -> Bool {
        switch self {
        case .equals: one == other
        case .less: one < other
        case .lessOrEqual: one <= other
        case .greater: one > other
        case .greaterOrEqual: one >= other
        case .contains, .startsWith: false
        }
    }
}

/// Reads the tokens of a filter.
private struct QueryFilterReader {
    private enum Token: Equatable {
        case open
        case close
        case not
        case word(String)
        case value(JSONValue)

        /// The token in the form of the filter.
        var text: String {
            switch self {
            case .open: "("
            case .close: ")"
            case .not: "!"
            case .word(let word): word
            case .value(let value): JSON.text(of: value)
            }
        }
    }

    private static let maxDepth = 64
    /// The maximum number of conditions and negations.
    ///
    /// A chain of `and` or `or` is as deep as it is long.
    private static let maxTerms = 256
    private var tokens: ArraySlice<Token> = []
    private var terms = 0

    var isAtEnd: Bool { tokens.isEmpty }
    /// The next token, for messages.
    var rest: String { tokens.first?.text ?? "" }

    init(_ text: String) throws(QueryFilterError) {
        var tokens: [Token] = []
        var rest = text[...]
        while let character = rest.first {
            switch character {
            case "(", ")", "!":
                tokens.append(character == "(" ? .open : character == ")" ? .close : .not)
                rest.removeFirst()
            case "\"", "'":
                rest.removeFirst()
                tokens.append(.value(.string(try Self.string(&rest, until: character))))
            case _ where character.isWhitespace: rest.removeFirst()
            default:
                let word = rest.prefix { !$0.isWhitespace && !"()\"".contains($0) }
                guard !word.isEmpty else { throw .unexpected(String(character)) }
                rest.removeFirst(word.count)
                tokens.append(.word(String(word)))
            }
        }
        self.tokens = tokens[...]
    }

    private static func string(_ rest: inout Substring, until quote: Character) throws(QueryFilterError) -> String {
        var text = ""
        while let character = rest.popFirst() {
            if character == quote { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard let escaped = rest.popFirst() else { throw .openString }
            text.append(escaped)
        }
        throw .openString
    }

    mutating func alternatives(depth: Int) throws(QueryFilterError) -> QueryFilter {
        var filter = try conjunction(depth: depth)
        while take("or") { filter = .any(filter, try conjunction(depth: depth)) }
        return filter
    }

    private mutating func conjunction(depth: Int) throws(QueryFilterError) -> QueryFilter {
        var filter = try term(depth: depth)
        while take("and") { filter = .all(filter, try term(depth: depth)) }
        return filter
    }

    private mutating func term(depth: Int) throws(QueryFilterError) -> QueryFilter {
        terms += 1
        guard depth < Self.maxDepth, terms <= Self.maxTerms else { throw .tooDeep }
        guard let token = tokens.popFirst() else { throw .missing("a condition") }
        switch token {
        case .not: return .not(try term(depth: depth + 1))
        case .open:
            let filter = try alternatives(depth: depth + 1)
            guard let end = tokens.popFirst() else { throw .missing("`)`") }
            guard end == .close else { throw .unexpected(end.text) }
            return filter
        case .word("true"): return .literal(true)
        case .word("false"): return .literal(false)
        case .word(let path): return try condition(path)
        case .close, .value: throw .unexpected(token.text)
        }
    }

    private mutating func condition(_ pointer: String) throws(QueryFilterError) -> QueryFilter {
        let path = String(pointer.drop { $0 == "/" })
        guard let token = tokens.popFirst() else { throw .missing("an operator after `\(pointer.shortened)`") }
        guard case .word(let word) = token else { throw .unexpected(token.text) }
        if word == "pr" { return .present(path) }
        guard let comparison = QueryFilter.Operator(rawValue: word) else { throw .unexpected(word) }
        guard let operand = tokens.popFirst() else { throw .missing("a value after `\(word)`") }
        switch operand {
        case .value(let value): return .compare(path, comparison, value)
        case .word("true"): return .compare(path, comparison, .bool(true))
        case .word("false"): return .compare(path, comparison, .bool(false))
        case .word(let text):
            guard let number = Double(text), number.isFinite else { throw .unexpected(text) }
            return .compare(path, comparison, Int64(exactly: number).map { .integer($0) } ?? .number(number))
        case .open, .close, .not: throw .unexpected(operand.text)
        }
    }

    private mutating func take(_ word: String) -> Bool {
        guard tokens.first == .word(word) else { return false }
        tokens.removeFirst()
        return true
    }
}
