import SignetCore

/// A piece of JavaScript from which values are read by the names before them.
///
/// The script isn't executed, and only the forms that AM writes are supported.
struct ScriptText {
    private let text: Substring

    init(_ text: some StringProtocol) { self.text = Substring(text) }

    /// Returns the text after a member name and its colon, or after a variable name and its equals sign.
    func rest(after name: String) -> Substring? {
        var rest = text
        while let found = rest.firstRange(of: name) {
            let before = found.lowerBound > text.startIndex ? text[text.index(before: found.lowerBound)] : " "
            let after = rest[found.upperBound...].drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
            if !before.isNamePart, let mark = after.first, mark == ":" || mark == "=" {
                return after.dropFirst().drop { $0.isWhitespace }
            }
            rest = rest[found.upperBound...]
        }
        return nil
    }

    /// Returns the quoted string after a name.
    func string(after name: String) -> String? {
        guard let rest = rest(after: name), let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return ScriptText(rest).strings.first
    }

    /// Returns true when `true` follows a name.
    func flag(after name: String) -> Bool { rest(after: name)?.hasPrefix("true") ?? false }

    /// Returns the number after each occurrence of a name.
    func numbers(after name: String) -> [Int] {
        var numbers: [Int] = []
        var rest = text
        while let found = ScriptText(rest).rest(after: name) {
            let digits = found.drop { $0 == "\"" }.prefix { $0 == "-" || $0.isNumber }
            if let number = Int(digits) { numbers.append(number) }
            rest = found
        }
        return numbers
    }

    /// Returns the bytes after a name, from an array of numbers or from the characters of a string.
    func bytes(after name: String) -> [UInt8]? {
        guard let rest = rest(after: name) else { return nil }
        guard rest.hasPrefix("Uint8Array.from(") || rest.hasPrefix("\"") || rest.hasPrefix("'") else {
            return byteArray(after: name)
        }
        return ScriptText(rest).strings.first.map { Array($0.utf8) }
    }

    /// Returns the array of numbers after a name.
    func byteArray(after name: String) -> [UInt8]? {
        rest(after: name).flatMap { ScriptText($0).byteArrays.first }
    }

    /// The quoted strings, with their escape sequences unchanged.
    var strings: [String] {
        var strings: [String] = []
        var rest = text
        while let start = rest.firstIndex(where: { $0 == "\"" || $0 == "'" }) {
            guard let literal = rest[start...].literal else { break }
            strings.append(String(literal.inside))
            rest = literal.rest
        }
        return strings
    }

    /// Returns the quoted strings that follow a name directly, with their escape sequences unchanged.
    func strings(after name: String) -> [Substring] {
        var strings: [Substring] = []
        var rest = text
        while let found = ScriptText(rest).rest(after: name) {
            let literal = found.literal
            if let literal { strings.append(literal.inside) }
            rest = literal?.rest ?? found
        }
        return strings
    }

    /// The array of credentials at the beginning of the text, in which each credential is an object with an array of bytes.
    ///
    /// Nil when the text doesn't begin with such an array, or when a credential can't be read.
    var credentials: [[UInt8]]? {
        let list = text.upToClosing
        guard list.hasPrefix("["), list.count(where: { $0 == "[" }) == list.count(where: { $0 == "]" }) else { return nil }
        let read = ScriptText(list.dropFirst()).byteArrays
        return read.count == list.count { $0 == "{" } ? read : nil
    }

    /// The arrays that contain only numbers that fit in a byte, signed or unsigned: `[1, -2, 255]`.
    var byteArrays: [[UInt8]] {
        var arrays: [[UInt8]] = []
        var rest = text
        while let start = rest.firstIndex(of: "[") {
            let inside = rest[rest.index(after: start)...]
            guard let end = inside.firstIndex(where: { $0 == "]" || $0 == "[" }) else { break }
            if inside[end] == "]" {
                let numbers = inside[..<end].split(separator: ",").map { Int($0.trimmingWhitespace()) }
                let bytes = numbers.compactMap { $0.flatMap { (-128...255).contains($0) ? UInt8(truncatingIfNeeded: $0) : nil } }
                if bytes.count == numbers.count, !bytes.isEmpty { arrays.append(bytes) }
            }
            rest = inside[end...]
        }
        return arrays
    }
}

extension Substring {
    /// The inside of the quoted string at the beginning of the text, and the text after it; nil for another beginning.
    fileprivate var literal: (inside: Substring, rest: Substring)? {
        guard let quote = first, quote == "\"" || quote == "'" else { return nil }
        let inside = dropFirst()
        var isEscaped = false
        let end = inside.indices.first { index in
            defer { isEscaped = !isEscaped && inside[index] == "\\" }
            return inside[index] == quote && !isEscaped
        }
        return end.map { (inside[..<$0], inside[inside.index(after: $0)...]) }
    }

    /// The array or object at the beginning of the text, up to its closing bracket; the whole text when no bracket closes it.
    var upToClosing: Substring {
        var depth = 0
        for index in indices {
            switch self[index] {
            case "[", "{": depth += 1
            case "]", "}":
                depth -= 1
                if depth <= 0 { return self[...index] }
            default: break
            }
        }
        return self
    }
}

extension Character {
    fileprivate var isNamePart: Bool { isLetter || isNumber || self == "_" || self == "$" }
}
