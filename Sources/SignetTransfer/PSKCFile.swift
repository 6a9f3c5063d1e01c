import SignetCore

/// A key container of RFC 6030 (PSKC) with plain values.
enum PSKCFile {
    private static let format = ImportFormat.pskc

    /// Returns true for the beginning of a container without an encryption key.
    static func recognizes(head: String) -> Bool {
        head.contains("urn:ietf:params:xml:ns:keyprov:pskc") && !head.contains("EncryptionKey")
    }

    static func read(_ bytes: [UInt8]) throws(ImportError) -> ImportContent {
        let container = try format.xml(bytes)
        guard container.name == "KeyContainer" else { throw format.malformed("KeyContainer", "it is not there") }
        guard container["EncryptionKey"] == nil else {
            throw ImportError(.unknownFormat, format, "EncryptionKey", UnsupportedFile.pskc.advice)
        }
        let packages = container.children("KeyPackage")
        guard packages.count <= ImportFormat.maxEntries else {
            throw ImportError(.tooLarge, format, "KeyPackage", "more than \(ImportFormat.maxEntries) entries")
        }
        var builder = ImportBuilder()
        for (index, package) in packages.enumerated() {
            guard let key = package["Key"] else {
                builder.skip(SkippedEntry("entry \(index + 1)", type: "unknown", .invalid, "Key is missing"))
                continue
            }
            code(key, number: index + 1).add(to: &builder)
            builder.leaveOut("device", package["DeviceInfo"] != nil)
            builder.leaveOut("policy", key["Policy"] != nil)
        }
        return builder.content
    }

    private static func code(_ key: XMLReader.Element, number: Int) -> ImportedCode {
        let (parameters, data) = (key["AlgorithmParameters"], key["Data"])
        let response = parameters?["ResponseFormat"]
        let texts = [
            "digits": response?.attributes["Length"], "algorithm": parameters?["Suite"]?.value,
            "period": data?["TimeInterval"]?["PlainValue"]?.value, "counter": data?["Counter"]?["PlainValue"]?.value,
        ]
        var code = ImportedCode(number: number, secret: nil, parameters: .object(Dictionary(texts: texts)))
        code.secret = data?["Secret"].map(secret)
        code.issuer = key["Issuer"]?.value
        code.account = key["UserId"]?.value.map(commonName) ?? key["FriendlyName"]?.value ?? key.attributes["Id"]
        let isDecimal = response.map { $0.attributes["Encoding"] == "DECIMAL" && !hasCheckDigit($0) } ?? true
        let type = key.attributes["Algorithm"]?.split { $0 == ":" || $0 == "#" }.last.map { $0.lowercased() }
        code.type = isDecimal ? type : "unknown"
        return code
    }

    /// Returns true when each code has one more digit, which is computed from the others.
    private static func hasCheckDigit(_ response: XMLReader.Element) -> Bool {
        response.attributes["CheckDigits"].map { ["true", "1"].contains($0) } ?? false
    }

    private static func secret(_ secret: XMLReader.Element) -> Result<[UInt8], JSONMemberError> {
        guard let text = secret["PlainValue"]?.value else {
            let reason = secret["EncryptedValue"] == nil ? "is missing" : "is encrypted"
            return .failure(JSONMemberError(name: "secret", reason))
        }
        let base64 = text.filter { !$0.isWhitespace }
        return Result { () throws(InvalidEncoding) in try Base64.decode(base64) }
            .mapError { JSONMemberError(name: "secret", $0) }
    }

    /// Returns the common name in a distinguished name that begins with it; any other text unchanged.
    private static func commonName(_ text: String) -> String {
        text.uppercased().hasPrefix("CN=") ? String(text.dropFirst("CN=".count).prefix { $0 != "," }) : text
    }
}
