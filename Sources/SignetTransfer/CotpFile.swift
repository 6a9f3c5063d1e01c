import SignetCore

/// An unencrypted export of cotp.
///
/// It is a JSON object with the list `elements`, or, as cotp writes URIs, with the list `items` of their texts.
enum CotpFile {
    private static let format = ImportFormat.cotp
    private static let newestVersion: Int64 = 2

    static func recognizes(_ json: JSONValue) -> Bool {
        if json["version"] != nil, let elements = json["elements"]?.array {
            return elements.isEmpty || elements.contains { $0["secret"] != nil && $0["label"] != nil }
        }
        return json["items"]?.array?.contains(where: isURI) ?? false
    }

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        var builder = ImportBuilder()
        if file["items"] != nil {
            for (index, item) in try format.entries(file["items"], part: "items").enumerated() {
                URIList.add(item.string ?? "", at: "entry \(index + 1)", to: &builder, policy: policy)
            }
            return builder.content
        }
        guard let version = file["version"]?.lenientInteger, version <= newestVersion else {
            throw ImportError(
                .newerVersion, format, "version", "it is not \(newestVersion) or less, the newest that is known here")
        }
        for (index, entry) in try format.entries(file["elements"], part: "elements").enumerated() {
            var code = ImportedCode(number: index + 1, secret: entry["secret"], parameters: entry)
            (code.issuer, code.account) = (entry["issuer"]?.string, entry["label"]?.string)
            code.type = entry["type"]?.string
            code.add(to: &builder)
        }
        return builder.content
    }

    private static func isURI(_ item: JSONValue) -> Bool {
        guard let text = item.string else { return false }
        return EnrollmentURI.starts(in: text).first == text.startIndex
    }
}
