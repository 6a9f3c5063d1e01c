/// Names and values as `application/x-www-form-urlencoded` writes them: for a request's query, and for its body.
package enum FormCoding {
    /// The fields in order. Everything but the unreserved characters is escaped, a space as `%20`, which both readings of a
    /// form take for a space.
    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\($0.name.percentEncoded())=\($0.value.percentEncoded())" }.joined(separator: "&")
    }

    /// The address with more fields in its query, in front of a fragment if it has one.
    package static func address(_ url: String, adding fields: [(name: String, value: String)]) -> String {
        guard !fields.isEmpty else { return url }
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let base = parts[0]
        let separator = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        return base + separator + encode(fields) + (parts.count > 1 ? "#" + parts[1] : "")
    }

    /// The fields of an address's query, without its fragment; none when it has no query.
    package static func query(of url: String) -> [String: String] {
        decode(url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst())
    }

    /// The fields of a query; the first of two of one name. What is escaped wrongly stays as it is.
    package static func decode(_ query: some StringProtocol) -> [String: String] {
        var fields: [String: String] = [:]
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let texts = pair.map { text in
                let spaced = String(text).split(separator: "+", omittingEmptySubsequences: false).joined(separator: " ")
                return spaced.percentDecoded() ?? spaced
            }
            let name = texts[0]
            if fields[name] == nil { fields[name] = texts.count > 1 ? texts[1] : "" }
        }
        return fields
    }
}
