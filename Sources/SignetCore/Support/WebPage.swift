/// A page in HTML that a server sends for the user, and the few facts about it that a program needs.
///
/// The page is read once, its scripts aren't executed, and nothing of it is rendered.
package struct WebPage: Sendable {
    /// The title, in one line; nil when it is missing or empty.
    package private(set) var title: String?
    /// The error that a script of the page names; nil when no script does.
    package private(set) var error: ServerError?
    private var tags: Set<String> = []
    private var continuesElsewhere = false
    private var hasText = false

    /// An error of OAuth 2.0 on a page.
    package struct ServerError: Sendable, Hashable {
        /// The error name, such as `redirect_uri_mismatch`.
        package let name: String
        /// The description; nil when the page has none.
        package let description: String?
    }

    /// Reads a page.
    ///
    /// Returns nil when the content isn't HTML.
    package init?(_ body: [UInt8]) {
        guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else { return nil }
        read(body[...])
    }

    /// True when the page may ask the user for something: it has a control or a frame, leads to another page by itself, or consists
    /// of scripts alone.
    package var mayAskUser: Bool {
        let controls: Set = ["form", "button", "input", "select", "textarea", "iframe", "frame"]
        return continuesElsewhere || !tags.isDisjoint(with: controls) || tags.contains("script") && !hasText
    }

    private mutating func read(_ page: ArraySlice<UInt8>) {
        var rest = page
        var isAlternative = false
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            if !isAlternative { record(text: rest[..<start]) }
            rest = rest[(start + 1)...]
            if rest.starts(with: Array("!--".utf8)) {
                guard let end = rest.firstRange(of: Array("-->".utf8))?.upperBound else { return }
                rest = rest[end...]
                continue
            }
            let isEnd = rest.first == UInt8(ascii: "/")
            let name = String(decoding: (isEnd ? rest.dropFirst() : rest).prefix { $0.isASCIILetterOrDigit }, as: UTF8.self)
                .lowercased()
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return }
            let tag = rest[..<end]
            rest = rest[(end + 1)...]
            if name == "noscript" { isAlternative = !isEnd }
            guard !isEnd, !name.isEmpty else { continue }
            tags.insert(name)
            if name == "meta", String(decoding: tag, as: UTF8.self).lowercased().contains("refresh") { continuesElsewhere = true }
            guard ["script", "style", "title"].contains(name) else { continue }
            let content = rest[..<rest.startOfEndTag(name)]
            rest = rest[content.endIndex...]
            record(String(decoding: content, as: UTF8.self), of: name)
        }
        record(text: rest)
    }

    private mutating func record(text: ArraySlice<UInt8>) {
        if text.contains(where: { $0 > 0x20 }) { hasText = true }
    }

    private mutating func record(_ content: String, of element: String) {
        switch element {
        case "title" where title == nil:
            let words = CharacterReferences.decode(content).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            title = words.isEmpty ? nil : words
        case "script" where error == nil: error = ScriptMembers(content).error
        default: break
        }
    }
}

extension ArraySlice<UInt8> {
    /// Returns the position of the next end tag of an element; the end when it is missing.
    fileprivate func startOfEndTag(_ name: String) -> Index {
        let wanted = Array("</\(name)".utf8)
        var rest = self
        while let start = rest.firstIndex(of: wanted[0]) {
            // The bit 0x20 is set in lower-case letters, and in the slash.
            if rest[start...].dropFirst().prefix(wanted.count - 1).elementsEqual(wanted.dropFirst(), by: { $0 | 0x20 == $1 }) {
                return start
            }
            rest = rest[(start + 1)...]
        }
        return endIndex
    }
}

/// The names and the strings of a script.
private struct ScriptMembers {
    /// A part of a script.
    private enum Token: Equatable {
        /// A name without quotes.
        case name(String)
        /// The value of a string literal.
        case string(String)
        /// Any other character.
        case mark(Character)

        /// The name of a member, with or without quotes.
        var memberName: String? {
            switch self {
            case .name(let text), .string(let text): text
            case .mark: nil
            }
        }
    }

    private let tokens: [Token]

    init(_ script: String) {
        var tokens: [Token] = []
        var rest = script[...]
        while let first = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if first == "\"" || first == "'" {
                guard let end = rest.endOfLiteral else { break }
                // A literal that can't be read has no value.
                let literal = rest[rest.index(after: rest.startIndex)..<end]
                tokens.append(JavaScriptLiteral.decode(literal).map { .string($0) } ?? .mark(first))
                rest = rest[rest.index(after: end)...]
            } else if first.isNamePart {
                let name = rest.prefix(while: \.isNamePart)
                tokens.append(.name(String(name)))
                rest = rest[name.endIndex...]
            } else {
                if !first.isWhitespace { tokens.append(.mark(first)) }
                rest = rest.dropFirst()
            }
        }
        self.tokens = tokens
    }

    /// The error, as OpenAM writes it (`error: { description: "…", message: "…" }`) or with the names of RFC 6749
    /// (`"error": "…", "error_description": "…"`).
    var error: WebPage.ServerError? {
        for index in tokens.indices where tokens[index].memberName == "error" {
            switch value(at: index) {
            case .string(let name)?: return Self.error(name, string(named: "error_description"))
            case .mark("{")?:
                // Only the first object is read: a hostile page could begin one in each of many others.
                let members = members(from: index + 3)
                return members["message"].flatMap { Self.error($0, members["description"]) }
            default: break
            }
        }
        return nil
    }

    private static func error(_ name: String, _ description: String?) -> WebPage.ServerError? {
        guard (1...100).contains(name.utf8.count), name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) })
        else { return nil }
        return WebPage.ServerError(name: name, description: description.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Returns the token after a name and its colon or equals sign.
    private func value(at index: Int) -> Token? {
        guard index + 2 < tokens.count, [.mark(":"), .mark("=")].contains(tokens[index + 1]) else { return nil }
        return tokens[index + 2]
    }

    private func string(named name: String) -> String? {
        for index in tokens.indices where tokens[index].memberName == name {
            if case .string(let text)? = value(at: index) { return text }
        }
        return nil
    }

    /// Returns the strings of an object without those of the objects in it, from behind its opening brace.
    private func members(from start: Int) -> [String: String] {
        var members: [String: String] = [:]
        var (index, depth) = (start, 1)
        while index < tokens.count, depth > 0 {
            if tokens[index] == .mark("{") { depth += 1 }
            if tokens[index] == .mark("}") { depth -= 1 }
            if depth == 1, let name = tokens[index].memberName, case .string(let text)? = value(at: index) {
                members[name] = text
                index += 2
            }
            index += 1
        }
        return members
    }
}

extension Substring {
    /// The position of the quotation mark that ends the string literal at the beginning; nil when the literal doesn't end.
    fileprivate var endOfLiteral: Index? {
        var isEscaped = false
        return indices.dropFirst().first { index in
            defer { isEscaped = !isEscaped && self[index] == "\\" }
            return self[index] == first && !isEscaped
        }
    }
}

extension Character {
    fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" || self == "$" }
}
