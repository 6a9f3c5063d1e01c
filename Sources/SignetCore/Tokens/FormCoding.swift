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
        var fields: [String: String] = [:]
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let key = text(name)
            if fields[key] == nil { fields[key] = text(part.dropFirst(name.count + 1)) }
        }
        return fields
    }

    /// Decodes the fields of a query or a form, with each name once.
    /// - Throws: ``FormError``.
    package static func decodeOnce(_ form: some StringProtocol) throws(FormError) -> [String: String] {
        var fields: [String: String] = [:]
        for part in form.utf8.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            guard let key = validText(name), let value = validText(part.dropFirst(name.count + 1)) else { throw .coding }
            guard fields.updateValue(value, forKey: key) == nil else { throw .duplicate }
        }
        return fields
    }

    /// Decodes form-encoded text; nil when the encoding is invalid.
    package static func decoded(_ text: some StringProtocol) -> String? {
        String(text.map { $0 == "+" ? " " : $0 }).percentDecoded()
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        validText(bytes) ?? spaced(bytes)
    }

    /// Returns the decoded text; nil when an escape is invalid.
    private static func validText(_ bytes: some Collection<UInt8>) -> String? {
        var isPlain = true
        for byte in bytes where byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") { isPlain = false }
        return isPlain ? String(decoding: bytes, as: UTF8.self) : spaced(bytes).percentDecoded()
    }

    private static func spaced(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}

/// The reason for which a form is rejected.
package enum FormError: Error, Sendable, Hashable {
    /// An escape is invalid, or the decoded bytes are not UTF-8.
    case coding
    /// A name occurs more than once.
    case duplicate
}
