import SignetCore

/// A backup of Stratum, which was named Authenticator Pro before, plain or encrypted with a password.
///
/// It is a JSON object with the list `Authenticators`, in which the types and the hash functions are numbers, or that object in one
/// of the forms of ``StratumEncryption``.
enum StratumFile {
    private static let format = ImportFormat.stratum
    private static let types: [Int64: String] = [1: "hotp", 2: "totp", 3: "motp", 4: "steam", 5: "yandex"]
    private static let algorithms: [Int64: String] = [0: "SHA1", 1: "SHA256", 2: "SHA512"]

    static func recognizes(_ json: JSONValue) -> Bool {
        json["Authenticators"]?.array.map { $0.isEmpty || $0.contains { $0["Secret"] != nil } } ?? false
    }

    static func read(_ bytes: [UInt8], passphrase: Secret?) throws(ImportError) -> ImportContent {
        guard let encryption = StratumEncryption.detect(bytes) else { return try gather(format.json(bytes)) }
        return try gather(format.json(encryption.open(bytes, passphrase: passphrase)))
    }

    private static func gather(_ file: JSONValue) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        let categories = ImportedDetails.groupNames(file["Categories"], id: "Id", name: "Name")
        let icons = ImportedDetails.groupNames(file["CustomIcons"], id: "Id", name: "Data")
        // The entries are named by their secrets.
        var members: [String: [String]] = [:]
        for member in file["AuthenticatorCategories"]?.array ?? [] {
            guard let secret = member["AuthenticatorSecret"]?.string, let id = member["CategoryId"]?.string else { continue }
            members[secret, default: []].append(id)
        }
        for (index, entry) in try format.entries(file["Authenticators"], part: "Authenticators").enumerated() {
            var code = code(entry, number: index + 1)
            for id in entry["Secret"]?.string.flatMap({ members[$0] }) ?? [] { code.details.addGroup(id: id, in: categories) }
            addIcon(entry["Icon"]?.string, custom: icons, to: &code.details)
            code.add(to: &builder)
        }
        return builder.content
    }

    /// Adds an icon: the name of one of the app's icons, or `@` and the id of a picture in the file.
    private static func addIcon(_ name: String?, custom: [String: String], to details: inout ImportedDetails) {
        guard let name, name.hasPrefix("@") else { return details.setIconName(name) }
        guard let data = custom[String(name.dropFirst())] else { return details.leaveOut("icon") }
        details.setIcon(data)
    }

    private static func code(_ entry: JSONValue, number: Int) -> ImportedCode {
        var code = ImportedCode(number: number, secret: entry["Secret"], parameters: nil)
        (code.issuer, code.account) = (entry["Issuer"]?.string, entry["Username"]?.string)
        code.type = entry["Type"]?.lenientInteger.map { types[$0] ?? "unknown" }
        code.algorithm = code.lenientInteger("Algorithm", in: entry).map { algorithms[$0] ?? "unknown" }
        code.digits = code.lenientInteger("Digits", in: entry)
        code.period = code.lenientInteger("Period", in: entry)
        code.counter = code.lenientInteger("Counter", in: entry)
        return code
    }
}
