import SignetCore

/// A reader of the part of XML 1.0 that exports of other programs use (docs/decisions/025-own-xml-reader.md).
///
/// It reads elements, attributes, text, CDATA, comments and the references that XML defines itself. A document type declaration is
/// refused, so a document can neither define entities nor name files and addresses. The depth and the number of elements are
/// limited.
struct XMLReader {
    /// An error that reports text that is not such XML; it repeats none of it.
    struct Malformed: Error {
        let offset: Int
        let reason: String
    }

    private static let maxDepth = 64
    private static let maxElements = 2_000_000

    private let bytes: [UInt8]
    private var position = 0
    private var count = 0
    private var stack: [Element] = []
    private var root: Element?

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the root element of a document in UTF-8.
    static func root(of bytes: [UInt8]) throws(Malformed) -> Element {
        guard String(strictUTF8: bytes) != nil else {
            throw Malformed(offset: 0, reason: "it is not text in UTF-8")
        }
        var reader = XMLReader(bytes)
        while reader.position < bytes.count { try reader.readNext() }
        guard let root = reader.root, reader.stack.isEmpty else { throw reader.malformed("it was cut off") }
        return root
    }

    private mutating func readNext() throws(Malformed) {
        if take("<!--") {
            _ = try text(upTo: "-->")
        } else if take("<![CDATA[") {
            let text = try text(upTo: "]]>")
            try append(String(decoding: text, as: UTF8.self))
        } else if take("<?") {
            _ = try text(upTo: "?>")
        } else if take("<!") {
            throw malformed("document type declarations are not read")
        } else if take("</") {
            try endElement()
        } else if take("<") {
            try beginElement()
        } else {
            let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex
            let text = try decoded(bytes[position..<end])
            try append(text)
            position = end
        }
    }

    // MARK: Elements

    private mutating func beginElement() throws(Malformed) {
        count += 1
        guard root == nil, stack.count < Self.maxDepth, count <= Self.maxElements else {
            throw malformed("there is a second root, or there are too many elements")
        }
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if take(">") {
                return stack.append(Element(name: Self.local(name), qualifiedName: name, attributes: attributes))
            }
            if take("/>") {
                return add(Element(name: Self.local(name), qualifiedName: name, attributes: attributes))
            }
            let attribute = try self.name()
            skipSpace()
            guard take("=") else { throw malformed("an attribute has no value") }
            skipSpace()
            let quote = position < bytes.count ? bytes[position] : 0
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw malformed("an attribute has no value") }
            position += 1
            let text = try text(upTo: quote == UInt8(ascii: "'") ? "'" : "\"")
            let value = try decoded(text)
            // Declarations of namespaces say nothing here.
            guard attribute != "xmlns", !attribute.hasPrefix("xmlns:") else { continue }
            guard attributes.updateValue(value, forKey: Self.local(attribute)) == nil else {
                throw malformed("an attribute is given twice")
            }
        }
    }

    private mutating func endElement() throws(Malformed) {
        let name = try name()
        skipSpace()
        guard take(">"), let element = stack.popLast(), element.qualifiedName == name else {
            throw malformed("an end tag does not fit")
        }
        add(element)
    }

    private mutating func add(_ element: Element) {
        if stack.isEmpty { root = element } else { stack[stack.count - 1].children.append(element) }
    }

    private mutating func append(_ text: String) throws(Malformed) {
        guard stack.isEmpty else {
            stack[stack.count - 1].text += text
            return
        }
        guard text.allSatisfy(\.isWhitespace) else { throw malformed("there is text outside the root") }
    }

    private static func local(_ name: String) -> String { String(name.split(separator: ":").last ?? "") }

    // MARK: Text

    private mutating func name() throws(Malformed) -> String {
        let end = bytes[position...].firstIndex { Self.isSpace($0) || "/>=<\"'&".utf8.contains($0) } ?? bytes.endIndex
        guard position < end else { throw malformed("a name is missing") }
        defer { position = end }
        return String(decoding: bytes[position..<end], as: UTF8.self)
    }

    /// Returns the bytes up to a mark, and moves behind the mark.
    private mutating func text(upTo mark: String) throws(Malformed) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            let end = position
            if take(mark) { return bytes[start..<end] }
            position += 1
        }
        throw malformed("it was cut off")
    }

    /// Returns text with its references replaced.
    private func decoded(_ text: ArraySlice<UInt8>) throws(Malformed) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        var result = ""
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(decoding: rest[..<start], as: UTF8.self)
            guard let end = rest[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: rest[(start + 1)..<end], as: UTF8.self))
            else { throw malformed("there is a reference that XML does not define") }
            result.unicodeScalars.append(scalar)
            rest = rest[(end + 1)...]
        }
        return result + String(decoding: rest, as: UTF8.self)
    }

    private static let namedScalars: [String: Unicode.Scalar] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        if let named = namedScalars[reference] { return named }
        guard reference.hasPrefix("#") else { return nil }
        let digits = reference.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private func malformed(_ reason: String) -> Malformed { Malformed(offset: position, reason: reason) }
}

extension XMLReader {
    /// An element of an XML document, with names without their namespace prefixes.
    struct Element: Sendable {
        let name: String
        /// The name with its prefix, which the end tag repeats.
        fileprivate let qualifiedName: String
        fileprivate(set) var attributes: [String: String]
        /// The text directly in the element, without that of its children.
        fileprivate(set) var text = ""
        fileprivate(set) var children: [Element] = []

        /// Returns the children with a name.
        func children(_ name: String) -> [Element] { children.filter { $0.name == name } }

        /// The first child with a name; nil when no child has it.
        subscript(name: String) -> Element? { children.first { $0.name == name } }

        /// The text without white space at its ends; nil when it is empty.
        var value: String? {
            let trimmed = text.trimmingWhitespace()
            return trimmed.isEmpty ? nil : trimmed
        }

        /// Replaces the text of this element and of those in it that have a mark, in the order of the document, and removes the
        /// mark.
        /// - Parameters:
        ///   - mark: The name of an attribute whose value is `True`.
        ///   - replacement: Returns the new text for a text.
        /// - Throws: The error of `replacement`.
        mutating func replaceTexts(
            ofMarked mark: String, _ replacement: (String) throws(ImportError) -> String
        ) throws(ImportError) {
            if attributes[mark]?.lowercased() == "true" {
                text = try replacement(text)
                attributes[mark] = nil
            }
            for index in children.indices { try children[index].replaceTexts(ofMarked: mark, replacement) }
        }
    }
}

extension ImportFormat {
    /// Parses XML that is the file.
    func xml(_ bytes: [UInt8]) throws(ImportError) -> XMLReader.Element {
        do {
            return try XMLReader.root(of: Self.withoutPadding(bytes))
        } catch {
            throw malformed("file", "it is not XML that is read here: \(error.reason) (byte \(error.offset))")
        }
    }
}
