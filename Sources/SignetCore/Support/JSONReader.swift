/// A parser that reads JSON text (RFC 8259, UTF-8) directly into a ``JSONValue``.
///
/// An object in which a name occurs twice is refused at any depth. Readers differ in which of the two members they use (RFC 8259
/// section 4), so what one program verifies would not be what the next one uses. Names are compared after their escapes are
/// decoded.
///
/// docs/decisions/003-json-values.md explains why the package has it in addition to Foundation's decoder, and which tests keep
/// the two consistent.
struct JSONReader {
    private let text: [UInt8]
    private var position = 0

    /// The maximum nesting depth.
    ///
    /// It is more than servers use, and small enough for the stack of any thread.
    private static let maxDepth = 512

    /// Parses `text` into a value.
    static func value(of text: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var reader = JSONReader(text: text)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == text.count else { throw reader.error("nothing more was expected") }
        return value
    }

    /// Parses `text` into the members of an object, including the members of nested objects.
    static func members(of text: [UInt8]) throws(JSONSyntaxError) -> JSONMembers {
        var reader = JSONReader(text: text)
        reader.skipSpace()
        guard reader.next == UInt8(ascii: "{") else { throw reader.error("an object was expected") }
        let members = try reader.members(depth: 0)
        reader.skipSpace()
        guard reader.position == text.count else { throw reader.error("nothing more was expected") }
        return members
    }

    private init(text: [UInt8]) { self.text = text }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth <= Self.maxDepth else { throw error("nested too deeply") }
        skipSpace()
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> [String: JSONValue] {
        var members = [String: JSONValue](minimumCapacity: 8)
        try eachMember { (reader, name) throws(JSONSyntaxError) in
            let value = try reader.value(depth: depth + 1)
            guard members.updateValue(value, forKey: name.string(in: reader.text)) == nil else { throw reader.repeatedName }
        }
        return members
    }

    /// Strings are decoded only on request: most names are never requested, and each value is requested once.
    private mutating func members(depth: Int) throws(JSONSyntaxError) -> JSONMembers {
        guard depth <= Self.maxDepth else { throw error("nested too deeply") }
        var members = JSONMembers(text: text)
        try eachMember { (reader, name) throws(JSONSyntaxError) in
            reader.skipSpace()
            let content: JSONMembers.Content =
                switch reader.next {
                case UInt8(ascii: "{"): .members(try reader.members(depth: depth + 1))
                case UInt8(ascii: "\""): .text(try reader.spelling())
                default: .value(try reader.value(depth: depth + 1))
                }
            guard members.append(name, content) else { throw reader.repeatedName }
        }
        return members
    }

