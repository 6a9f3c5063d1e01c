import SignetCore

/// A piece of JavaScript, out of which values are picked by the names that stand before them. It is not run, and no more is
/// understood of it than what AM writes.
struct ScriptText {
    private let text: Substring

    init(_ text: some StringProtocol) { self.text = Substring(text) }

    /// What follows a member's name and the colon, or a variable's name and the equals sign.
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

    /// The text in quotes that follows a name.
    func string(after name: String) -> String? {
        guard let rest = rest(after: name), let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return ScriptText(rest).strings.first
    }

    /// Whether `true` follows a name.
    func flag(after name: String) -> Bool { rest(after: name)?.hasPrefix("true") ?? false }

    /// The number that follows a name, each time it occurs.
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

    /// The bytes that follow a name: an array of numbers, or the characters of a text.
    func bytes(after name: String) -> [UInt8]? {
        guard let rest = rest(after: name) else { return nil }
        guard rest.hasPrefix("Uint8Array.from(") || rest.hasPrefix("\"") || rest.hasPrefix("'") else {
            return byteArray(after: name)
        }
        return ScriptText(rest).strings.first.map { Array($0.utf8) }
    }

    /// The array of numbers that follows a name.
    func byteArray(after name: String) -> [UInt8]? {
        rest(after: name).flatMap { ScriptText($0).byteArrays.first }
    }

    /// The texts in quotes, with their escapes as they are written.
    var strings: [String] {
        var strings: [String] = []
        var rest = text
        while let start = rest.firstIndex(where: { $0 == "\"" || $0 == "'" }) {
            let inside = rest[rest.index(after: start)...]
            var isEscaped = false
            let end = inside.indices.first { index in
                defer { isEscaped = !isEscaped && inside[index] == "\\" }
                return inside[index] == rest[start] && !isEscaped
            }
            guard let end else { break }
            strings.append(String(inside[..<end]))
            rest = inside[inside.index(after: end)...]
        }
        return strings
    }

    /// The array of credentials that the text begins with, each an object with an array of bytes; nil when it begins with none, or
    /// one of them cannot be read.
    var credentials: [[UInt8]]? {
        let list = text.upToClosing
        guard list.hasPrefix("["), list.count(where: { $0 == "[" }) == list.count(where: { $0 == "]" }) else { return nil }
        let read = ScriptText(list.dropFirst()).byteArrays
        return read.count == list.count { $0 == "{" } ? read : nil
    }

    /// The arrays of nothing but numbers that fit in a byte, signed or not: `[1, -2, 255]`.
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
    /// An array, or an object: up to the mark that closes what the text begins with; everything when nothing does.
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
