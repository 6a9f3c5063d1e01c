import Yams

/// Reads YAML. The library finds the structure; what a scalar means is decided by who asks for it.
enum ConfigurationText {
    /// The most characters that are read.
    private static let largest = 4 << 20
    /// Deeper than any journey nests.
    private static let deepest = 64

    /// The value of a file; nil when there is none in it.
    static func value(of text: String) throws(ConfigurationError) -> MarkedValue? {
        guard text.utf8.count <= largest else { throw failure(.start, "the file is larger than \(largest >> 20) MiB") }
        if let alias = firstAlias(in: text) {
            throw failure(
                alias.place,
                "`*\(alias.name)` refers to an anchor: this file has no anchors, write the value out, or use an inner tree")
        }
        let node: Yams.Node?
        do {
            // Without rules nothing is guessed of a scalar, and no regular expression is run on it.
            node = try Yams.Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch let error as YamlError {
            throw failure(error)
        } catch {
            throw failure(.start, "this is no YAML")
        }
        guard let node else { return nil }
        return try value(of: node, depth: 0)
    }

    private static func value(of node: Yams.Node, depth: Int) throws(ConfigurationError) -> MarkedValue {
        let place = FilePlace(node.mark)
        guard depth <= deepest else { throw failure(place, "values are nested in each other more than \(deepest) times") }
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
                    throw failure(FilePlace(key.mark ?? node.mark), "the key of a mapping is a single word here")
                }
                entries.append(
                    MarkedValue.Entry(
                        key: name.string, place: FilePlace(key.mark), value: try value(of: element, depth: depth + 1)))
            }
            return MarkedValue(content: .mapping(entries), place: place)
        case .alias: throw failure(place, "this file has no anchors: write the value out")
        }
    }

    /// An anchor that is used. What it stands for could stand for other anchors and those for more: a few lines would fill the
    /// memory, and the library follows them before anybody can count.
    private static func firstAlias(in text: String) -> (name: String, place: FilePlace)? {
        var anchors: Set<String> = []
        var place = FilePlace.start
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
            place = FilePlace(line: place.line + (isNewLine ? 1 : 0), column: isNewLine ? 1 : place.column + 1)
        }
        return nil
    }

    private static func failure(_ place: FilePlace, _ message: String) -> ConfigurationError {
        ConfigurationError([ConfigurationProblem(place, nil, message)])
    }

    /// The library's own words for what is not YAML; the text itself, which may have passwords in it, is not repeated.
    private static func failure(_ error: YamlError) -> ConfigurationError {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let about = context.map { " (\($0.text) in line \($0.mark.line))" } ?? ""
            return failure(FilePlace(mark), "this is no YAML: \(problem)\(about)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "`\($0)`" }.joined(separator: ", ")
            return failure(FilePlace(context.mark), "\(names) stands here more than once: keep one")
        case .reader(let problem, _, _, _): return failure(.start, "this is no YAML: \(problem)")
        default: return failure(.start, "this is no YAML")
        }
    }
}

extension FilePlace {
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