    /// Reads an object and calls `read` to read the value of each member.
    private mutating func eachMember(
        _ read: (_ reader: inout JSONReader, _ name: JSONSpelling) throws(JSONSyntaxError) -> Void
    ) throws(JSONSyntaxError) {
        position += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipSpace()
            let name = try spelling()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("':' was expected") }
            try read(&self, name)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error("',' or '}' was expected") }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        var elements: [JSONValue] = []
        position += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error("',' or ']' was expected") }
        return elements
    }

    private mutating func literal(_ name: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let end = position + name.utf8CodeUnitCount
        let isThere = end <= text.count && name.withUTF8Buffer { text[position..<end].elementsEqual($0) }
        guard isThere else { throw error("a value was expected") }
        position = end
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        // Short integers are the most frequent. Their value is known without a second pass.
        let whole = take(UInt8(ascii: "0")) ? 0 : try digits()
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            _ = try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            _ = try digits()
        }
        if isWhole, let whole { return .integer(isNegative ? -whole : whole) }
        let spelling = String(decoding: text[start..<position], as: UTF8.self)
        if isWhole, let number = Int64(spelling) { return .integer(number) }
        guard let number = Double(spelling), number.isFinite else { throw error("the number is too large") }
        guard !isWhole, number.magnitude < 0x1p63, let whole = Int64(exactly: number) else { return .number(number) }
        return .integer(whole)
    }

    /// Skips digits.
    ///
    /// Returns their value when there are at most 18 of them, and nil otherwise.
    private mutating func digits() throws(JSONSyntaxError) -> Int64? {
        let start = position
        var number: Int64 = 0
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            number = number &* 10 &+ Int64(byte - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start else { throw error("a value was expected") }
        return position - start <= 18 ? number : nil
    }

    // MARK: Strings

    private mutating func string() throws(JSONSyntaxError) -> String { try spelling().string(in: text) }

    /// Reads a string.
    ///
    /// A string of plain ASCII is not copied.
    private mutating func spelling() throws(JSONSyntaxError) -> JSONSpelling {
        guard take(UInt8(ascii: "\"")) else { throw error("a string was expected") }
        let start = position
        var (end, seen): (Int, UInt8) = (start, 0)
        while end < text.count, text[end] >= 0x20, text[end] != UInt8(ascii: "\""), text[end] != UInt8(ascii: "\\") {
            seen |= text[end]
            end += 1
        }
        position = end
        if take(UInt8(ascii: "\"")) {
            return seen < 0x80 ? .plain(start..<end) : .string(try string(text[start..<end], isPlain: false))
        }
        guard next == UInt8(ascii: "\\") else { throw error("the string has no end") }
        return .string(try escapedString(from: start))
    }

    /// Reads the rest of a string.
    ///
    /// The current position is at an escape.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var bytes = Array(text[start..<position])
        while let byte = next, byte >= 0x20 {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try string(bytes, isPlain: false)
            case UInt8(ascii: "\\"): try appendEscape(to: &bytes)
            default: bytes.append(byte)
            }
        }
        throw error("the string has no end")
    }

    private mutating func appendEscape(to bytes: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = next else { throw error("the string has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes += UTF8.encode(try escapedScalar()).map(Array.init) ?? []
        default: throw error("there is no such escape")
        }
    }

    /// Reads the digits after `\u`: four digits, or a surrogate pair.
    private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error("half a character")
        }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw error("half a character") }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexValue else {
                throw error("four hexadecimal digits were expected")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Creates a string from bytes.
    ///
    /// Validation takes longer than all other steps, and plain ASCII does not need it.
    private func string(_ bytes: some Collection<UInt8>, isPlain: Bool) throws(JSONSyntaxError) -> String {
        if isPlain { return String(decoding: bytes, as: UTF8.self) }
        guard let string = String(strictUTF8: bytes) else { throw error("a string is not UTF-8") }
        return string
    }

    // MARK: Bytes

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, reason: reason) }

    private var repeatedName: JSONSyntaxError {
        JSONSyntaxError(offset: position, reason: "a name occurs twice in an object", isRepeatedName: true)
    }
}

/// A string in a JSON text.
enum JSONSpelling {
    /// A plain ASCII string, given as its range in the text.
    case plain(Range<Int>)
    /// A decoded string.
    case string(String)

    func string(in text: [UInt8]) -> String {
        switch self {
        case .plain(let range): text.withUnsafeBufferPointer { String(decoding: $0[range], as: UTF8.self) }
        case .string(let string): string
        }
    }

    func equals(_ other: String, in text: [UInt8]) -> Bool {
        switch self {
        case .plain(let range): range.count == other.utf8.count && Self.isEqual(text, range, other)
        case .string(let string): string == other
        }
    }

    /// Returns true when two strings of the same text are equal, however they are escaped.
    func equals(_ other: JSONSpelling, in text: [UInt8]) -> Bool {
        guard case .plain(let first) = self, case .plain(let second) = other else {
            return string(in: text) == other.string(in: text)
        }
        return first.count == second.count && text[first].elementsEqual(text[second])
    }

    /// Most names differ in their length or in their first bytes, so that a bytewise comparison ends early.
    private static func isEqual(_ text: [UInt8], _ range: Range<Int>, _ other: String) -> Bool {
        var other = other
        return other.withUTF8 { other in
            text.withUnsafeBufferPointer { text in
                for index in other.indices where text[range.lowerBound + index] != other[index] { return false }
                return true
            }
        }
    }
}

/// An error in a JSON text.
///
/// It gives the position and the reason, and never contains the text.
package struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte offset at which parsing stopped.
    package let offset: Int
    /// The reason.
    package let reason: String
    /// True when the text is JSON with a name that occurs twice in an object.
    package let isRepeatedName: Bool

    init(offset: Int, reason: String, isRepeatedName: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isRepeatedName = isRepeatedName
    }

    package var description: String { "not JSON at byte \(offset): \(reason)" }
}
