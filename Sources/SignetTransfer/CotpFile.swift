import SignetCore

/// An export of cotp, plain or encrypted with a password, or cotp's database, which has the encrypted form.
///
/// It is a JSON object with the list `elements`, or, as cotp writes URIs, with the list `items` of their texts. The encrypted form
/// has that object in `cipher`, encrypted by XChaCha20-Poly1305 with a `nonce`, all in base64; the key is derived by Argon2id. The
/// format is that of cotp's source (`src/crypto`).
enum CotpFile {
    private static let format = ImportFormat.cotp
    private static let newestVersion: Int64 = 2
    private static let newestEncryption: Int64 = 1
    /// The costs of Argon2id, which the file does not contain: 32 MiB, four iterations, four lanes.
    private static let cost: Argon2.FileCost = (memoryKiB: 32 * 1_024, iterations: 4, parallelism: 4)

    static func recognizes(_ json: JSONValue) -> Bool {
        if isEncrypted(json) { return true }
        if json["version"] != nil, let elements = json["elements"]?.array {
            return elements.isEmpty || elements.contains { $0["secret"] != nil && $0["label"] != nil }
        }
        return json["items"]?.array?.contains(where: isURI) ?? false
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        return try gather(isEncrypted(file) ? decrypt(file, passphrase: passphrase) : file, policy: policy)
    }

    private static func isEncrypted(_ json: JSONValue) -> Bool {
        json["version"] != nil && ["nonce", "salt", "cipher"].allSatisfy { json[$0]?.string != nil }
    }

    private static func decrypt(_ file: JSONValue, passphrase: Secret?) throws(ImportError) -> JSONValue {
        guard let version = file["version"]?.lenientInteger, version <= newestEncryption else {
            throw ImportError(
                .newerVersion, format, "version", "it is not \(newestEncryption), the newest encryption that is known here")
        }
        let salt = try format.bytes(file["salt"], part: "salt", count: 8...64, "a salt")
        let nonce = try format.bytes(file["nonce"], part: "nonce", count: 24...24, "24 bytes")
        let sealed = try format.bytes(file["cipher"], part: "cipher", count: 16..., "a ciphertext")
        let key = try Argon2.fileKey(from: format.needed(passphrase), salt: salt, cost: cost, as: format, part: "salt")
        guard let content = XChaCha20Poly1305.open(sealed, key: key, nonce: nonce) else { throw format.wrongPassphrase("cipher") }
        return try format.json(content, part: "cipher")
    }

    private static func gather(_ file: JSONValue, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
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
