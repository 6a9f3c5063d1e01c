/// Encodes and decodes `application/x-www-form-urlencoded` fields, for queries and request bodies.
///
/// It works on bytes: separators and escapes are ASCII, and processing characters takes several times as long.
package enum FormCoding {
    /// Encodes the fields in order.
    ///
    /// All characters except the unreserved ones are escaped. A space becomes `%20`, which both kinds of form decoders accept.
    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        var form: [UInt8] = []
        form.reserveCapacity(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 16 })
        for field in fields {
            if !form.isEmpty { form.append(UInt8(ascii: "&")) }
            field.name.appendPercentEncoded(to: &form)
            form.append(UInt8(ascii: "="))
            field.value.appendPercentEncoded(to: &form)
        }
        return String(decoding: form, as: UTF8.self)
    }

    /// Returns the address with fields appended to its query, before the fragment if it has one.
    package static func address(_ url: String, adding fields: [(name: String, value: String)]) -> String {
        guard !fields.isEmpty else { return url }
        let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let base = url[..<end]
        let isOpen = base.utf8.last == UInt8(ascii: "?") || base.utf8.last == UInt8(ascii: "&")
        let separator = !base.utf8.contains(UInt8(ascii: "?")) ? "?" : isOpen ? "" : "&"
        return base + separator + encode(fields) + url[end...]
    }

    /// Returns the fields of the query of an address; empty when it has no query.
    package static func query(of url: String) -> [String: String] { decode(queryText(of: url)) }

    /// Returns the query of an address as it is written; empty when it has no query.
    package static func queryText(of url: String) -> Substring {
        let address = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = address.firstIndex(of: UInt8(ascii: "?")) else { return "" }
        return Substring(address[address.index(after: mark)...])
    }

    /// Decodes the fields of a query.
    ///
    /// Of two fields with the same name the first counts. Invalid escapes are kept as they are.
    package static func decode(_ query: some StringProtocol) -> [String: String] {
        decode(query) { _ in true }
    }

    /// Decodes the fields of a query, as ``decode(_:)`` does, but not all values.
    /// - Parameters:
    ///   - query: The query.
    ///   - isWanted: Returns true for the name of a field whose value is decoded.
    /// - Returns: The values by name. A value that is not decoded is a space, or empty if the field has none.
    package static func decode(_ query: some StringProtocol, valuesOf isWanted: (String) -> Bool) -> [String: String] {
        var fields: [String: String] = [:]
        forEachField(of: query) { name, value in
            let key = text(name)
            guard fields[key] == nil else { return true }
            fields[key] = value.isEmpty ? "" : isWanted(key) ? text(value) : " "
            return true
        }
        return fields
    }

    /// Decodes one field of a query, as ``decode(_:)`` does, and no other values.
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - query: The query.
    /// - Returns: The value of the first field with this name; nil for an absent field.
    package static func value(of name: String, in query: some StringProtocol) -> String? {
        var found: String?
        var wanted = name
        wanted.withUTF8 { wanted in
            forEachField(of: query) { key, value in
                guard isEqual(key, wanted) else { return true }
                found = text(value)
                return false
            }
        }
        return found
    }

    /// Decodes the fields of a query or a form, with each name once.
    /// - Throws: ``FormError``.
    package static func decodeOnce(_ form: some StringProtocol) throws(FormError) -> [String: String] {
        try decode(form, listing: []).fields
    }

    /// Decodes the fields of a query or a form, with each name once but those of lists.
    /// - Parameters:
    ///   - form: The query or the form.
    ///   - names: The names that may occur more than once.
    /// - Returns: The values of the other names, and the values of `names` in their order.
    /// - Throws: ``FormError``.
    package static func decode(
        _ form: some StringProtocol, listing names: Set<String>
    ) throws(FormError) -> (fields: [String: String], lists: [String: [String]]) {
        var fields: [String: String] = [:]
        var lists: [String: [String]] = [:]
        var error: FormError?
        forEachField(of: form) { name, value in
            guard let key = validText(name), let value = validText(value) else {
                error = .coding
                return false
            }
            if names.contains(key) {
                lists[key, default: []].append(value)
            } else if fields.updateValue(value, forKey: key) != nil {
                error = .duplicate
            }
            return error == nil
        }
        if let error { throw error }
        return (fields, lists)
    }

    /// Decodes form-encoded text; nil when the encoding is invalid.
    package static func decoded(_ text: some StringProtocol) -> String? {
        String(text.map { $0 == "+" ? " " : $0 }).percentDecoded()
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// Calls `body` with the name and the value of each field as they are written, until it returns false.
    private static func forEachField(of form: some StringProtocol, _ body: (_ name: Bytes, _ value: Bytes) -> Bool) {
        var form = String(form)
        form.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let field = rest.prefix { $0 != UInt8(ascii: "&") }
                rest = rest[field.endIndex...].dropFirst()
                guard !field.isEmpty else { continue }
                let name = field.prefix { $0 != UInt8(ascii: "=") }
                guard body(name, field[name.endIndex...].dropFirst()) else { return }
            }
        }
    }

    /// Returns true when a name as it is written is another name; a name with escapes is decoded.
    private static func isEqual(_ written: Bytes, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let hasEscapes = written.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        return hasEscapes ? text(written).utf8.elementsEqual(name) : written.elementsEqual(name)
    }

    private static func text(_ bytes: Bytes) -> String {
        validText(bytes) ?? String(decoding: spaced(bytes), as: UTF8.self)
    }

    /// Returns the decoded text; nil when an escape is invalid.
    private static func validText(_ bytes: Bytes) -> String? {
        var (hasEscapes, hasSpaces) = (false, false)
        for byte in bytes {
            if byte == UInt8(ascii: "%") { hasEscapes = true }
            if byte == UInt8(ascii: "+") { hasSpaces = true }
        }
        if hasEscapes { return unescaped(bytes) }
        return hasSpaces ? String(decoding: spaced(bytes), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ bytes: Bytes) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
                text.append(high << 4 | low)
            default: text.append(byte)
            }
        }
        return String(strictUTF8: text)
    }

    private static func spaced(_ bytes: Bytes) -> [UInt8] {
        bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    }
}

/// The reason for which a form is rejected.
package enum FormError: Error, Sendable, Hashable {
    /// An escape is invalid, or the decoded bytes are not UTF-8.
    case coding
    /// A name occurs more than once.
    case duplicate
}
