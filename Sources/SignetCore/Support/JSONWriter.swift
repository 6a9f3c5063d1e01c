/// Writes a ``JSONValue`` as text.
///
/// The output is identical to that of Foundation's encoder with the options of ``JSON/encode(_:pretty:)``.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    init() {
        // Most documents fit into this capacity. Growing the array from zero would take as long as writing the document.
        bytes.reserveCapacity(256)
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): write(integer: value)
        case .number(let value): write(value)
        case .string(let value): write(value)
        case .array(let elements): writeArray(elements) { $0.write($1) }
        case .object(let members):
            writeObject(members.sorted { $0.key < $1.key }.map { (name: $0.key, part: $0.value) }) { $0.write($1) }
        }
    }

    private mutating func write(_ number: Double) {
        guard number.isFinite else {
            bytes += "null".utf8
            return
        }
        let text = number.description
        bytes += text.utf8.dropLast(text.hasSuffix(".0") ? 2 : 0)
    }

    private mutating func write(integer number: Int64) {
        guard (0...9).contains(number) else {
            bytes += String(number).utf8
            return
        }
        bytes.append(UInt8(ascii: "0") + UInt8(number))
    }

    mutating func write(unsigned number: UInt64) { bytes += String(number).utf8 }

    /// Writes an array.
    /// - Parameters:
    ///   - elements: The elements.
    ///   - writeElement: Writes one of them.
    mutating func writeArray<Element>(_ elements: [Element], _ writeElement: (inout JSONWriter, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            writeElement(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes an object.
    /// - Parameters:
    ///   - members: The members, in the order in which they are written.
    ///   - writeValue: Writes the value of one of them.
    mutating func writeObject<Value>(_ members: [(name: String, part: Value)], _ writeValue: (inout JSONWriter, Value) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(member.name)
            bytes.append(UInt8(ascii: ":"))
            writeValue(&self, member.part)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            if text.contains(where: Self.isEscaped) {
                for byte in text { writeEscaped(byte) }
            } else {
                bytes.append(contentsOf: text)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: bytes += "\\b".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0x09: bytes += "\\t".utf8
        case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "1")\(String(byte & 0x0F, radix: 16))".utf8
        default: bytes.append(byte)
        }
    }
}
