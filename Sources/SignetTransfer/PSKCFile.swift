import SignetCore

/// A key container of RFC 6030 (PSKC), with plain or encrypted values.
enum PSKCFile {
    private static let format = ImportFormat.pskc

    static func recognizes(head: String) -> Bool { head.contains("urn:ietf:params:xml:ns:keyprov:pskc") }

    static func read(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> ImportContent {
        let container = try format.xml(bytes)
        guard container.name == "KeyContainer" else { throw format.malformed("KeyContainer", "it is not there") }
        let packages = container.children("KeyPackage")
        guard packages.count <= ImportFormat.maxEntries else {
            throw ImportError(.tooLarge, format, "KeyPackage", "more than \(ImportFormat.maxEntries) entries")
        }
        let secrets = try secrets(of: packages, in: container, passphrase: passphrase)
        var builder = ImportBuilder()
        for (index, package) in packages.enumerated() {
            guard let key = package["Key"] else {
                builder.skip(SkippedEntry("entry \(index + 1)", type: "unknown", .invalid, "Key is missing"))
                continue
            }
            code(key, number: index + 1, secret: secrets[index]).add(to: &builder)
            builder.leaveOut("device", package["DeviceInfo"] != nil)
            builder.leaveOut("policy", key["Policy"] != nil)
        }
        return builder.content
    }

    /// Returns the secrets of the packages, decrypted where they are encrypted.
    ///
    /// - Throws: ``ImportError``, with ``ImportError/Code/wrongPassphrase`` when no authentication code fits: the key is wrong then.
    private static func secrets(
        of packages: [XMLReader.Element], in container: XMLReader.Element, passphrase: Secret?
    ) throws(ImportError) -> [Result<[UInt8], JSONMemberError>?] {
        let elements = packages.map { $0["Key"]?["Data"]?["Secret"] }
        guard elements.contains(where: { $0?["EncryptedValue"] != nil }) else { return elements.map { $0.map(plainSecret) } }
        let protection = try PSKCProtection(container, passphrase: passphrase)
        var (secrets, wrongCount, rightCount): ([Result<[UInt8], JSONMemberError>?], Int, Int) = ([], 0, 0)
        for element in elements {
            guard let element, element["EncryptedValue"] != nil else {
                secrets.append(element.map(plainSecret))
                continue
            }
            switch protection.decrypt(element) {
            case .value(let bytes):
                rightCount += 1
                secrets.append(.success(bytes))
            case .unauthenticated:
                wrongCount += 1
                secrets.append(
                    .failure(JSONMemberError(name: "secret", "was changed since it was written: its MAC does not fit")))
            case .unreadable(let reason): secrets.append(.failure(JSONMemberError(name: "secret", reason)))
            }
        }
        guard rightCount > 0 || wrongCount == 0 else { throw format.wrongPassphrase("Secret") }
        return secrets
    }

    private static func code(
        _ key: XMLReader.Element, number: Int, secret: Result<[UInt8], JSONMemberError>?
    ) -> ImportedCode {
        let (parameters, data) = (key["AlgorithmParameters"], key["Data"])
        let response = parameters?["ResponseFormat"]
        let texts = [
            "digits": response?.attributes["Length"], "algorithm": parameters?["Suite"]?.value,
            "period": integerText(data?["TimeInterval"]), "counter": integerText(data?["Counter"]),
        ]
        var code = ImportedCode(number: number, secret: nil, parameters: .object(Dictionary(texts: texts)))
        code.secret = secret
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

    /// Returns the text of a number; for an encrypted one a text that cannot be a number, so that no default stands for it.
    private static func integerText(_ element: XMLReader.Element?) -> String? {
        element?["EncryptedValue"] == nil ? element?["PlainValue"]?.value : "encrypted"
    }

    private static func plainSecret(_ secret: XMLReader.Element) -> Result<[UInt8], JSONMemberError> {
        guard let text = secret["PlainValue"]?.value else {
            return .failure(JSONMemberError(name: "secret", "is missing"))
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
