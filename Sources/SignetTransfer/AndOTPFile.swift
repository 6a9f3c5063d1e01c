import SignetCore
import SignetStorage

/// An andOTP backup.
///
/// It is a JSON list of entries, or that list encrypted by AES-256-GCM: the number of rounds of PBKDF2-HMAC-SHA-1 in four bytes,
/// a salt of 12 bytes, a nonce of 12 bytes, the ciphertext and the tag.
enum AndOTPFile {
    private static let format = ImportFormat.andOTP
    private static let headerLength = 4 + 12
    /// The accepted numbers of rounds.
    ///
    /// The app uses about 150,000; ten million take a machine several seconds.
    private static let rounds = 1_000...10_000_000

    static func recognizes(_ json: JSONValue) -> Bool {
        guard let entries = json.array else { return false }
        return entries.isEmpty || entries.contains { $0["secret"] != nil && $0["label"] != nil }
    }

    /// Returns true when the bytes may be an encrypted backup.
    ///
    /// The format has no magic number, so the test is that the bytes are not text and the number of rounds is plausible.
    static func mayBeEncrypted(_ bytes: [UInt8]) -> Bool {
        bytes.count >= headerLength + 12 + 2 + 16 && rounds.contains(rounds(of: bytes))
            && (bytes[0] == 0 || String(strictUTF8: bytes) == nil)
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> ImportContent {
        if mayBeEncrypted(bytes) { return try gather(decrypt(bytes, passphrase: passphrase)) }
        return try gather(format.json(bytes))
    }

    private static func rounds(of bytes: [UInt8]) -> Int { bytes[..<4].reduce(0) { $0 << 8 | Int($1) } }

    private static func decrypt(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> JSONValue {
        let key = try PassphraseKey.derived(
            from: format.needed(passphrase), salt: Array(bytes[4..<headerLength]), rounds: rounds(of: bytes), hash: .sha1,
            as: format, part: "file")
        guard let content = Sealing.open(bytes[headerLength...], with: key, context: []) else {
            throw ImportError(
                .wrongPassphrase, format, "file",
                "the passphrase is wrong, the file is damaged, or an early version of andOTP wrote it, whose encryption is not supported"
            )
        }
        return try format.json(content)
    }

    private static func gather(_ entries: JSONValue) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        for (index, entry) in try format.entries(entries, part: "file").enumerated() {
            var code = code(entry, number: index + 1)
            for tag in entry["tags"]?.array ?? [] { code.details.addGroup(tag.string) }
            code.details.setIconName(entry["thumbnail"]?.string.flatMap { $0 == "Default" ? nil : $0 })
            code.add(to: &builder)
        }
        return builder.content
    }

    private static func code(_ entry: JSONValue, number: Int) -> ImportedCode {
        var code = ImportedCode(number: number, secret: entry["secret"], parameters: entry)
        let label = entry["label"]?.string
        if let issuer = entry["issuer"]?.string {
            (code.issuer, code.account) = (issuer, label)
        } else if let label, let dash = label.firstRange(of: " - ") {
            // Before entries had a member for the issuer, the label contained it.
            (code.issuer, code.account) = (String(label[..<dash.lowerBound]), String(label[dash.upperBound...]))
        } else {
            code.account = label
        }
        // The first versions supported only TOTP, and did not write the type.
        code.type = entry["type"]?.string ?? "totp"
        return code
    }
}
