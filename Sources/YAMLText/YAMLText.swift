package import SignetCore
import Yams

/// Reads YAML.
///
/// The Yams library parses the structure; the code that asks for a scalar decides its type.
package enum YAMLText {
    /// A syntax error in a text, with its position.
    ///
    /// The message never contains a password of the text.
    package struct Problem: Error, Sendable, Hashable {
        /// The position of the error.
        package let position: SourcePosition
        /// A description of the error and of its solution.
        package let message: String
    }

    /// The largest size of a text, in bytes.
    private static let maxSize = 4 << 20
    /// The deepest nesting of values; no login flow needs more.
    private static let maxDepth = 64

    /// Returns the value of a YAML text, or nil if the text has no value.
    /// - Throws: ``Problem`` if the text isn't YAML, is too large or too deeply nested, or has an anchor.
    package static func value(of text: String) throws(Problem) -> MarkedValue? {
        guard text.utf8.count <= maxSize else { throw failure(.start, "the file is larger than \(maxSize >> 20) MiB") }
        // Some editors write a byte order mark before the first character (YAML 1.2 section 5.2).
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if let alias = firstAlias(in: text) {
            throw failure(
                alias.position,
                "`*\(alias.name)` refers to an anchor: this file has no anchors, write the value out")
        }
        do {
            // The basic resolver applies no rules: it doesn't guess the type of a scalar and runs no regular expression on it.
            let parser = try Yams.Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // The parser owns the anchors: a node that outlives its parser loses its anchor. The parser must therefore live on
            // here.
            return try withExtendedLifetime(parser) { try parser.singleRoot().map { try value(of: $0, depth: 0) } }
        } catch let error as YamlError {
            throw failure(error, in: text)
        } catch let error as Problem {
            throw error
        } catch {
            throw failure(.start, "this is not YAML")
        }
    }

    private static func value(of node: Yams.Node, depth: Int) throws(Problem) -> MarkedValue {
        let position = SourcePosition(node.mark)
        guard depth <= maxDepth else { throw failure(position, "values are nested in each other more than \(maxDepth) times") }
        if node.anchor != nil { throw loneAnchor(position) }
        switch node {
        case .scalar(let scalar):
            let isQuoted = scalar.style != .plain && scalar.style != .any
            return MarkedValue(content: .scalar(scalar.string, isQuoted: isQuoted), position: position)
        case .sequence(let sequence):
            var elements: [MarkedValue] = []
            for element in sequence { elements.append(try value(of: element, depth: depth + 1)) }
            return MarkedValue(content: .list(elements), position: position)
        case .mapping(let mapping):
            var entries: [MarkedValue.Entry] = []
            for (key, element) in mapping {
                guard case .scalar(let name) = key else {
                    throw failure(SourcePosition(key.mark ?? node.mark), "the key of a mapping is a single word here")
                }
                if name.anchor != nil { throw loneAnchor(SourcePosition(key.mark)) }
                entries.append(
                    MarkedValue.Entry(
                        key: name.string, position: SourcePosition(key.mark), value: try value(of: element, depth: depth + 1)))
            }
            return MarkedValue(content: .mapping(entries), position: position)
        case .alias: throw failure(position, "this file has no anchors: write the value out")
        }
    }

    /// Returns the name and position of the first alias that refers to an earlier anchor, or nil for a text without one.
    ///
    /// Aliases must be found before parsing: Yams expands them itself, and a few lines of nested aliases would exhaust the
    /// memory.
    private static func firstAlias(in text: String) -> (name: String, position: SourcePosition)? {
        var anchors: Set<String> = []
        var position = SourcePosition.start
        var canBegin = true
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            if canBegin, scalar == "&" || scalar == "*", rest.first?.isInAnchor == true {
                let name = String(String.UnicodeScalarView(rest.prefix(while: \.isInAnchor)))
                if scalar == "&" {
                    anchors.insert(name)
                } else if anchors.contains(name) {
                    return (name, position)
                }
            }
            canBegin = " \t\r\n\u{85}\u{2028}\u{2029}\u{FEFF}[]{},:?-\"'".unicodeScalars.contains(scalar)
            let isNewLine = scalar == "\n"
            position = SourcePosition(line: position.line + (isNewLine ? 1 : 0), column: isNewLine ? 1 : position.column + 1)
        }
        return nil
    }

    /// True when the text between the start of the line and `mark` is white space with at least one tab.
    private static func isIndentedByTab(_ mark: Mark, in text: String) -> Bool {
        let lines = text.split(maxSplits: mark.line, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let start = lines.dropFirst(mark.line - 1).first?.prefix(mark.column) ?? ""
        return start.contains("\t") && start.allSatisfy(\.isWhitespace)
    }

    private static func failure(_ position: SourcePosition, _ message: String) -> Problem {
        Problem(position: position, message: message)
    }

    /// Returns the error for an anchor that no alias refers to; ``firstAlias(in:)`` finds all other anchors.
    ///
    /// The message omits the name of the anchor, because that may be an unquoted password.
    private static func loneAnchor(_ position: SourcePosition) -> Problem {
        failure(position, "an anchor (`&`) stands here, and this file has none: take it out, or put quotes around the value")
    }

    /// Converts an error of Yams.
    ///
    /// The message has the wording of Yams, but doesn't repeat the text, which may contain passwords.
    private static func failure(_ error: YamlError, in text: String) -> Problem {
        switch error {
        case .scanner(_, _, let mark, _) where isIndentedByTab(mark, in: text):
            return failure(SourcePosition(mark), "a tab stands here: indent with spaces")
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let about = context.map { " (\($0.text) in line \($0.mark.line))" } ?? ""
            return failure(SourcePosition(mark), "this is not YAML: \(problem)\(about)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "`\($0)`" }.joined(separator: ", ")
            return failure(SourcePosition(context.mark), "\(names) stands here more than once: keep one")
        case .reader(let problem, _, _, _): return failure(.start, "this is not YAML: \(problem)")
        default: return failure(.start, "this is not YAML")
        }
    }
}

extension SourcePosition {
    fileprivate init(_ mark: Mark?) {
        self.init(line: mark?.line ?? 1, column: mark?.column ?? 1)
    }
}

extension Unicode.Scalar {
    /// True when libYAML accepts the character in the name of an anchor.
    fileprivate var isInAnchor: Bool {
        self == "_" || self == "-" || UInt8(exactly: value)?.isASCIILetterOrDigit == true
    }
}
