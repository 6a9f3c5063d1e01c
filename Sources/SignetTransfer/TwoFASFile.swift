import SignetCore
import SignetStorage

/// A 2FAS backup, schema 1 to 4.
///
/// It is a JSON object with the list `services`, or with that list encrypted in `servicesEncrypted` as `ciphertext:salt:nonce`,
/// each in base64. The encryption is AES-256-GCM with a key that PBKDF2-HMAC-SHA-256 derives from a password.
enum TwoFASFile {
    private static let format = ImportFormat.twoFAS
    private static let newestSchema: Int64 = 4
    /// The number of PBKDF2 rounds.
    ///
    /// The schema does not contain it; this is the number that the app uses.
    private static let rounds = 10_000

    static func recognizes(_ json: JSONValue) -> Bool {
        json["schemaVersion"] != nil && (json["services"] != nil || json["servicesEncrypted"] != nil)
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> ImportContent {
        let file = try format.json(bytes)
        guard let schema = file["schemaVersion"]?.lenientInteger, schema > 0 else {
            throw format.malformed("schemaVersion", "not a version")
        }
        guard schema <= newestSchema else {
            throw ImportError(
                .newerVersion, format, "schemaVersion",
                "schema \(schema) is newer than \(newestSchema), the newest that Signet reads")
        }
        // The names of the groups are not encrypted.
        let groups = ImportedDetails.groupNames(file["groups"], id: "id", name: "name")
        guard let sealed = file["servicesEncrypted"]?.string, !sealed.isEmpty else {
            return try gather(file["services"], groups: groups)
        }
        return try gather(decrypt(sealed, passphrase: passphrase), groups: groups)
    }

    private static func decrypt(_ text: String, passphrase: Secret?) throws(ImportError) -> JSONValue {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { try? Base64.decode($0) }
        guard parts.count == 3, let ciphertext = parts[0], let salt = parts[1], let nonce = parts[2], ciphertext.count >= 16,
            (8...1024).contains(salt.count), nonce.count == 12
        else { throw format.malformed("servicesEncrypted", "not a ciphertext, a salt and a nonce in base64") }
        let key = try PassphraseKey.derived(
            from: format.needed(passphrase), salt: salt, rounds: rounds, hash: .sha256, as: format, part: "servicesEncrypted")
        guard let content = Sealing.open(nonce + ciphertext, with: key, context: []) else {
            throw format.wrongPassphrase("servicesEncrypted")
        }
        return try format.json(content, part: "servicesEncrypted")
    }

    private static func gather(_ services: JSONValue?, groups: [String: String]) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        let services = try format.entries(services, part: "services")
        var codes = services.enumerated().map { code($1, number: $0 + 1) }
        // When entries differ only in the names that the user gave them, these names are used as issuers.
        let names = Dictionary(grouping: codes, by: \.id).mapValues { Set($0.map(\.displayIssuer)) }
        for index in codes.indices where names[codes[index].id]?.count ?? 0 > 1 {
            codes[index].originalIssuer = codes[index].issuer
            codes[index].issuer = codes[index].displayIssuer ?? codes[index].issuer
        }
        for (service, entry) in zip(services, codes) {
            var code = entry
            code.details.addGroup(id: service["groupId"]?.string, in: groups)
            code.add(to: &builder)
            let name = text(service["name"])
            builder.leaveOut("name", name != nil && code.displayIssuer == nil)
            builder.leaveOut("icon", service["icon"]?.object != nil)
        }
        return builder.content
    }

    private static func text(_ value: JSONValue?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }

    private static func code(_ service: JSONValue, number: Int) -> ImportedCode {
        let otp = service["otp"]
        var code = ImportedCode(number: number, secret: service["secret"], parameters: otp)
        let name = text(service["name"])?.trimmingWhitespace()
        code.issuer = text(otp?["issuer"]) ?? name
        code.displayIssuer = name.flatMap { $0.isSafeToShow && !$0.isEmpty ? $0 : nil }
        code.account = text(otp?["account"]) ?? text(otp?["label"])
        // The first schemas supported only TOTP, and did not write the type.
        code.type = text(otp?["tokenType"]) ?? "totp"
        code.algorithm = text(otp?["algorithm"])
        return code
    }
}
