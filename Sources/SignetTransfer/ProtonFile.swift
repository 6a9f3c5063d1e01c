import SignetCore
import SignetStorage

/// An export of Proton Authenticator, version 1, plain or encrypted with a password.
///
/// It is a JSON object with the list `entries`, each with a URI, its type and a name; or with a `salt` and that object encrypted in
/// `content` by AES-256-GCM: the nonce, the ciphertext and the tag in base64. The key is derived by Argon2id. The format is that of
/// the app's published source (`proton-authenticator` in `proton-pass-common`).
enum ProtonFile {
    private static let format = ImportFormat.proton
    private static let newestVersion: Int64 = 1
    /// The costs of Argon2id, which the file does not contain: 19 MiB, two iterations, one lane.
    private static let cost: Argon2.FileCost = (memoryKiB: 19 * 1_024, iterations: 2, parallelism: 1)
    private static let context = Array("proton.authenticator.export.v1".utf8)

    static func recognizes(_ json: JSONValue) -> Bool {
        guard json["version"] != nil else { return false }
        if let entries = json["entries"]?.array {
            return entries.isEmpty || entries.contains { $0["content"]?["uri"] != nil }
        }
        return json["salt"]?.string != nil && json["content"]?.string != nil
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        try checkVersion(file["version"], part: "version")
        guard file["entries"] == nil else { return try gather(file, policy: policy) }
        let content = try decrypt(file, passphrase: passphrase)
        try checkVersion(content["version"], part: "content.version")
        return try gather(content, policy: policy)
    }

    private static func checkVersion(_ value: JSONValue?, part: String) throws(ImportError) {
        guard let version = value?.lenientInteger, version > 0 else { throw format.malformed(part, "not a version") }
        guard version <= newestVersion else {
            throw ImportError(
                .newerVersion, format, part, "version \(version) is newer than \(newestVersion), the newest that Signet reads")
        }
    }

    private static func decrypt(_ file: JSONValue, passphrase: Secret?) throws(ImportError) -> JSONValue {
        let salt = try format.bytes(file["salt"], part: "salt", count: 16...16, "16 bytes")
        let sealed = try format.bytes(
            file["content"], part: "content", count: (12 + 16)..., "a nonce, a ciphertext and a tag")
        let key = try Argon2.fileKey(from: format.needed(passphrase), salt: salt, cost: cost, as: format, part: "salt")
        guard let content = Sealing.open(sealed, with: key, context: context) else { throw format.wrongPassphrase("content") }
        return try format.json(content, part: "content")
    }

    private static func gather(_ file: JSONValue, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        for (index, entry) in try format.entries(file["entries"], part: "entries").enumerated() {
            let content = entry["content"]
            let (uri, name) = (content?["uri"]?.string ?? "", content?["name"]?.string)
            var details = ImportedDetails()
            details.setNote(entry["note"]?.string)
            if content?["entry_type"]?.string?.lowercased() == "steam" {
                var code = steam(uri, name: name, number: index + 1)
                code.details = details
                code.add(to: &builder)
            } else {
                // The app encodes the parameters as forms do, and escapes a plus sign.
                URIList.add(
                    uri.replacing("+", with: "%20"), at: "entry \(index + 1)", to: &builder, policy: policy, details: details)
            }
        }
        return builder.content
    }

    /// Returns an account of Steam, whose URI has only the secret: in base32, or in base64 when it is not base32.
    private static func steam(_ uri: String, name: String?, number: Int) -> ImportedCode {
        var code = ImportedCode(number: number)
        (code.issuer, code.account, code.type) = ("Steam", name, "steam")
        let scheme = "steam://"
        guard uri.lowercased().hasPrefix(scheme) else { return code }
        let text = String(uri.dropFirst(scheme.count))
        code.secret = Result { () throws(InvalidEncoding) in try isBase32(text) ? Base32.decode(text) : Base64.decode(text) }
            .mapError { JSONMemberError(name: "secret", $0) }
        return code
    }

    /// Returns true for a text in the alphabet of base32 and in one case, which a secret in base64 practically never is.
    private static func isBase32(_ text: String) -> Bool {
        guard text == text.uppercased() || text == text.lowercased() else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "2")...UInt8(ascii: "7"),
                UInt8(ascii: "="):
                true
            default: false
            }
        }
    }
}
