package import SignetCore
import Yams

/// Reads YAML. The library finds the structure; what a scalar means is decided by who asks for it.
package enum YAMLText {
    /// Why a text is not taken, and where. What it says of passwords is never in it.
    package struct Problem: Error, Sendable, Hashable {
        /// Where it is.
        package let place: SourcePosition
        /// What is wrong, and the way out.
        package let message: String
    }

    /// The most characters that are read.
    private static let largest = 4 << 20
    /// Deeper than any journey nests.
    private static let deepest = 64

    /// The value of a file; nil when there is none in it.
    package static func value(of text: String) throws(Problem) -> MarkedValue? {
        guard text.utf8.count <= largest else { throw failure(.start, "the file is larger than \(largest >> 20) MiB") }
        // A mark of the byte order is what some editors put before the first character (YAML 1.2 section 5.2).
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if let alias = firstAlias(in: text) {
            throw failure(
                alias.place,
                "`*\(alias.name)` refers to an anchor: this file has no anchors, write the value out")
        }
        do {
            // Without rules nothing is guessed of a scalar, and no regular expression is run on it.
            let parser = try Yams.Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // Anchors are the parser's: of a node that outlives it nobody knows any more that it had one.
            return try withExtendedLifetime(parser) { try parser.singleRoot().map { try value(of: $0, depth: 0) } }
        } catch let error as YamlError {
            throw failure(error, in: text)
        } catch let error as Problem {
            throw error
        } catch {
            throw failure(.start, "this is no YAML")
        }
    }

    private static func value(of node: Yams.Node, depth: Int) throws(Problem) -> MarkedValue {
        let place = SourcePosition(node.mark)
        guard depth <= deepest else { throw failure(place, "values are nested in each other more than \(deepest) times") }
        if node.anchor != nil { throw loneAnchor(place) }
        switch node {
        case .scalar(let scalar):
            let isQuoted = scalar.style != .plain && scalar.style != .any
            return MarkedValue(content: .scalar(scalar.string, isQuoted: isQuoted), place: place)
        case .sequence(let sequence):
            var elements: [MarkedValue] = []
            for element in sequence { elements.append(try value(of: element, depth: depth + 1)) }
            return MarkedValue(content: .list(elements), place: place)
        case .mapping(let mapping):
            var entries: [MarkedValue.Entry] = []
            for (key, element) in mapping {
                guard case .scalar(let name) = key else {
                    throw failure(SourcePosition(key.mark ?? node.mark), "the key of a mapping is a single word here")
                }
                if name.anchor != nil { throw loneAnchor(SourcePosition(key.mark)) }
                entries.append(
                    MarkedValue.Entry(
                        key: name.string, place: SourcePosition(key.mark), value: try value(of: element, depth: depth + 1)))
            }
            return MarkedValue(content: .mapping(entries), place: place)
        case .alias: throw failure(place, "this file has no anchors: write the value out")
        }
    }

    /// An anchor that is used. What it stands for could stand for other anchors and those for more: a few lines would fill the
    /// memory, and the library follows them before anybody can count.
    private static func firstAlias(in text: String) -> (name: String, place: SourcePosition)? {
        var anchors: Set<String> = []
        var place = SourcePosition.start
        var canBegin = true
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            if canBegin, scalar == "&" || scalar == "*", rest.first?.isInAnchor == true {
                let name = String(String.UnicodeScalarView(rest.prefix(while: \.isInAnchor)))
                if scalar == "&" {
                    anchors.insert(name)
                } else if anchors.contains(name) {
                    return (name, place)
                }
            }
            canBegin = " \t\r\n\u{85}\u{2028}\u{2029}\u{FEFF}[]{},:?-\"'".unicodeScalars.contains(scalar)
            let isNewLine = scalar == "\n"
            place = SourcePosition(line: place.line + (isNewLine ? 1 : 0), column: isNewLine ? 1 : place.column + 1)
        }
        return nil
    }

    /// Whether nothing but white space with a tab in it leads up to a place.
    private static func isIndentedByTab(_ mark: Mark, in text: String) -> Bool {
        let lines = text.split(maxSplits: mark.line, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let start = lines.dropFirst(mark.line - 1).first?.prefix(mark.column) ?? ""
        return start.contains("\t") && start.allSatisfy(\.isWhitespace)
    }

    private static func failure(_ place: SourcePosition, _ message: String) -> Problem {
        Problem(place: place, message: message)
    }

    /// One that nothing refers to: ``firstAlias(in:)`` has found all others. Its name is not told: it may be a password without
    /// quotes.
    private static func loneAnchor(_ place: SourcePosition) -> Problem {
        failure(place, "an anchor (`&`) stands here, and this file has none: take it out, or put quotes around the value")
    }

    /// The library's own words for what is not YAML; the text itself, which may have passwords in it, is not repeated.
    private static func failure(_ error: YamlError, in text: String) -> Problem {
        switch error {
        case .scanner(_, _, let mark, _) where isIndentedByTab(mark, in: text):
            return failure(SourcePosition(mark), "a tab stands here: indent with spaces")
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let about = context.map { " (\($0.text) in line \($0.mark.line))" } ?? ""
            return failure(SourcePosition(mark), "this is no YAML: \(problem)\(about)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "`\($0)`" }.joined(separator: ", ")
            return failure(SourcePosition(context.mark), "\(names) stands here more than once: keep one")
        case .reader(let problem, _, _, _): return failure(.start, "this is no YAML: \(problem)")
        default: return failure(.start, "this is no YAML")
        }
    }
}

extension SourcePosition {
    fileprivate init(_ mark: Mark?) {
        self.init(line: mark?.line ?? 1, column: mark?.column ?? 1)
    }
}

extension Unicode.Scalar {
    /// What libYAML takes for a part of an anchor's name.
    fileprivate var isInAnchor: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }
}
