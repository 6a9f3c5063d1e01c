import SignetCore

/// The JSON file of FreeOTP+.
///
/// It is an object with the list `tokens`, whose secrets are lists of signed bytes, and with their order in `tokenOrder`.
enum FreeOTPPlusFile {
    private static let format = ImportFormat.freeOTPPlus

    static func recognizes(_ json: JSONValue) -> Bool { json["tokens"]?.array != nil && json["tokenOrder"]?.array != nil }

    static func read(_ bytes: [UInt8]) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        var builder = ImportBuilder()
        for (index, entry) in try format.entries(file["tokens"], part: "tokens").enumerated() {
            code(entry, number: index + 1).add(to: &builder)
            builder.leaveOut("name", entry["issuerAlt"]?.string != nil || entry["labelAlt"]?.string != nil)
            builder.leaveOut("icon", entry["image"]?.string != nil || entry["imageAlt"]?.string != nil)
        }
        return builder.content
    }

    private static func code(_ entry: JSONValue, number: Int) -> ImportedCode {
        var code = ImportedCode(number: number, secret: nil, parameters: entry, algorithm: "algo")
        code.secret = entry["secret"]?.array.map(secret)
        (code.issuer, code.account) = (entry["issuerExt"]?.string, entry["label"]?.string)
        code.type = entry["type"]?.string
        return code
    }

    private static func secret(_ values: [JSONValue]) -> Result<[UInt8], JSONMemberError> {
        let bytes = values.compactMap { $0.lenientInteger.flatMap { Int8(exactly: $0) } }.map { UInt8(bitPattern: $0) }
        guard bytes.count == values.count else { return .failure(JSONMemberError(name: "secret", "is not a list of bytes")) }
        return .success(bytes)
    }
}
